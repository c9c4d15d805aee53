#!/usr/bin/env perl
# Every word of the outputs is in docs/glossary.md: what list prints, the titles of all tables, the answers.
use strict;
use warnings;
use Test::More;

my $top = $ENV{LB_SOURCE} // '.';
my $program = $ENV{LOCKBENCH} or die "LOCKBENCH is not set\n";

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

my %known;
for my $cell (slurp("$top/docs/glossary.md") =~ /^\| (.*?) \|/mg) {
    $known{$_} = 1 for split /, /, $cell;
}

my %wanted;
for my $kind (qw(guarantees faults)) {
    $wanted{$_} = "list $kind" for split ' ', `$program list $kind --names`;
}
my ($n, %titles) = (0);
for my $path (glob("$top/bench/*/*.c $top/bench/*/*/*.c")) {
    my $text = slurp($path);
    next if $text !~ /struct lb_column/;
    for my $table ($text =~ /struct lb_column(?: \w*columns\[\w*\] = |\))\{(.*?)\};/sg) {
        $titles{$_} = $path =~ s/^\Q$top\E.//r for grep { length } $table =~ /"([^"]*)", (?:true|false)/g;
        $n++;
    }
}
cmp_ok($n, '>', 12, 'there are tables');
%wanted = (%wanted, %titles);
$wanted{$_} = 'costs' for slurp("$top/bench/report/costs.c") =~ /\[LB_COST_\w+\] = \{"([^"]+)"/g;
$wanted{$_} = 'answers' for grep { !/^ok$|^other$/ } slurp("$top/bench/base/error.c") =~ /\[LB_\w+\] = "(\w+)"/g;
$wanted{$_} = 'the verdicts' for map { /"([^"]+)"/g } slurp("$top/bench/base/guarantee.c") =~ /names\[\] = \{(.*?)\};/s;
$wanted{$_} = 'a plan' for slurp("$top/bench/plan/trial.c") =~ /names\[\] = \{(.*?)\};/s ? $1 =~ /"(\w+)"/g : ();
$wanted{$_} = 'a plan' for grep { slurp("$top/bench/plan/answers.c") =~ /"[^"]*\b\Q$_\E\b/i } qw(knee peak headroom);
$wanted{$_} = 'exploring' for qw(pruned complete bounded step schedule);

ok($known{$_}, "$_ ($wanted{$_}) is in the glossary") for sort keys %wanted;
ok($known{group}, 'group is in the glossary');
done_testing();
