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

# Code for one engine is in the engine's own files; "show" prefers one engine and knows clients, and
# strategies name the engines that show a finding.
for my $path (grep { !m{^strategies/|^bench/db/(?:sqlite|postgres|mariadb)/|^bench/cli/commands/(?:cmd_show|show_client)\.c} } @sources) {
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    my $code = do { local $/; <$file> } =~ s{/\*.*?\*/}{}gsr;
    my @found = $code =~ /"(sqlite|postgres|mariadb)"/g;
    is("@found", '', "$path names no engine") if @found;
}

# A folder is seen at once, and a file read in one sitting.
my (%folder, @lengths);
for my $path (grep { m{^bench/} } @sources) {
    my ($in, $name) = $path =~ m{^(.*)/([^/]+)\.[ch]$};
    $folder{$in}{$name} = 1;
    next if $path !~ /\.c$/;
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    my $n = () = <$file>;
    push @lengths, $n;
    cmp_ok($n, '<=', 700, "$path: $n lines") if $n > 700;
}
for my $path (glob("$source/tests/*/*.[ct]"), glob("$source/tests/*/*/*.c")) {
    open my $file, '<', $path or die "$path: $!\n";
    my $n = () = <$file>;
    fail("$path: $n lines: cut it") if $n > 700;
}
is_deeply([grep { !-x } glob "$source/tests/*/*.t"], [], 'every test is a program');
@lengths = sort { $a <=> $b } @lengths;
cmp_ok($lengths[@lengths / 2], '<', 250, "the median source has $lengths[@lengths / 2] lines");
is_deeply([grep { keys %{ $folder{$_} } > 27 } sort keys %folder], [], 'no folder has more than 27 sources: find the seam');

# Each kind of output has one writer: JSON documents, tables of text, tables of Markdown. (A line in
# a file that another program reads is none, and the page has JSON in a page.)
my %writer = (
    'a JSON document' => [qr/\bjson_dumpf\(/, qw(json_object.c store.c)],
    'a table of Markdown' => [qr/\| ---/, 'table.c'],
);
for my $what (sort keys %writer) {
    my ($pattern, @by) = @{ $writer{$what} };
    my @others;
    for my $path (@sources) {
        open my $file, '<', "$source/$path" or die "$path: $!\n";
        my $code = do { local $/; <$file> };
        my ($name) = $path =~ m{([^/]+)$};
        push @others, $path if $code =~ $pattern && !grep { $_ eq $name } @by;
    }
    is("@others", '', "$what is written by @by");
}

# The workers' shared state is touched by its own functions only: workers in other processes, on
# other machines and behind programs keep to them.
for my $path (grep { !m{/workers/common\.[ch]$} } @sources) {
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    my @touched = grep { /\bcommon(?:\.|->)(?:phase|n|next_id|id_step|change)\b/ } <$file>;
    is("@touched", '', "$path asks common.h") if @touched;
}

# A function is read in one piece. Longer ones are lists in the form of code, or have a reason here.
my %long = (
    'bench/check/queue/item_deaths.c judge_death' => 'one death from its claim to its verdict: each step needs the one before',
    'bench/run/scenario/scenario.c store' => 'a switch with four lines for each type of key',
);
sub lengths
{
    my ($code) = @_;
    my %lines;
    while ($code =~ /^(\w[^\n;]*\b(\w+)\([^;{}]*\))\n(\{\n.*?^\})/msg) {
        my ($head, $name, $body) = ($1, $2, $3);
        $lines{$name} = ($head =~ tr/\n//) + ($body =~ tr/\n//) + 2;
    }
    return %lines;
}
is_deeply({lengths("int f(int a,\n      int b)\n{\n    return a;\n}\n\nstatic void g(void)\n{\n}\n")}, {f => 5, g => 3}, 'functions are measured');
my $n_functions = 0;
for my $path (grep { /\.c$/ } @sources) {
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    my %lines = lengths(do { local $/; <$file> });
    $n_functions += keys %lines;
    for my $name (grep { $lines{$_} > 60 && !$long{"$path $_"} } sort keys %lines) {
        fail("$path: $name has $lines{$name} lines: cut it, or say here why it is long");
    }
}
cmp_ok($n_functions, '>', 2000, "there are functions: $n_functions");

# Which sources of a module need each other in a circle, as the linker sees it: docs/design/structure.md names each, with the
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

# docs/guarantees.md and lockbench-history(5) list the operations of each automaton, in the order of its enumeration; and the guarantees that
# the page says an operation breaks are guarantees.
sub text_of
{
    my ($path) = @_;
    open my $file, '<', "$source/$path" or die "$path: $!\n";
    return do { local $/; <$file> };
}
my $page = text_of('docs/guarantees.md');
my $manual = text_of('docs/lockbench-history.5');
my %is_guarantee = map { $_ => 1 } text_of('bench/base/guarantee_list.h') =~ /GUARANTEE\(\w+, \w+, "([\w-]+)"/g;
my @automata = grep { $_ ne 'automaton' } map { m{([^/]+)\.h$} } glob "$source/bench/check/spec/*.h";
cmp_ok(scalar @automata, '>=', 2, "there are automata: @automata");
for my $name (@automata) {
    my ($enum) = text_of("bench/check/spec/$name.h") =~ m{^enum lb_\w+_kind \{\n(.*?)^\};}ms or die "$name.h: no kinds\n";
    my @kinds = $enum =~ s{/\*.*?\*/}{}gsr =~ /LB_[A-Z]+_(\w+)/g;
    my ($table) = $page =~ m{\(`\Q$name\E\.c`\):.*?\n\n((?:\|[^\n]*\n)+)} or die "docs/guarantees.md: no table of $name.c\n";
    is_deeply([$table =~ /^\| ([A-Z]+) \|/mg], \@kinds, "docs/guarantees.md quotes $name.c");
    is_deeply([grep { !$is_guarantee{$_} } map { /\*([\w-]+)\*/g } $table =~ /^\|.*\|(.*)\|$/mg], [], '... and names guarantees');
    my ($quoted) = $manual =~ /^\.TP\n\.B \Q$name\E\.c\n((?:\.B [A-Z]+\n[^.].*\n)+)/m or die "lockbench-history(5): no list of $name.c\n";
    is_deeply([$quoted =~ /^\.B ([A-Z]+)$/mg], \@kinds, "lockbench-history(5) quotes $name.c");
}

my $build = $ENV{LB_BUILD};
SKIP: {
    skip 'no libraries to look at' if !defined $build || !-e "$build/liblb_run.a";
    my (%found, %named);
    for my $module (grep { -e "$build/liblb_$_.a" } map { m{([^/]+)/$} } glob "$source/bench/*/") {
        my (%defined_in, %wants);
        for (`nm -A '$build/liblb_$module.a'`) {
            my ($name, $kind, $symbol) = /:(\w+)\.c\.o:.* ([TDRBCU]) (lb_\w+)$/ or next;
            $wants{$name} //= [];
            $defined_in{$symbol} = $name if $kind ne 'U';
            push @{$wants{$name}}, $symbol if $kind eq 'U';
        }
        my %uses = map { my $name = $_; ($name => [grep { $_ ne $name } map { $defined_in{$_} // () } @{$wants{$name}}]) } keys %wants;
        push @{$found{$module}}, circles(%uses);
    }
    open my $file, '<', "$source/docs/design/structure.md" or die "docs/design/structure.md: $!\n";
    while (<$file>) {
        push @{$named{$1}}, $2 if /^\| `bench\/(\w+)` \| (\w+(?:, \w+)+) \| \S/;
    }
    cmp_ok(scalar(keys %found), '>', 8, 'there are modules');
    for my $module (sort keys %found) {
        is_deeply([sort @{$found{$module}}], [sort @{$named{$module} // []}], "bench/$module: docs/design/structure.md lists its circles");
    }
}
# The scripts of the page share one object: a second function of a name replaces the first one silently.
my %page;
for my $script (glob "$ENV{LB_SOURCE}/bench/report/page/html/*.js") {
    open my $in, '<', $script or die "$script: $!";
    while (<$in>) { $page{$1}++ if /^(LB\.\w+) = function/ }
}
cmp_ok(scalar keys %page, '>', 20, 'the page has functions');
is_deeply([grep { $page{$_} > 1 } sort keys %page], [], '... and each name is defined once');

done_testing();
