#!/usr/bin/env perl
# Sweeps: lists of values multiply the cells, which are named by what varies.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my @quick = ('--duration', '10m', '--count', '10', '--warmup', '0', '--quiet');
my @mutex = ('-s', 'pthread-mutex', @quick);

my ($status, $out, $err) = lockbench('compare', '--repeat', '1', @mutex, '--workers', '2,1', '--hold', '0,1ms,300us', '--format', 'json');
is($status, 0, 'exit status') or diag $err;
my $json = decode_json($out);
is_deeply([map { $_->{scenario} } @{$json->{cells}}],
    [map { my $w = $_; map { "mutex-hot[workers=$w hold=$_]" } '0', '1ms', '300us' } 2, 1],
    'every combination, in the order given, named by what varies');
is_deeply([map { "$_->{config}{workers} $_->{config}{hold_ns}" } @{$json->{cells}}],
    ['2 0', '2 1000000', '2 300000', '1 0', '1 1000000', '1 300000'], 'each is run as it is named');
is((grep { @{$_->{runs}} != 1 } @{$json->{cells}}), 0, 'each once');
is((grep { @{$_->{runs}[0]{worker_successes}} != $_->{config}{workers} } @{$json->{cells}}), 0,
    'by so many workers');
like($json->{cells}[2]{reproduce}, qr/ -S mutex-hot .*--workers 2 --hold 300us /, 'the command that repeats one point');
unlike($json->{cells}[2]{reproduce}, qr/\[/, '... names no sweep');

# Random order: the start of each run tells it. 24 points in order by chance: 1 in 24!.
my @points = map { $_ * 10 } 1 .. 24;
($status, $out) = lockbench('compare', '--repeat', '1', @mutex, '--workers', '1', '--think', join(',', map { "${_}us" } @points),
    '--count', '2', '--format', 'json', '--seed', '7');
my @starts = map { $_->{runs}[0]{start_unix_ms} } @{decode_json($out)->{cells}};
is(scalar @starts, 24, 'a long list');
isnt("@starts", join(' ', sort { $a <=> $b } @starts), 'one round of a sweep is in random order');

($status, $out) = lockbench('compare', '--repeat', '1', '-s', 'pthread-mutex,none', @quick, '--workers', '1', '--hold', '0,1ms');
like($out, qr/^strategy +engine +hold +verdict /m, 'text: a column for what varies');
like($out, qr/^none +memory +1ms +not caught /m, 'text: a row');
my @tables = $out =~ /^(mutex-hot: what .*)$/mg;
is(scalar @tables, 1, 'text: one table for the question');
unlike($out, qr/[ ,]hold 0/, 'text: what varies is not told as if it were one value');
like($out, qr/(^(?:none|pthread-mutex) +memory +0 .*\n){2}(^(?:none|pthread-mutex) +memory +1ms .*\n){2}/m,
    'text: point by point');
($status, $out) = lockbench('compare', '--repeat', '1', @mutex, '--workers', '1');
like($out, qr/^strategy +engine +verdict /m, 'text: no such column without a list');

($status, $out) = lockbench('verify', @mutex, '--workers', '1,2');
like($out, qr/^ok \d+ - pthread-mutex memory mutex-hot\[workers=2\] exclusive$/m, 'tap: the point is part of the name');
my @names = $out =~ /^ok \d+ - (.*)$/mg;
my %names = map { $_ => 1 } @names;
is(scalar keys %names, scalar @names, 'tap: names are different');

($status, $out) = lockbench('compare', '--repeat', '1', @mutex, '--workers', '1,2', '--workers', '3', '--format', 'json');
is_deeply([map { "$_->{scenario} $_->{config}{workers}" } @{decode_json($out)->{cells}}], ['mutex-hot 3'],
    'the last of two flags counts');

# Phases have commas of their own, and are one value.
for my $rate ('phases:100/s@1s,burst:5', 'repeat:100/s@50ms,pause@50ms', 'poisson:phases:100/s@1s,200/s',
    'poisson:repeat:burst:5,100/s@50ms') {
    ($status, $out, $err) = lockbench('compare', '-s', 'pthread-mutex', '--workers', '1', '--hold', '0', '--duration',
        '20ms', '--warmup', '0', '--repeat', '1', '--rate', $rate, '--format', 'json');
    # 5: on a busy machine the workers may fall behind their schedule.
    like($status, qr/^[05]$/, "$rate is one rate") or diag $err;
    is($status =~ /^[05]$/ ? decode_json($out)->{cells}[0]{config}{rate} : '', $rate, '... as given');
}

for my $wrong (
    [['--workers', '1,x'], qr/option --workers: 'x' is not a count/],
    [['--rate', 'phases:ramp:1-2/s'], qr/option --rate: 'phases:ramp:1-2\/s': a ramp needs a time: /],
    [['--rate', 'phases:100/s@1s' . ',pause@1s' x 40], qr/option --rate: longer than 255 characters/],
    [['--workers', '1,'], qr/option --workers: '' is not a count/],
    [['--workers', '1k,1000'], qr/option --workers: '1k,1000' has 1000 twice/],
    [['--workers', '2,0'], qr/scenario mutex-hot\[workers=0\]: workers: at least 1/],
    [['--backlog', '1,2'], qr/option --backlog: has a meaning for queues only/],
    [['--workers', join(',', 1 .. 50), '--poll', join(',', map { "${_}us" } 1 .. 50)], qr/option --poll: more than 2000 combinations/],
) {
    ($status, $out, $err) = lockbench('compare', '--repeat', '1', @mutex, @{$wrong->[0]});
    is($status, 2, substr("@{$wrong->[0]}", 0, 40) . ': usage');
    like($err, $wrong->[1], '... and why');
}

# Sizes of claims: the rate beside how long the items are in hand, and what becomes of those of the dead.
my @drain = ('-s', 'lease-queue,delete-on-claim,skip-locked', '-d', 'sqlite:', '-S', 'drain', '--backlog', '60', '--workers', '1',
    '--duration', '10m', '--quiet', '--repeat', '1', '--hold', '1ms');
my ($markdown, $stored) = map { scratch() . "/batches.$_" } qw(md json);
($status, $out, $err) = lockbench('compare', @drain, '--batch', '3,20', '--format', 'text', '--format', "markdown:$markdown", '--format', "json:$stored");
is($status, 0, 'a sweep of batches') or diag $err;
my ($batches) = $out =~ /^By items per claim\n(.*?)^in hand: /ms;
my @rows = map { [split / {2,}/] } grep { /^\S+ +sqlite/ } split /\n/, $batches // '';
is(join('; ', map { "$_->[0] $_->[2] $_->[5]" } @rows),
    join('; ', map { my ($name, $fate) = @$_; map { my $n = $_; "$name drain[batch=$n] up to $n $fate" } 3, 20 }
            ['lease-queue', 'wait for the lease'], ['delete-on-claim', 'lost'], ['skip-locked', 'wait for recover']),
    '... says what a death costs') or diag $out;
my @held = map { $_->[4] =~ /^([\d.]+) ms$/ ? $1 : 0 } @rows;
cmp_ok(($held[-1] // 0), '>=', 20, '... and that twenty items of 1 ms are in hand for 20 ms, or more') or diag $out;
my ($section) = slurp($markdown) =~ /^### By items per claim\n\n(.*?)(?=^#|\z)/ms;
my @marked = map { [split / *\| */, s/^\| //r =~ s/\\(?=\W)//gr] } grep { /^\| \S+ \| sqlite/ } split /\n/, $section // '';
is_deeply(\@marked, \@rows, '... in Markdown, too');
like($section // '', qr/^in hand: from a claim .* at a death: what becomes of these items\.$/m, '... and what the columns are');
$json = decode_json(slurp($stored));
is_deeply([map { [@$_[0 .. 2], $_->[5]] } @rows], [map { [@$_{qw(strategy engine scenario at_a_death)}] } @{ $json->{batches} }], '... and in JSON');
is_deeply([map { "$_->{strategy} $_->{batch} $_->{successes_per_s}" } @{ $json->{batches} }],
    [map { my $cell = $json->{cells}[ $_->{cell} // -1 ]; "$cell->{strategy} $cell->{config}{batch} $cell->{summary}{successes_per_s}" } @{ $json->{batches} }],
    '... of its cells');
($status, $out) = lockbench('compare', @drain, '--batch', '20', '--format', 'text', '--format', "markdown:$markdown", '--format', "json:$stored");
unlike($out . slurp($markdown), qr/By items per claim/, '... not of one size');
is_deeply(decode_json(slurp($stored))->{batches}, [], '... nor in JSON');

done_testing();
