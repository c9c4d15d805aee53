#!/usr/bin/env perl
# The structure of the source tree: what a reader, and an #include, may rely on.
use strict;
use warnings;
use File::Find qw(find);
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';

# The names that stand in more than one folder; NAME.c and NAME.h of one folder are one name. An #include names
# no folder, so that a second name would be taken for the first.
sub doubled
{
    my %folders;
    for my $path (@_) {
        my ($folder, $name) = $path =~ m{^(.*)/([^/]+)\.[ch]$} or die "not a source: $path\n";
        $folders{$name}{$folder} = 1;
    }
    return map { "$_: " . join ' ', sort keys %{$folders{$_}} } grep { keys %{$folders{$_}} > 1 } sort keys %folders;
}
is_deeply([doubled('a/x.c', 'a/x.h', 'b/y.c')], [], 'a source and its header are one name');
is_deeply([doubled('a/x.c', 'b/x.h', 'b/y.c', 'a/b/y.c')], ['x: a b', 'y: a/b b'], 'a name in two folders is seen');

my @sources;
find({no_chdir => 1, wanted => sub { push @sources, $_ =~ s{^\Q$source\E/}{}r if /\.[ch]$/ }}, "$source/bench", "$source/strategies");
cmp_ok(scalar @sources, '>', 250, 'there are sources');
is_deeply([doubled(@sources)], [], 'no name stands in two folders');

# What differs between engines is in the engine's own files; "show" prefers one, and strategies name what they
# were seen with.
for my $path (grep { !m{^strategies/|^bench/db/(?:sqlite|postgres|mariadb)|^bench/cli/cmd_show\.c} } @sources) {
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    my $code = do { local $/; <$file> } =~ s{/\*.*?\*/}{}gsr;
    my @found = $code =~ /"(sqlite|postgres|mariadb)"/g;
    is("@found", '', "$path names no engine") if @found;
}
done_testing();
