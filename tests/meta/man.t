#!/usr/bin/env perl
# The manual and the program agree: every option of every --help is in lockbench(1) and the other way
# round, every scenario key in lockbench-scenario(5), and the pages are well-formed.
use strict;
use warnings;
use File::Temp qw(tempdir);
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
    my $help = `$program $command --help all`;
    is($?, 0, "$command --help all");
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
$options{"no-$_"} = 1 for grep { `$program run --help all` =~ /--no-\Q$_\E: / } keys %keys;
for my $option (sort { $a cmp $b } keys %{{map { $_ => 1 } $manual =~ /(?<![\w-])--([a-z][a-z-]*)/g}}) {
    ok($options{$option}, "--$option of lockbench(1) exists");
}

# Every variable that the program asks for is in ENVIRONMENT.
my ($environment) = $manual =~ /^\.SH ENVIRONMENT\n(.*?)^\.SH /ms;
my %asked;
for my $path (glob("$top/bench/*/*.c $top/bench/*/*/*.c $top/strategies/*.c")) {
    $asked{$_} = 1 for slurp($path) =~ /getenv\("(\w+)"\)/g;
}
cmp_ok(scalar keys %asked, '>', 3, 'the program asks for variables');
like($environment, qr/^\.BR? .*\b$_\b/m, "ENVIRONMENT has $_") for sort keys %asked;

# Its examples run: on SQLite, short, with files that are made here. Which verdict comes does not matter.
my $dir = tempdir(CLEANUP => 1);
my ($first) = $manual =~ /^\.SH EXAMPLES\n(.*?)^\.SH /ms;
my ($more) = $manual =~ /^\.SH MORE EXAMPLES\n(.*?)^\.SH /ms;
my $examples = $first . $more;
my @lines = grep { /^lockbench / } split /\n/, $examples;
cmp_ok(scalar @lines, '>', 12, 'there are examples');
my %file = ('my-lock.sql' => slurp("$top/examples/shedlock.sql") =~ s/^-- strategy: .*/-- strategy: my-lock/mr);
($file{'my.ini'}) = $examples =~ /^\.nf\n(.*?)^\.fi/ms;
$file{'my.ini'} =~ s/^\.sp$//mg;
for my $name (keys %file) {
    open my $out, '>', "$dir/$name" or die "$name: $!\n";
    print $out $file{$name};
    close $out or die "$name: $!\n";
}
my $older = 0;
for my $line (@lines) {
    my ($command) = $line =~ /^lockbench (\w+)/;
    (my $run = $line) =~ s{postgresql://\S+}{sqlite:}g;
    $run =~ s{ -T \S+}{ -T 0.2}, $run =~ s{ -P \S+}{ -P 0.1s};
    # Long commands are only checked; the others run for a moment.
    $run .= ' --dry-run' if $command =~ /^(?:plan|experiment)$/ || $line =~ /compare$|verify/;
    $run .= ' --duration 30ms --warmup 0' if $command eq 'compare' && $run !~ /dry-run/;
    $run .= ' --repeat 2' if $command eq 'compare' && $run !~ /dry-run|--repeat/;
    $run .= ' --max-schedules 20' if $command eq 'explore';
    rename "$dir/results/main", "$dir/results/older" . ++$older if $line =~ /--save main/;
    my $said = `cd '$dir' && $program @{[$run =~ s/^lockbench //r]} 2>&1 </dev/null`;
    like($? >> 8, qr/^[0145]$/, $line) or diag "$run: $said";
    next if $command ne 'compare' || $line !~ /-o results/;
    my ($made) = glob "$dir/results/*";
    rename $made, "$dir/results/main" or die "$made: $!\n";
}

# The keys and operations of lockbench-history(5) are those that the reader knows.
my $history = page('lockbench-history.5');
my ($keys) = slurp("$top/bench/record/formats/text_scan.c") =~ /(\[LB_KEY_TYPE\] = .*?)\};/s;
like($history, qr/^\.BR?I? .*\b\Q$_\E\b/m, "lockbench-history(5) has the key $_") for $keys =~ /"(\w+)"/g;
my ($ops) = slurp("$top/bench/record/ops.c") =~ /op_names\[\] = \{(.*?)\};/s;
like($history, qr/[ ,"]\Q$_\E(?![\w-])/, "lockbench-history(5) has the operation $_") for $ops =~ /"([\w-]+)"/g;
my ($words) = slurp("$top/bench/base/error.c") =~ /(\[LB_EMPTY\] = .*?)\};/s;
my ($others) = slurp("$top/bench/record/formats/translate.c") =~ /others\[\] = \{(.*?)\};/s;
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
my ($models) = `$program check --help all` =~ /--model=MODEL\s+(.*?);/s;
is_deeply([sort keys %models], [sort map { s/:K//r } split /,\s+|\s+or\s+/, $models], 'every model has an example');

my $scenario = page('lockbench-scenario.5');
# Every format is in the manual, and in the help of its commands.
my ($formats) = $manual =~ /^\.BR --format =\\fIformat\\fR\[(.*?)^\.TP/ms;
my @formats = split ' ', `$program list formats --names`;
cmp_ok(scalar @formats, '>', 5, 'there are formats');
for my $format (@formats) {
    like($formats, qr/^\.BR? $format\b/m, "--format of lockbench(1) has $format");
    like(`$program run --help all` =~ s/\s+/ /gr, qr/--format=FORMAT\[:FILE\] [\w, ]*\b$format\b/, "run --help has $format");
}
# Every fault is in the help and in both pages.
my @faults = split ' ', `$program list faults --names`;
cmp_ok(scalar @faults, '>', 10, 'there are faults');
my ($faults) = $manual =~ /^\.BR --faults =(.*?)^\.TP/ms;
my $verify = `$program verify --help all`;
for my $fault (@faults) {
    like($faults, qr/(?<![\w-])\Q$fault\E(?![\w-])/, "--faults of lockbench(1) has $fault");
    like($scenario, qr/^\.BR? \Q$fault\E\b/m, "lockbench-scenario(5) has $fault");
    like($verify =~ s/\s+/ /gr, qr/under each fault: all(?:, [\w-]+)*, \Q$fault\E\b/, "verify --help has $fault");
}
my %described = map { $_ => 1 } $scenario =~ /^\.BR ([a-z-]+) " \(/mg;
$keys{shape} = 1;
is_deeply([sort keys %described], [sort keys %keys], 'lockbench-scenario(5) has exactly the keys');

# Examples and the common options come before anything else: -s and -d are on the first page of 80x66.
SKIP: {
    skip 'no man to render lockbench(1)', 3 if system('man --version >/dev/null 2>&1') != 0;
    my @page = split /\n/, `MANWIDTH=80 LC_ALL=C.UTF-8 man -E ascii -l $top/docs/lockbench.1 2>/dev/null`;
    my $page = join "\n", @page[0 .. 65];
    like($page, qr/^ +lockbench compare -s/m, 'the first page of lockbench(1) has an example');
    like($page, qr/^ +-$_ /m, "the first page of lockbench(1) has -$_") for qw(s d);
}

for my $path (glob "$top/docs/*.[1-9]") {
    my ($name) = $path =~ m{([^/]+)$};
    SKIP: {
        skip "no man to read $name", 1 if system('man --version >/dev/null 2>&1') != 0;
        is(`LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z $path 2>&1 >/dev/null`, '', "$name has no mistakes");
    }
}

done_testing();
