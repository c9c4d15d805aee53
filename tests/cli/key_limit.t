#!/usr/bin/env perl
# Attributes of items, and the guarantee key-limit: never more items of one key in hand than the file says. The
# strategy of tests/strangers/keyed.sql takes a place of the key, or does not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/keyed.sql";
my @few = ('-s', $file, '-S', 'drain', '--backlog', 60, '--hold', '2ms', '--keys', 2);

my ($status, $out, $err) = lockbench('run', @few, '--seed', 7, '--keep-history', '-o', scratch() . '/first');
is($status, 0, 'places are counted: held') or diag "$out$err";
($status, $out, $err) = lockbench('run', @few, '--opt', 'take=any');
is($status, 1, 'no place is asked for: violated') or diag "$out$err";
like($out, qr/key-limit, .*item\s+\d+\s+of\s+the\s+same\s+key\s+\d+\s+by\s.*\swith\s1\sothers,\swas\sstill/s,
    '... with the items');

# --- in the history: the same for each run of a seed, in every format ---
sub keys_of
{
    my ($file) = @_;
    my (undef, $lines) = lockbench('check', '--export', 'jsonl', $file);
    return [sort map { "$_->{value} " . ($_->{arg} // 0) } grep { $_->{f} eq 'attribute' && !$_->{object} } map { decode_json($_) } split /\n/, $lines];
}
my ($recorded) = split /\n/, `find @{[scratch()]}/first -name '*.lbh'`;
my $keys = keys_of($recorded);
is(scalar @$keys, 60, 'each item has a key');
lockbench('run', @few, '--seed', 7, '--workers', 3, '--keep-history', '-o', scratch() . '/again');
my ($again) = split /\n/, `find @{[scratch()]}/again -name '*.lbh'`;
is_deeply(keys_of($again), $keys, 'the seed and the number of the item decide');
for my $format ('jsonl', 'edn') {
    my (undef, $exported) = lockbench('check', '--export', $format, $recorded);
    ($status, $out) = lockbench('check', spew("exported.$format", $exported));
    is($status, 0, "$format: the exported history is judged alike") or diag $out;
    like($out, qr/key-limit +held/, '... with its keys');
}

# --- verify explores a limit of 1, where an option is the limit ---
(undef, $out) = lockbench('verify', '-s', $file, '--plan');
like($out, qr/explore\+key .*explore\+key\+rescue /s, 'verify plans both explorations');
(undef, $out) = lockbench('verify', '-s', $file, '--plan', '--opt', 'limit=1');
unlike($out, qr/explore\+key +\d/, '... but not where the limit is 1 anyway');
my @one = ('explore', '-s', $file, '--opt', 'limit=1', '-q');
my @rescued = (@one, '--items', 2, '--rounds', 2, '--rescuers', 1, '--steps', 'clock');
for my $case (
    [0, 'places are counted', @rescued],
    [1, 'a late end gives the place back again', @rescued, '--opt', 'end=again'],
    [1, 'no place is asked for', @one, '--opt', 'take=any'],
    ) {
    my ($wanted, $name, @command) = @$case;
    ($status, $out) = lockbench(@command);
    is($status, $wanted, "explored on sqlite: $name") or diag $out;
    like($out, $wanted ? qr/^  key-limit +violated/m : qr/^  complete.*^  key-limit +held/ms, '... as the verdict says');
}
# A worker is late, and a rescuer frees its item: an item that waits for the key's place then shows nothing to be right.
my @alone = (@one, '--workers', 1, '--items', 2, '--rounds', 2, '--rescuers', 1, '--steps', 'clock');
(undef, $out) = lockbench(@alone);
like($out, qr/^  complete.*^  no-loss +held/ms, 'explored on sqlite: a rescue frees the place, too') or diag $out;
(undef, $out) = lockbench(@alone, '--opt', 'back=jobs');
like($out, qr/^  no-loss +not tested: an unclaimed item waits for its group or key/m, '... and where it does not, no-loss is not called held') or diag $out;
(undef, $out) = lockbench('verify', '-s', $file, '--plan', '--opt', 'back=jobs');
like($out, qr{^ +1 keys blocked .*^ +2 queue-rescue }ms, 'verify asks first whether a key blocks others, and whether places come back');
for my $uri (grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '') {
    ($status, $out) = lockbench(@one, '-d', $uri);
    is($status, 0, 'explored on postgres: places are counted') or diag $out;
    ($status, $out) = lockbench(@one, '-d', $uri, '--opt', 'take=looked');
    is($status, 1, '... running jobs are counted: violated') or diag $out;
    ($status, $out) = lockbench('verify', '-s', $file, '-d', $uri, '--opt', 'take=looked', '--plan');
    like($out, qr/explore\+key .*explore\+key\+recover /s, '... and verify plans it, and a rescuer that waits for a claim');
    # Found within the first 600 schedules of three tries, each.
    my @recovered = (@one, '-d', $uri, '--items', 2, '--rescuers', 1, '--preemptions', 2, '--time', '10s');
    ($status, $out) = until_shown(sub { $_[0] == 1 }, @recovered, '--opt', 'back=counted');
    is($status, 1, '... a recovery counts in a snapshot of before it waited: violated') or diag $out;
    like($out, qr/^  (?:key-limit|no-loss) +violated/m, '... as the verdict says');
    ($status, $out) = lockbench(@recovered);
    is($status, 0, '... it counts after it waited: no violation') or diag $out;
}

# --- plan: the hottest key bounds the throughput: 1 of half the items at a time, 20 ms each ---
($status, $out, $err) = lockbench('plan', '-s', $file, '--opt', 'limit=1', '--keys', 2, '--hold', '20ms', '--workers', '1,2,3,4,5,6', '--backlog', 100,
    '--warmup', 0, '--repeat', 1, '--format', 'json', '-q');
my ($key) = grep { $_->{cause} eq 'key' } @{ decode_json($out)->{plans}[0]{limits} };
like($key->{text} // 'none', qr/^the hottest key, which has 50 % of the items: 1 of them at a time for 20\.0 ms allows at most 100\/s of all/, 'plan names the hottest key')
    or diag $err;

# --- bad input ---
for my $case (
    [['--priority', '0:0.5'], qr/priority: '0:0\.5' is not a list of shares that sum up to 1, such as 0:0\.9,9:0\.1/],
    [['--tenants', 'a:2,b:3'], qr/tenants: 'a:2,b:3' is not a list/],
    [['--due', 'soon:1'], qr/due: 'soon:1' is not a list .* now:0\.7,10s:0\.3/],
    [['--unique', '0.2'], qr/option --unique: has no effect on keyed: it is for queues that put their items with :unique_key/],
    ) {
    my ($flags, $wanted) = @$case;
    ($status, undef, $err) = lockbench('run', @few, @$flags);
    is($status, 2, "@$flags: refused");
    like($err, $wanted, '... in words');
}
my $text = slurp($file);
for my $case (
    ['limit.sql', $text =~ s/^-- key-limit: limit\n//mr, qr/limit\.sql:\d+: claims key-limit, and does not state how many .*-- key-limit: K/],
    ['key.sql', $text =~ s/:key\b/:payload/gr, qr/key\.sql:\d+: claims key-limit, and section put does not use :key/],
    ['n.sql', $text =~ s/:payload\)/:payload || :n)/r, qr/n\.sql:\d+: section put has :n and attributes of one item/],
    ) {
    my ($name, $changed, $wanted) = @$case;
    ($status, undef, $err) = lockbench('run', '-s', spew($name, $changed), '-S', 'drain');
    is($status, 2, "$name: refused");
    like($err, $wanted, '... in words');
}

# --- beside priority: the more urgent item may wait for its key, so priority is not judged ---
(my $both = $text) =~ s/key-limit\n-- option/key-limit, priority\n-- priority: highest-first\n-- option/;
$both =~ s/customer, payload\) VALUES \(:id, :key, :payload/customer, payload, urgency) VALUES (:id, :key, :payload, :priority/;
$both =~ s/payload varchar\(100\)\);/payload varchar(100), urgency int);/;
(my $unclaimed = $both) =~ s/owner-release, key-limit, priority/owner-release, priority/;
for my $case (['both', $both], ['key-limit is stated, and not claimed', $unclaimed]) {
    my ($name, $changed) = @$case;
    my @command = ('-s', spew('both.sql', $changed), '-q');
    ($status, $out) = lockbench('run', @command, '-S', 'drain', '--backlog', 60, '--keys', 2, '--priority', '0:0.5,9:0.5');
    is($status, 0, "priority beside keys, $name: no violation, though items are claimed in order of their numbers") or diag $out;
    like($out, qr/priority: more\s+urgent\s+items\s+may\s+wait\s+for\s+their\s+group\s+or\s+key/, '... and not held');
    ($status, $out) = lockbench('explore', @command);
    is($status, 0, '... explored') or diag $out;
    like($out, qr/^  priority +not tested: more\s+urgent/m, '... and not held');
}

# --- histories of others ---
my $meta = 'shape=queue\nclaims=key-limit,no-loss\nrelease=belief\ndrained=1\ncomplete=1\nend_ns=1000000\n';
sub judged
{
    my ($limit, $with_keys, @operations) = @_;
    my ($index, $time) = (0, 0);
    my $event = sub {
        my (%event) = (process => 0, index => $index++, time => $time += 1000, @_);
        return encode_json(\%event) . "\n";
    };
    my $text = '';
    $index++;
    for my $item (1 .. 3) {
        $text .= $event->(type => 'invoke', f => 'put', process => 9, value => $item, $with_keys ? (key => $with_keys, due => '2026-01-01', priority => 'high') : ());
        $text .= $event->(type => 'ok', f => 'put', process => 9, value => $item);
    }
    for (@operations) {
        my ($f, $item) = split;
        $item += 0;
        $text .= $event->(type => 'invoke', f => $f eq 'take' ? 'dequeue' : $f, process => $item, $f eq 'take' ? () : (value => 0 + $item));
        $text .= $event->(type => 'ok', f => $f eq 'take' ? 'dequeue' : $f, process => $item, value => 0 + $item);
    }
    my $n = () = $text =~ /\n/g;
    my $head = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"${meta}key_limit=$limit\\n"}\n);
    my ($status, $out, $err) = lockbench('check', spew('history.jsonl', $head . $text));
    return ($status, $out . $err);
}
($status, $out) = judged(2, 'customer 7', 'take 1', 'take 2', 'complete 1', 'take 3', 'complete 2', 'complete 3');
is($status, 0, 'a history of two at a time') or diag $out;
like($out, qr/key-limit +held/, '... held');
($status, $out) = judged(2, 'customer 7', 'take 1', 'take 2', 'take 3', 'complete 1', 'complete 2', 'complete 3');
is($status, 1, 'three at a time') or diag $out;
like($out, qr{item\s+3\s+of\s+the\s+same\s+key\s+"customer\s+7"\s+by\s+process\s+3}, '... with the name of the key');
($status, $out) = judged(1, 'k', 'take 1', 'take 2', 'complete 1', 'complete 2', 'take 3', 'complete 3');
is($status, 1, 'two at a time where one is allowed');
($status, $out) = judged(1, undef, 'take 1', 'take 2', 'complete 1', 'complete 2', 'take 3', 'complete 3');
isnt($status, 1, 'without keys it is no violation');
like($out, qr/key-limit +not tested.*the\shistory\sdoes\snot\ssay\sthe\skeys\sof\sitems/s, '... and not tested');
($status, $out) = judged(1, [1, 2], 'take 1', 'complete 1', 'take 2', 'complete 2', 'take 3', 'complete 3');
is($status, 0, 'a key that is a list belongs to another program') or diag $out;
like($out, qr/key-limit +not tested/, '... and is no key');
($status, $out) = judged(1, 'k', 'take 1', 'complete 1');
like($out, qr{key\s+"k"\s+never\s+came\s+back:\s+fewer\s+than\s+1\s+in\s+hand,\s+its\s+2\s+items\s+wait}, 'a limit that is not given back: no-loss says so');

# --- a limit that nothing can exceed is not tested ---
my $none = <<'SQL';
-- strategy: nolimit
-- shape: queue
-- claims: key-limit
-- option: per_key = 2 | 3
-- key-limit: 2
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, k varchar(50), payload varchar(100), state int NOT NULL DEFAULT 0);
-- name: put
INSERT INTO job (id, k, payload) VALUES (:id, :key, :payload);
-- name: claim
UPDATE job SET state = 1 WHERE id = (SELECT id FROM job WHERE state = 0 AND :per_key > 0 ORDER BY id LIMIT 1) RETURNING id, payload;
-- name: complete
UPDATE job SET state = 2 WHERE id = :id AND state = 1;
-- name: teardown
DROP TABLE job;
SQL
my @none = ('explore', '-s', spew('nolimit.sql', $none), '-d', 'sqlite:', '-q');
for my $case (['two workers', qr/^  key-limit +not tested: no more items of a key than its limit can be in hand: give --late with one more$/m],
    ['three workers, whose third item has another key', qr/^  key-limit +not tested: no more items/m, '--workers', 3],
    ['two late workers', qr/^  key-limit +not tested: no more items/m, '--workers', 1, '--late', 2],
    ['too few items', qr/^  key-limit +not tested/m, '--workers', 1, '--late', 3, '--items', 1],
    ['three late workers', qr/^  key-limit +violated/m, '--late', 3]) {
    my ($name, $verdict, @options) = @$case;
    (undef, $out) = lockbench(@none, @options);
    like($out, $verdict, "no limit at all: $name") or diag $out;
}
my ($repeated) = (lockbench(@none, '--late', 3, '--rounds', 2))[1] =~ /^  again: lockbench (.*?)\n$/ms;
is((lockbench(split ' ', ($repeated // '') =~ s/\n.*//sr))[0], 1, 'the command of a witness with late workers shows it again') or diag $repeated;
is((lockbench('verify', '-s', spew('larger.sql', $none =~ s/key-limit: 2/key-limit: 7/r), '-d', 'sqlite:', '-q', '--budget', '20s'))[0], 1,
    'a limit of 7: there are more workers of a key');
my $large = spew('large.sql', $none =~ s/key-limit: 2/key-limit: 60/r);
($status, $out) = lockbench('verify', '-s', $large, '-d', 'sqlite:', '-q', '--budget', '20s');
is($status, 5, 'a limit of 60 that no scenario reaches: inconclusive') or diag $out;
like($out, qr/^ok \d+ - nolimit sqlite keys key-limit # SKIP as many items of a key as the file allows were never in hand together$/m, '... with the reason');
like((lockbench('verify', '-s', $large, '-d', 'sqlite:', '--plan'))[1], qr/^ +- explore\+key at end +left out: its limit of a key is larger than/m, '... and what is left out');
my $choice = spew('choice.sql', $none =~ s/key-limit: 2/key-limit: per_key/r);
(undef, $out, my $said) = lockbench('verify', '-s', $choice, '-d', 'sqlite:', '-q', '--budget', '5s');
like($out, qr/^not ok \d+ - nolimit sqlite explore\+key at end key-limit$/m, 'an option that cannot be 1 is not set to 1') or diag $out, $said;
done_testing();
