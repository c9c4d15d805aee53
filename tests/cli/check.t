#!/usr/bin/env perl
# lockbench check: verdicts over histories of our own and of other tools, and over what is no history.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $scratch = scratch();

# EDN from [type, f, process, time, value].
sub edn
{
    my ($name, @events) = @_;
    my $index = 0;
    return spew($name, join '', map {
        sprintf "{:type :%s, :f :%s, :process %s, :time %d, :index %d, :value %s}\n",
            @$_[0 .. 3], $index++, $_->[4] // 'nil' } @events);
}

sub verdicts
{
    my ($status, $out, $err) = lockbench('check', '--format', 'json', @_);
    my $json = eval { decode_json($out) } // {};
    return ($status, { map { $_ => $json->{guarantees}{$_}{verdict} } keys %{ $json->{guarantees} } },
        $json, $err);
}

my @good = ([qw(invoke acquire 0 0)], [qw(ok acquire 0 1000000)], [qw(invoke release 0 2000000)],
    [qw(ok release 0 3000000)], [qw(invoke acquire 1 1500000)], [qw(ok acquire 1 2500000)],
    [qw(invoke release 1 4000000)], [qw(ok release 1 5000000)]);
@good = sort { $a->[3] <=> $b->[3] } @good;
my $good = edn('good.edn', @good);
my @bad = map { [@$_] } @good;
$_->[3] = 3_500_000 for grep { $_->[1] eq 'release' && $_->[2] == 0 && $_->[0] eq 'invoke' } @bad;
$_->[3] = 3_600_000 for grep { $_->[1] eq 'release' && $_->[2] == 0 && $_->[0] eq 'ok' } @bad;
my $bad = edn('bad.edn', sort { $a->[3] <=> $b->[3] } @bad);

# --- verdicts, exit statuses, formats
my ($status, $out, $err);
# Times that differ by less than a microsecond look different, early in a history and late.
for my $start (0, 5_000_000_000) {
    my @tight = map { [$_->[0], $_->[1], $_->[2], $start + $_->[3] / 500_000] } @bad;
    ($status, $out) = lockbench('check', '--model', 'mutex', edn("tight$start.edn", ['invoke', 'acquire', 9, 0], ['fail', 'acquire', 9, 0],
        sort { $a->[3] <=> $b->[3] } @tight));
    my $ms = $start / 1_000_000;
    (my $words = $out) =~ s/\s+/ /g;
    like($words, qr/granted resource 0 at $ms\.000005 ms while process 0 held it from $ms\.000002 ms to $ms\.000007 ms: 2 ns together/, "nanoseconds after $ms ms")
        or diag $out;
    like($out, qr/^ +$ms\.0000\d\d ms +$ms\.0000\d\d ms$/m, '... and under the drawing');
}
($status, $out, $err) = lockbench('check', '--model', 'mutex', $good);
is($status, 0, 'held: exit status 0') or diag $err;
like($out, qr/^exclusive +held \(2 tested\)$/m, 'held: the verdict');
like($out, qr/: 8 events of 2 workers; model mutex, unclear releases by belief$/m, 'held: what was judged');
($status, $out) = lockbench('check', '--model', 'mutex', $bad);
is($status, 1, 'violated: exit status 1');
like($out, qr/^exclusive +violated \(1 of 2\)$/m, 'violated: the verdict');
(my $words = $out) =~ s/\s+/ /g;
like($words, qr/process 1 was granted resource 0 at 2\.500 ms while process 0 held it from 1\.000 ms to 3\.500 ms: 1\.00 ms together/,
    'violated: in plain words');
like($out, qr/^    process 1 .*\[#+\]-+.*\n    process 0 .*\[#+\]/m, 'violated: the drawing');
unlike($out, qr/[ ]$/m, 'violated: no blanks at ends of lines');
is((lockbench('check', '--model', 'semaphore:2', $bad))[0], 0, 'a semaphore of two admits it');
is((lockbench('check', '--model', 'semaphore:1', $bad))[0], 1, 'a semaphore of one does not');

($status, $out) = lockbench('check', '--model', 'mutex', '--format', 'tap', $bad);
is($status, 1, 'tap: exit status');
like($out, qr/^TAP version 13\nnot ok 1 - exclusive\n  ---\n  message: "process 1/, 'tap: not ok, with the message');
like($out, qr/^ok \d - fenced # SKIP no token was seen$/m, 'tap: what was not tested is a SKIP');
like($out, qr/^1\.\.3\n\z/m, 'tap: the plan');

my ($judged, $verdicts, $json) = verdicts('--model', 'mutex', $bad);
is($json->{schema} . $json->{schema_version}, 'lockbench-check1', 'json: the schema');
is($verdicts->{exclusive}, 'violated', 'json: a verdict');
is($verdicts->{'no-loss'}, 'not claimed', 'json: a queue\'s guarantee');
is($json->{guarantees}{exclusive}{witnesses}[0]{overlap_ns}, 1_000_000, 'json: the overlap');
is(scalar @{ $json->{guarantees}{exclusive}{witnesses}[0]{operations} }, 4, 'json: its operations');
is($json->{measures}{holds}, 2, 'json: measures');

# --- the same from standard input, and as JSON Lines
my $piped = qx{'$ENV{LOCKBENCH}' check --model mutex - < '$bad' 2>&1};
is($? >> 8, 1, 'standard input');
like($piped, qr/^-: 8 events/, 'standard input: its name');
($status, $out) = lockbench('check', '--export', 'jsonl', $bad);
is($status, 0, 'export: exit status');
my $lines = spew('bad.jsonl', $out);
($judged, $verdicts) = verdicts('--model', 'mutex', $lines);
is($verdicts->{exclusive}, 'violated', 'export: read again');
($status, $out) = lockbench('check', '--export', 'edn', '--plain', $good);
is(scalar(() = $out =~ /^\{:type :(?:invoke|ok), :f :(?:acquire|release), /mg), 8, 'export: plain EDN');

# --- unclear releases: belief and state
my $failed = edn('failed.edn', [qw(invoke acquire 0 0)], [qw(ok acquire 0 1)], [qw(invoke release 0 2)],
    [qw(fail release 0 3)], [qw(invoke acquire 1 4)], [qw(ok acquire 1 5)], [qw(invoke release 1 6)],
    [qw(ok release 1 7)]);
my $not_ours = slurp($failed);
$not_ours =~ s/(:type :fail[^}]*)\}/$1, :error :busy}/;
$failed = spew('failed.edn', $not_ours);
is((verdicts('--model', 'mutex', $failed))[1]{exclusive}, 'held', 'belief: a failed release ends the hold');
my ($ignored, $by_state, $said) = verdicts('--model', 'mutex', '--release', 'state', $failed);
is($by_state->{exclusive}, 'violated', 'state: it does not');
is($said->{release}, 'state', 'state: it is said which');

# --- the other models
my $nested = edn('nested.edn', map { [@$_] } [qw(invoke acquire 0 0)], [qw(ok acquire 0 1)],
    [qw(invoke acquire 0 2)], [qw(ok acquire 0 3)], [qw(invoke release 0 4)], [qw(ok release 0 5)],
    [qw(invoke release 0 6)], [qw(ok release 0 7)]);
is((verdicts('--model', 'reentrant', $nested))[1]{exclusive}, 'held', 'reentrant: nested');
is((verdicts('--model', 'mutex', $nested))[1]{exclusive}, 'violated', 'mutex: nested');

my $fences = edn('fences.edn', ['invoke', 'acquire', 0, 0], ['ok', 'acquire', 0, 1, '{:fence 7}'],
    ['invoke', 'release', 0, 2], ['ok', 'release', 0, 3], ['invoke', 'acquire', 1, 4],
    ['ok', 'acquire', 1, 5, '{:fence 6}'], ['invoke', 'release', 1, 6], ['ok', 'release', 1, 7]);
($judged, $verdicts) = verdicts('--model', 'lease', $fences);
is("$verdicts->{fenced}, $verdicts->{exclusive}", 'violated, held', 'lease: fences must grow');
is((verdicts('--model', 'mutex', '--claims', 'exclusive', $fences))[0], 0, '--claims: only those count');

sub queue
{
    my ($name, @order) = @_;
    my ($time, @events) = (0);
    for my $value (1 .. 3) {
        push @events, ['invoke', 'enqueue', 0, $time++, $value], ['ok', 'enqueue', 0, $time++, $value];
    }
    for my $value (@order) {
        push @events, ['invoke', 'dequeue', 1, $time++], ['ok', 'dequeue', 1, $time++, $value];
    }
    push @events, ['invoke', 'drain', 1, $time++], ['ok', 'drain', 1, $time++, '[]'];
    return edn($name, @events);
}
my @wanted = (['queue', [2, 1, 3], 'held, held, not claimed'], ['fifo', [1, 2, 3], 'held, held, held'],
    ['fifo', [2, 1, 3], 'held, held, violated'], ['queue', [1, 1, 3], 'violated, violated, not claimed'],
    ['queue', [1, 3], 'held, violated, not claimed'], ['queue', [1, 2, 3, 4], 'held, violated, not claimed']);
for my $case (@wanted) {
    my ($model, $order, $want) = @$case;
    ($judged, $verdicts) = verdicts('--model', $model, queue('queue.edn', @$order));
    is(join(', ', @$verdicts{'no-duplicate', 'no-loss', 'fifo'}), $want, "$model: @$order");
}

# --- several files are one history; clocks may be off
my $first  = edn('first.edn', grep { $_->[2] == 0 } @bad);
my $second = edn('second.edn', grep { $_->[2] == 1 } @bad);
is((lockbench('check', '--model', 'mutex', $first))[0], 0, 'one of two files: nothing to see');
is((lockbench('check', '--model', 'mutex', $first, $second))[0], 1, 'two files: the overlap of 1 ms');
is((lockbench('check', '--model', 'mutex', '--uncertainty', '100us', $first, $second))[0], 1,
    'two files: clocks off by 0.1 ms do not explain it');
for my $off ('500us', '0,1ms') {
    my ($status, $out) = lockbench('check', '--model', 'mutex', '--uncertainty', $off, $first, $second);
    is($status, 5, "two files, clocks off by $off: an overlap that they may explain is no verdict");
    like($out, qr/^exclusive +not tested: 1 possible violation, none certain: the clocks are known to within \S+\s+[mu]s; it would\s+take /m,
        '... and never held');
}
is((lockbench('check', '--model', 'mutex', '--uncertainty', '1h', edn('apart.edn', @good)))[0], 0,
    'clocks that agree or not: nothing to see');

# --- a history of our own knows its model
($status, $out, $err) = lockbench('run', '-s', good_lock(), '-S', 'mutex-hot', '--duration', '10m', '--count', '20',
    '--warmup', '0', '--keep-history', '-o', "$scratch/results", '-q');
is($status, 0, 'a run that keeps its history') or diag $err;
my ($history) = glob "$scratch/results/*/history.lbh";
($status, $out, $err) = lockbench('check', $history // 'none');
is($status, 0, 'our own: exit status') or diag $err;
like($out, qr/model of good-lock/, 'our own: it says what it is of');
like($out, qr/^exclusive +held/m, 'our own: held');
($status, $out) = lockbench('check', '--model', 'queue', $history);
is($status, 2, 'our own: judged as what it is not');

# --- cut off: never held
my $whole = slurp($history);
substr($whole, length($whole) - 100_000) = '';
my $cut = spew('cut.lbh', $whole);
($status, $out, $err) = lockbench('check', $cut);
isnt($status, 0, 'cut off: not 0');
unlike($out, qr/^exclusive +held/m, 'cut off: not held');
spew('cut.lbh', 'nothing');
is((lockbench('check', $cut))[0], 2, 'not a history: exit status 2');

# --- nearly a history
my $line = '{"type":"invoke","f":"acquire","process":0,"time":0}';
my %nearly = (
    "\xef\xbb\xbf$line\n"  => qr/nearly\.jsonl:1: a byte order mark: save the file as UTF-8 without one/,
    "\xff\xfe{\0"          => qr/nearly\.jsonl:1: this is UTF-16/,
    "\x1f\x8b\x08\0\0"      => qr/nearly\.jsonl: compressed by gzip: unpack it first/,
    "[\n$line,\n$line\n]\n" => qr/nearly\.jsonl:1: a JSON array: write one operation a line/,
);
for my $text (sort keys %nearly) {
    ($status, $out, $err) = lockbench('check', '--model', 'mutex', spew('nearly.jsonl', $text));
    is($status, 2, 'nearly a history: exit status 2');
    like($err, $nearly{$text}, '... and how to make it one');
}

# --- bad input: the place, exit status 2, no verdict
my @wrong = (
    ['{:type :invoke, :f :acquire, :process 0, :time 5, :value nil', qr/wrong\.edn:1: /, 'truncated'],
    ["{:type :invoke, :f :acquire, :process 0, :time 5, :value nil}\n" x 2, qr/wrong\.edn:2: /, 'duplicated'],
    ["{:type :ok, :f :acquire, :process 0, :time 5, :value nil}\n", qr/wrong\.edn:1: /, 'an end alone'],
    ["{:type :invoke, :f :acquire, :process 0, :time 5, :value nil}\n"
        . "{:type :ok, :f :acquire, :process 0, :time 4, :value nil}\n", qr/wrong\.edn:2: /, 'unordered'],
    ["{:type :invoke, :f :cas, :process 0, :time 5, :value nil}\n", qr/cas/, 'unknown operation'],
    ["[1 2 3]\n", qr/wrong\.edn:1: /, 'no maps'],
);
for my $case (@wrong) {
    my ($text, $want, $what) = @$case;
    my ($status, $out, $err) = lockbench('check', '--model', 'mutex', spew('wrong.edn', $text));
    is($status, 2, "$what: exit status 2");
    like($err, $want, "$what: where");
    is($out, '', "$what: no verdict");
}
my $other = edn('other.edn', @good, [qw(invoke cas 7 9000000)], [qw(ok cas 7 9000001)]);
is((lockbench('check', '--model', 'mutex', $other))[0], 2, 'unknown operations are refused');
is((lockbench('check', '--model', 'mutex', '--ignore', 'cas', $other))[0], 0, '--ignore: skipped');

is_deeply([lockbench('check', '--model', 'mutex', '--threads', '1', $_)],
    [lockbench('check', '--model', 'mutex', '--threads', '2', $_)], '--threads: the same of one and two')
    for $good, $bad;

# --- items that are reset by the thousand, by clocks that are not exact
system("$ENV{LB_BUILD}/tests/tools/bench_check", 'write', "$scratch/resets", 'again', 60000, 16, 300) == 0
    or die 'bench_check write';
like((lockbench('check', '--uncertainty', '1ns', "$scratch/resets"))[1], qr/^no-duplicate +held/m,
    'many resets of many items are not too much for the search');

# --- usage
my @usage = ([[], qr/check takes the files/], [[$good], qr/does not say what it is a history of: give --model/],
    [['--model', 'cake', $good], qr/unknown model 'cake'/],
    [['--model', 'semaphore', $good], qr/unknown model 'semaphore'/],
    [['--model', 'semaphore:0', $good], qr/'0' is not a number of holders/],
    [['--model', 'mutex:2', $good], qr/unknown model 'mutex:2'/],
    [['--model', 'mutex', '--format', 'xml', $good], qr/unknown format 'xml'/],
    [['--model', 'mutex', '--release', 'hope', $good], qr/unknown semantics 'hope'/],
    [['--model', 'mutex', '--claims', 'excl', $good], qr/unknown guarantee 'excl'/],
    [['--model', 'mutex', '--uncertainty', '1', $good], qr/'1' is not a time/],
    [['--model', 'mutex', '--uncertainty', '1s,1s', $good], qr/one for each of the 1 files/],
    [['--model', 'mutex', '--progress-bound', 'x', $good], qr/--progress-bound: 'x' is not a time/],
    [['--threads', '3', $good], qr/--threads: '3' is neither 1 nor 2/], [['--export', 'csv', $good], qr/unknown format 'csv'/],
    [['--model', 'mutex', "$scratch/none"], qr/none/]);
for my $case (@usage) {
    my ($args, $want) = @$case;
    my ($status, $out, $err) = lockbench('check', @$args);
    is($status, 2, "check @$args: exit status 2");
    like($err, $want, 'why');
}
is((lockbench('check', '--model', 'mutex', '--progress-bound', '900us', $bad))[0], 1, '--progress-bound: waited longer');
($judged, $verdicts) = verdicts('--model', 'mutex', '--progress-bound', '2ms', $good);
is($verdicts->{progress}, 'held', '--progress-bound: waited less');

done_testing;
