#!/usr/bin/env perl
# A built-in strategy is one file in strategies/, its statements in sql/, and one line in the list: each of
# the three has the other two, and nothing else in the program knows a strategy by its name.
use strict;
use warnings;
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

my ($list) = slurp("$source/strategies/CMakeLists.txt") =~ /set\(LB_STRATEGIES\n(.*?)\n\)/s;
my @names = $list =~ /([a-z-]+)/g;
cmp_ok(scalar @names, '>', 30, 'there are strategies');
my %is = map { $_ => 1 } @names;
for my $name (@names) {
    my $path = "$source/strategies/" . ($name =~ tr/-/_/r) . '.c';
    ok(-e $path, "$name has its file") or next;
    my $code = slurp($path);
    like($code, qr/^const struct lb_strategy lb_strategy_\w+ = \{\n    \.name = "\Q$name\E",\n/m, "$name: which says its name");
    ok($code =~ /^    \.changed =\s+(?:lb_no_changes,$|LB_TEXTS\()/m,
        "$name: which says what of its source was changed, even if nothing was");
    my $needs_sql = $code !~ /\.no_database = true/;
    is(scalar(@{[glob "$source/sql/$name/*.sql"]}) > 0 ? 1 : 0, $needs_sql ? 1 : 0, "$name has its statements, if it needs any");
}
my %helper = map { $_ => 1 } qw(batch count find ordinary pipeline replication);
for my $path (glob "$source/strategies/*.c") {
    my ($name) = $path =~ m{([^/]+)\.c$};
    ok($is{$name =~ tr/_/-/r} || $helper{$name}, "strategies/$name.c is in the list");
}
ok($is{$_}, "sql/$_ is in the list") for map { m{([^/]+)$} } glob "$source/sql/*";

my @others = map { glob "$source/bench/$_" } '*.c', '*/*.[ch]', '*/*/*.[ch]'; # "none" and "nowait" are words of other lists, too
cmp_ok(scalar @others, '>', 100, 'there is a program around them');
for my $path (@others) {
    my $code = slurp($path) =~ s{/\*.*?\*/}{}gsr;
    my @found = grep { $is{$_} && !/^(?:none|nowait)$/ } $code =~ /"([a-z-]+)"/g;
    is("@found", '', ($path =~ s{^\Q$source\E/}{}r) . ' knows no strategy by name');
}
done_testing();
