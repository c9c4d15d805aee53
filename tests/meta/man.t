#!/usr/bin/env perl
# The manual and the program agree: every option of every --help is in lockbench(1) and the other way
# round, every scenario key in lockbench-scenario(5), and the pages are well-formed.
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
sub page { return slurp("$top/docs/$_[0]") =~ s/\\-/-/gr }

my $main = `$program --help`;
my @commands = $main =~ /^  ([a-z]+) +[A-Z]/mg;
my (%options, %letters, %keys);
for my $command (@commands) {
    my $help = `$program $command --help`;
    is($?, 0, "$command --help");
    $options{$_} = 1 for $help =~ /^ {2,6}(?:-\w, )?--([a-z-]+)/mg;
    $letters{$_} = 1 for $help =~ /^  -(\w), --/mg;
    if ($help =~ /^Scenario .*?\n(.*?)\n\n/ms) {
        my $scenario = $1;
        $keys{$_} = 1 for $scenario =~ /^ {6}--([a-z-]+)/mg;
    }
}
cmp_ok(scalar keys %options, '>', 30, 'there are options');
cmp_ok(scalar keys %keys, '>', 20, 'there are keys');

my $manual = page('lockbench.1');
like($manual, qr/--$_(?![\w-])/, "lockbench(1) has --$_") for sort keys %options;
like($manual, qr/-$_ ", "/, "lockbench(1) has -$_") for sort keys %letters;
like($manual, qr/^\.B \Q$_\E$/m, "lockbench(1) has the command $_") for @commands;
$options{version} = 1;
$options{"no-$_"} = 1 for grep { `$program run --help` =~ /--no-\Q$_\E: / } keys %keys;
for my $option (sort { $a cmp $b } keys %{{map { $_ => 1 } $manual =~ /(?<![\w-])--([a-z][a-z-]*)/g}}) {
    ok($options{$option}, "--$option of lockbench(1) exists");
}

my $scenario = page('lockbench-scenario.5');
my %described = map { $_ => 1 } $scenario =~ /^\.BR ([a-z-]+) " \(/mg;
$keys{shape} = 1;
is_deeply([sort keys %described], [sort keys %keys], 'lockbench-scenario(5) has exactly the keys');

for my $path (glob "$top/docs/*.[1-9]") {
    my ($name) = $path =~ m{([^/]+)$};
    SKIP: {
        skip "no man to read $name", 1 if system('man --version >/dev/null 2>&1') != 0;
        is(`LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z $path 2>&1 >/dev/null`, '', "$name has no mistakes");
    }
}

done_testing();
