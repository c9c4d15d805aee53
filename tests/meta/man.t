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

# The keys and operations of lockbench-history(5) are those that the reader knows.
my $history = page('lockbench-history.5');
my ($keys) = slurp("$top/bench/record/text_scan.c") =~ /(\[LB_KEY_TYPE\] = .*?)\};/s;
like($history, qr/^\.BR?I? .*\b\Q$_\E\b/m, "lockbench-history(5) has the key $_") for $keys =~ /"(\w+)"/g;
my ($ops) = slurp("$top/bench/record/ops.c") =~ /op_names\[\] = \{(.*?)\};/s;
like($history, qr/[ ,"]\Q$_\E(?![\w-])/, "lockbench-history(5) has the operation $_") for $ops =~ /"([\w-]+)"/g;
my ($words) = slurp("$top/bench/base/error.c") =~ /(\[LB_EMPTY\] = .*?)\};/s;
my ($others) = slurp("$top/bench/record/translate.c") =~ /others\[\] = \{(.*?)\};/s;
like($history, qr/[ ,"]\Q$_\E(?![\w-])/, "lockbench-history(5) has the error $_") for "$words$others" =~ /"([\w-]+)"/g;
like($manual, qr/lockbench-history \(5\)/, 'lockbench(1) names lockbench-history(5)');

# Each example is judged as the page says.
my %models;
while ($history =~ /^\.\\" example: (\S+) (\d)\n\.nf\n(.*?)^\.fi/msg) {
    my ($model, $want, $text) = ($1, $2, $3);
    open my $check, '|-', "$program check --model $model - >/dev/null" or die "$program: $!\n";
    print $check $text;
    close $check;
    is($? >> 8, $want, "the example of $model in lockbench-history(5)");
    $models{$model =~ s/:.*//r}++;
}
my ($models) = `$program check --help` =~ /--model=MODEL\s+(.*?);/s;
is_deeply([sort keys %models], [sort map { s/:K//r } split /,\s+|\s+or\s+/, $models], 'every model has an example');

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
