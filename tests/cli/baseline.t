#!/usr/bin/env perl
# compare --save and --baseline: the statistics and refusals of diff, over runs that are made here. What
# was saved is rewritten with rates that are far from any that a run can have, so that the verdict is
# known whatever the machine does. Where two real rates are compared, a machine that stands still in one of
# the runs makes the answer inconclusive: then it is asked again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $dir = scratch() . '/kept';
my $lock = good_lock();
my @compare = ('compare', '-s', $lock, '-o', $dir, '--duration', '10m', '--count', '20', '--warmup', '0', '--workers', '2', '-q');

my ($status, $out, $err) = lockbench(@compare, '--repeat', '5', '--save', 'main');
is($status, 0, '--save') or diag $err;
like($out, qr/^stored in \Q$dir\E\/main$/m, '... and where');
is(join(' ', map { s{.*/}{}r } grep { !/\/\.\.?$/ } glob "$dir/* $dir/.*"), 'main', '... and nothing else');
my $run = decode_json(slurp("$dir/main/run.json"));
is(scalar @{$run->{cells}[0]{runs}}, 5, '... with its runs');
is($run->{baseline}, undef, '... and no baseline');
($status, undef, $err) = lockbench(@compare, '--save', 'main');
is($status, 2, 'a name that is taken');
like($err, qr/main exists: remove it, or choose another name/, '... and why');

# A saved result with each run at this share of the real rate.
sub saved
{
    my ($name, $factor, %change) = @_;
    my $copy = decode_json(slurp("$dir/main/run.json"));
    $_->{successes_per_s} *= $factor for @{$copy->{cells}[0]{runs}};
    $copy->{cells}[0]{$_} = $change{$_} for keys %change;
    mkdir "$dir/$name" or die;
    open my $file, '>', "$dir/$name/run.json" or die;
    print $file encode_json($copy);
    close $file or die;
    return $name;
}

my @again = (@compare, '--repeat', '5');
($status, $out, $err) = lockbench(@again, '--baseline', saved('fast', 1e6), '--format', 'json');
is($status, 4, 'slower than the baseline: exit status 4') or diag $err;
my $json = decode_json($out);
is($json->{baseline}{rows}[0]{outcome}, 'slower', '... in JSON');
is($json->{baseline}{new}, 'this run', '... which names this run');
is(scalar @{$json->{cells}[0]{runs}}, 5, '... beside the result');
($status, $out) = lockbench(@again, '--baseline', saved('slow', 1e-6));
is($status, 0, 'faster than the baseline: exit status 0');
like($out, qr/^Against the baseline\nbase: \Q$dir\E\/slow\/run\.json/m, '... as text, after the tables');
like($out, qr/^good-lock +sqlite +mutex-hot +rate .* faster$/m, '... a row');
($status, $out) = lockbench(@compare, '--repeat', '1', '--baseline', 'main');
is($status, 5, 'too few runs: exit status 5');
($status, $out) = lockbench(@again, '--baseline', 'fast', '--threshold', '990%', '--format', 'markdown');
is($status, 4, '--threshold is taken, and a million times is beyond any');
like($out, qr/^\*\*lockbench: 1 slower\*\* \(threshold 990 %\)$/m, 'Markdown: the sum');
like($out, qr/^\| good-lock \| sqlite \| mutex-hot \| rate \| .* \| slower \|$/m, 'Markdown: the row of the baseline');
like($out, qr/^\| good-lock \| sqlite \| mutex-hot \| held \| \S+ \\\[\S+, \S+\\\] \|/m, 'Markdown: the row of the result');
($status, undef, $err) = lockbench(@again, '--baseline', "$dir/slow");
is($status, 0, 'a path is a baseline too') or diag $err;

# Refusals come before the runs.
my $broken = saved('violated', 1e6, verdict => 'violated');
for my $wrong (
    [['--baseline', 'main', '--hold', '1ms'], qr/not run alike: hold_ns is \d+ in the base and 1000000 in the new result/],
    [['--baseline', 'none'], qr/--baseline: \Q$dir\E\/none: No such file or directory; there are .*\bfast, main, other, slow\b/],
    [['--baseline', 'mian', '-o', "$dir/nothing"], qr/--baseline: .*; \Q$dir\E\/nothing has no result yet: --save NAME makes one$/],
    [['--baseline', saved('other', 1, strategy => 'else')], qr/other\/run\.json has none of the planned cells: good-lock on sqlite, mutex-hot/],
    [['--baseline', 'main', '--format', 'csv'], qr/needs --format text, json or markdown, not csv/],
    [['--threshold', '5%'], qr/--threshold: needs --baseline NAME/],
    [['--metric', 'p99'], qr/--metric: needs --baseline NAME/],
    [['--save', '../x'], qr/--save: '\.\.\/x' is not a name/],
) {
    ($status, $out, $err) = lockbench(@again, '--save', 'never', @{$wrong->[0]});
    is($status, 2, "@{$wrong->[0]}: usage");
    like($err, $wrong->[1], '... and why');
    ok(!-e "$dir/never", '... and nothing was run');
}

# A violation is news only if the baseline did not have it.
my $door = open_door();
my @open = ('compare', '-s', $door, '-o', $dir, '--duration', '10m', '--count', '40', '--hold', '1ms', '--workers', '4', '-q',
    '--repeat', '5');
my $is_clear = sub { return $_[0] != 5 };
($status) = lockbench(@open, '--save', 'open');
is($status, 1, 'a violated result can be saved');
($status, $out) = until_shown($is_clear, @open, '--baseline', 'open', '--threshold', '900%');
is($status, 0, 'violated before and now: exit status 0') or diag $out;
my $held = decode_json(slurp("$dir/open/run.json"));
$held->{cells}[0]{verdict} = 'held';
mkdir "$dir/shut";
open my $file, '>', "$dir/shut/run.json" or die;
print $file encode_json($held);
close $file or die;
($status, $out) = lockbench(@open, '--baseline', 'shut', '--threshold', '900%');
is($status, 1, 'violated now only: exit status 1');
like($out, qr/^open-door .* VIOLATED$/m, '... and a row');

# --- against a reference, in the same rounds

# A variant of the lock: a name, and its steps before it looks.
sub variant
{
    my ($name, $work) = @_;
    my $text = slurp($lock);
    $text =~ s/good-lock/$name/;
    $text =~ s/(?=AND owner IS NULL)/$work /;
    return spew("$name.sql", $text);
}
# Some milliseconds, where the other takes some tens of microseconds.
my $slow = variant('slow', 'AND 0 < (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) '
    . 'SELECT max(i) FROM n)');
my $same = variant('same', 'AND 1 = 1');
my @against = ('--hold', '0', '--think', '0', '--workers', '2', '--duration', '100ms', '--warmup', '0', '-q', '--repeat', '5',
    '--reference', 'good-lock');
($status, undef, $err) = until_shown($is_clear, 'compare', '-s', "$lock,$slow", @against, '--threshold', '10%');
is($status, 4, 'slower than the reference: exit status 4');
like($err, qr/^lockbench: slow is slower than good-lock on sqlite, \S+: 0\.\d+ \[\S+, \S+\] of its rate$/m, '... and a line') or diag $err;
($status, undef, $err) = until_shown($is_clear, 'compare', '-s', "$lock,$same", @against, '--threshold', '900%');
is($status, 0, 'not slower than that: exit status 0') or diag $err;
($status, undef, $err) = lockbench('compare', '-s', "$lock,$slow", @against);
is($status, 0, 'without a threshold it is no gate') or diag $err;
($status, undef, $err) = lockbench('compare', '-s', "$lock,$slow", @against, '--repeat', '1', '--threshold', '10%');
is($status, 5, 'one run tells nothing: exit status 5');
like($err, qr/^lockbench: slow cannot be compared with good-lock on sqlite, \S+: (?:too few runs of the two were complete|it had no success)$/m, '... and why')
    or diag $err;
my $never = variant('never', 'AND 1 = 0');
($status, undef, $err) = lockbench('compare', '-s', "$lock,$same,$never", @against, '--threshold', '900%');
is($status, 5, 'one of three has no success: exit status 5, however fast the others are');
like($err, qr/^lockbench: never cannot be compared with good-lock on sqlite, \S+: it had no success$/m, '... and which') or diag $err;
($status, undef, $err) = lockbench('compare', '-s', "$lock,$slow", '--threshold', '10%');
is($status, 2, 'a threshold of nothing: exit status 2');
like($err, qr/--threshold: needs --baseline NAME to compare with, or --reference NAME/, '... and what is missing');
($status, undef, $err) = lockbench('compare', '-s', "$lock,$slow", @against, '--threshold', '5');
is($status, 2, 'no share: exit status 2');
done_testing();
