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

# Which sources of a module need each other in a circle, as the linker sees it: CONTRIBUTING.md names each, with the
# reason.
sub circles
{
    my (%uses) = @_;
    my (%reached, %group);
    for my $start (keys %uses) {
        my @next = $start;
        while (defined(my $at = pop @next)) {
            push @next, grep { !$reached{$start}{$_}++ } @{$uses{$at}};
        }
    }
    for my $name (keys %uses) {
        my @members = sort grep { $reached{$name}{$_} && $reached{$_}{$name} } keys %uses;
        $group{join ', ', @members} = 1 if @members > 1;
    }
    return sort keys %group;
}
is_deeply([circles(a => ['b'], b => ['c'], c => [])], [], 'a chain is no circle');
is_deeply([circles(a => ['b'], b => ['c', 'a'], c => ['d'], d => ['c'])], ['a, b', 'c, d'], 'circles are seen');

my $build = $ENV{LB_BUILD};
SKIP: {
    skip 'no objects to look at', 1 if !defined $build || !-d "$build/CMakeFiles/lb_run.dir";
    my %found;
    for my $module (map { m{([^/]+)/$} } glob "$source/bench/*/") {
        my (%defined_in, %wants);
        for my $path (grep { m{^bench/\Q$module\E/.*\.c$} } @sources) {
            my ($name) = $path =~ m{([^/]+)\.c$};
            for (`nm -A '$build/CMakeFiles/lb_$module.dir/$path.o'`) {
                $defined_in{$1} = $name if / [TDRBC] (lb_\w+)$/;
                push @{$wants{$name}}, $1 if / U (lb_\w+)$/;
            }
            $wants{$name} //= [];
        }
        my %uses = map { my $name = $_; ($name => [grep { $_ ne $name } map { $defined_in{$_} // () } @{$wants{$name}}]) } keys %wants;
        $found{"$module: $_"} = 1 for circles(%uses);
    }
    open my $file, '<', "$source/CONTRIBUTING.md" or die "CONTRIBUTING.md: $!\n";
    my %named = map { /^\| `bench\/(\w+)` \| (\w+(?:, \w+)+) \| \S/ ? ("$1: $2" => 1) : () } <$file>;
    is_deeply([sort keys %found], [sort keys %named], 'the circles are those that CONTRIBUTING.md names');
}
done_testing();
