#!/usr/bin/env perl
# The outputs of a run: text, json, jsonl, csv, tap, and a stored result.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($lock, $door, $queue) = (good_lock(), open_door(), good_queue());
my @short = ('--duration', '10m', '--count', '40', '--hold', '1ms', '--quiet', '--seed', '42');
my @locks = ('-s', "$lock,$door", @short, '--warmup', '0');
my @drain = ('-s', $queue, '--backlog', '60', '--quiet');
my $scratch = scratch();

# --- text
my ($status, $out, $err) = lockbench('compare', '--repeat', '1', @locks);
is($status, 1, 'text: a violation is exit status 1') or diag $err;
is($err, '', 'text: --quiet is quiet');
like($out, qr/^lockbench \S+: seed 42, 1 run per cell, \d+ cores/, 'text: seed and machine');
like($out, qr/^sqlite: SQLite at sqlite:; version=3\./m, 'text: the engine and its settings');
like($out, qr/^mutex-hot: what is the price of one lock/m, 'text: the question');
like($out, qr/workers 8,.*hold 1ms,.*duration\s+10m,\s+count\s+40/s, 'text: the configuration as run');
like($out, qr/^good-lock +sqlite +held +\S+ +\S+ /m, 'text: the good lock');
like($out, qr/^open-door +sqlite +VIOLATED exclusive +\S+/m, 'text: the open door');
like($out, qr/^VIOLATED open-door on sqlite, mutex-hot\n +exclusive, \d+ times in \d+: \S+ .*worker/m,
    'text: a sentence about the violation');
my ($again) = $out =~ /^  again: lockbench (.*)$/m;
like($again, qr/^run -s \S+open-door\.sql -d sqlite: -S mutex-hot --hold 1ms --duration 10m --count 40 --warmup 0 --seed 42$/,
    'text: the command that repeats it');
is((lockbench(split(/ /, $again), '--quiet'))[0], 1, 'text: and it does');
unlike($out, qr/\e/, 'text: no escape sequences where there is no terminal');
unlike($out, qr/[ \t]$/m, 'text: no blanks at the ends of lines');

($status, $out, $err) = lockbench('run', '-s', $lock, '--duration', '10m', '--count', '10', '--warmup', '0');
is($status, 0, 'text: as claimed is exit status 0');
like($err, qr{\A\[1/1\] good-lock sqlite mutex-hot: held, \S+/s\n\z}, 'progress: a plain line per run');

# --- json
($status, $out) = lockbench('compare', @locks, '--format', 'json', '--repeat', '2');
is($status, 1, 'json: exit status');
my $json = decode_json($out);
is($json->{schema}, 'lockbench-result', 'json: the schema');
is($json->{schema_version}, 2, 'json: its version');
is($json->{seed}, 42, 'json: the seed');
is(scalar @{$json->{cells}}, 2, 'json: two cells');
my ($good, $bad) = @{$json->{cells}};
is($good->{strategy} . '/' . $good->{verdict}, 'good-lock/held', 'json: the good lock');
is($good->{config}{hold_ns}, 1000000, 'json: the configuration has units');
is(scalar @{$good->{runs}}, 2, 'json: all runs');
is(join(' ', map { $_->{seed} } @{$good->{runs}}), '42 43', 'json: the seeds of the runs');
for my $run (@{$good->{runs}}) {
    my $acquire = $run->{operations}{acquire};
    my $answers = 0;
    $answers += $_ for values %{$acquire->{answers}};
    is($answers, $acquire->{attempts}, 'json: attempts are the sum of the answers');
    is($acquire->{started}, $acquire->{finished} + $acquire->{censored}, 'json: started');
    is($acquire->{service}{count}, $acquire->{succeeded}, 'json: the histogram counts successes');
    my $sum = 0;
    $sum += $_ for @{$run->{worker_successes}};
    is($sum, $acquire->{succeeded}, 'json: successes of the workers');
    is($run->{live_witness}{agrees_with_history}, JSON::PP::true, 'json: the witnesses agree');
}
my ($low, $high) = sort { $a <=> $b } map { $_->{successes_per_s} } @{$good->{runs}};
cmp_ok(abs($good->{summary}{successes_per_s} - ($low + $high) / 2), '<', 1e-3,
    'json: the summary is the median');
is($good->{summary}{p999_ns}, undef, 'json: too few samples are null');
is($bad->{guarantees}{exclusive}{expectation}, 'broken', 'json: the open door is broken');
my $witness = $bad->{guarantees}{exclusive}{witnesses}[0];
cmp_ok(scalar @{$witness->{operations}}, '>=', 2, 'json: a witness has its operations');
like($witness->{text}, qr/worker \d+/, 'json: and its sentence');

# --- an open loop tells its plan, and how late it was itself
my @open_loop = ('run', '-s', $lock, '--duration', '400ms', '--warmup', '0', '--rate', '200/s', '--quiet');
my $is_late = sub { return $_[1] =~ /"wake_late": *\{[^}]*"count": *[1-9]/ }; # not where the machine stood still all the while
($status, $out) = until_shown($is_late, @open_loop, '--format', 'json');
my $run = decode_json($out)->{cells}[0]{runs}[0];
my ($loop, $acquire) = ($run->{open_loop}, $run->{operations}{acquire});
is("$loop->{planned} $loop->{skipped}", "$acquire->{planned} $acquire->{skipped}", 'open loop: planned and skipped');
cmp_ok(abs($loop->{due} - 200 * $run->{elapsed_ns} / 1e9), '<=', 1, 'open loop: what the schedule had, to the arrival');
cmp_ok(abs($loop->{planned_per_s} - $loop->{planned} * 1e9 / $run->{elapsed_ns}), '<', 1e-3, 'open loop: what of it was taken up');
cmp_ok(abs($loop->{achieved_per_s} - $acquire->{succeeded} * 1e9 / $run->{elapsed_ns}), '<', 1e-3, 'open loop: the achieved rate');
cmp_ok($loop->{wake_late}{count}, '>', 0, 'open loop: the error of the pacing');
is($good->{runs}[0]{open_loop}, undef, 'open loop: of a closed one there is none');
my $says_late = qr/Free\s+workers\s+began\s+\S+\s+\S+\s+late\s+\(p50;/;
($status, $out) = until_shown(sub { return $_[1] =~ $says_late }, @open_loop);
like($out, qr/^open loop: good-lock on sqlite, mutex-hot: \S+\s+arrivals\/s\s+were\s+scheduled,\s+\S+\/s\s+taken\s+up/m, 'open loop: in words');
like($out, $says_late, 'open loop: the pacing in words');

# --- jsonl
($status, $out) = lockbench('compare', '--repeat', '1', @locks, '--format', 'jsonl');
my @lines = map { decode_json($_) } split /\n/, $out;
is(scalar @lines, 3, 'jsonl: a header and a line per cell');
is($lines[0]{schema}, 'lockbench-result', 'jsonl: the header');
is($lines[2]{strategy}, 'open-door', 'jsonl: a cell');

# --- csv
($status, $out) = lockbench('compare', @locks, '--format', 'csv', '--repeat', '2');
my @rows = map { [split /,/, s/\r//r, -1] } split /\n/, $out;
is(scalar @rows, 5, 'csv: a header and a row per run');
is((grep { @$_ != @{$rows[0]} } @rows), 0, 'csv: all rows are as long as the header');
my %row;
@row{@{$rows[0]}} = @{$rows[1]};
is("$row{strategy} $row{verdict} $row{run} $row{seed} $row{hold}", 'good-lock held 1 42 1ms', 'csv: a row');

# --- tap
($status, $out, $err) = lockbench('verify', @locks);
is($status, 1, 'tap: exit status of not ok');
my $failed = qr/open-door sqlite mutex-hot exclusive/;
like($err, qr/^# not ok: $failed\n#   worker [^\n]* together\n#   again: lockbench run -s [^\n]*open-door[^\n]*\n\z/m,
    'tap: what failed is on standard error, where prove shows it');
is(() = $err =~ /^# not ok/mg, 1, 'tap: once');
{
    local $ENV{GITHUB_ACTIONS} = 'true';
    my $name = spew('100%door.sql', slurp($door));
    (undef, undef, $err) = lockbench('verify', '-s', $name, @short);
    like($err, qr/^::error file=[^:]*%25door\.sql::$failed: worker [^\n]* together; again: [^\n]*100%25door\.sql[^\n]*$/m,
        'tap: an annotation in a workflow of GitHub');
}
(undef, undef, $err) = lockbench('verify', '-s', $lock, @short);
is($err, '', 'tap: nothing is there when nothing failed');
like($out, qr/\ATAP version 13\n/, 'tap: its version');
like($out, qr/^ok 1 - good-lock sqlite mutex-hot exclusive\n  ---\n/m, 'tap: ok, with numbers below');
like($out, qr/^not ok 3 - open-door sqlite mutex-hot exclusive\n  ---\n/m, 'tap: not ok');
like($out, qr/^  message: ".*worker.*"\n/m, 'tap: the witness');
like($out, qr/^1\.\.3\n\z/m, 'tap: the plan');
unlike($out, qr/^(?:not )?ok .*no-loss/m, 'tap: what is not claimed has no line');
spew('out.tap', $out);
my $prove = `prove --exec cat $scratch/out.tap 2>&1`;
like($prove, qr/Failed 1\/3 subtests/, 'tap: prove reads it') or diag $prove;

($status, $out) = lockbench('verify', '-s', $lock, @short, '--capacity', '2');
is($status, 5, 'tap: nothing to run is exit status 5');
like($out, qr/\ATAP version 13\n1\.\.0 # SKIP good-lock admits one holder/, 'tap: and the reason');
($status, $out) = lockbench('verify', '-s', $lock, '-d', 'postgresql://127.0.0.1:1/x', '--quiet');
is($status, 3, 'tap: no server is exit status 3');
like($out, qr/\ATAP version 13\nBail out! cannot connect/, 'tap: bails out');

# --- several
my $xml = scratch() . '/deep/er/out.xml';
($status, $out, $err) = lockbench('verify', @locks, '--format', "junit:$xml", '--format', 'csv:' . scratch() . '/out.csv');
is($status, 1, 'several: exit status') or diag $err;
like($out, qr/\ATAP version 13\n.*^1\.\.3\n\z/ms, 'several: the usual format goes to standard output');
like(slurp($xml), qr{<testsuites .* tests="3" failures="1".*</testsuites>\n\z}s, 'several: a file, in folders that were not there');
is(scalar(() = slurp(scratch() . '/out.csv') =~ /\n/g), 3, 'several: and another');
is_deeply([glob scratch() . '/deep/er/*'], [$xml], 'several: nothing beside it');
($status, $out) = lockbench('run', '-s', $lock, @short, '--format', 'json', '--format', 'text:' . scratch() . '/out.txt');
is($status, 0, 'several: json to standard output');
is(decode_json($out)->{cells}[0]{name} // decode_json($out)->{cells}[0]{strategy}, 'good-lock', '... whole');
like(slurp(scratch() . '/out.txt'), qr/^good-lock +sqlite +held/m, '... and text to a file');
my $before = slurp($xml);
# One file has many names, whether it is there or not.
my $one = scratch() . '/new/one';
my @spellings = (scratch() . '/new//one', scratch() . '/./new/one', scratch() . '/new/./one');
for my $case ([['--format', 'json', '--format', 'csv'], 2, 'json and csv cannot both go to standard output; write one to a file: --format csv:FILE'],
    [['--format', "json:$xml", '--format', "csv:$xml"], 2, "json and csv cannot both go to $xml"],
    (map { [['--format', "json:$one", '--format', "csv:$_"], 2, "json and csv cannot both go to $_"] } @spellings),
    [['--format', 'jsn:x'], 2, "unknown format 'jsn:x'"], [['--format', 'json:'], 2, "'json:' names no file"],
    [['--format', "junit:$xml", '--format', 'json:/proc/x/y'], 3, 'option --format: cannot '])
{
    my ($options, $expected, $says) = @$case;
    ($status, undef, $err) = lockbench('verify', '-s', $lock, @short, @$options);
    is($status, $expected, "several: @$options");
    like($err, qr/\Alockbench: [^\n]*\Q$says\E[^\n]*\n\z/, '... in one line');
}
is(slurp($xml), $before, '... and no file was touched');
is_deeply([glob scratch() . '/deep/er/*'], [$xml], '... nor anything left beside it');
($status, undef, $err) = lockbench('verify', '-s', $lock, @short, '--format', 'json:/dev/full');
is($status, 3, 'several: a full disk is exit status 3');
like($err, qr{\Alockbench: [^\n]*/dev/full[^\n]*No space left[^\n]*\n\z}, '... in one line');

# --- a queue
($status, $out) = lockbench('run', @drain);
is($status, 0, 'a queue') or diag $out;
like($out, qr/^good-queue +sqlite +held/m, 'a queue: held');
($status, $out) = lockbench('verify', @drain);
is($status, 0, 'a queue: verify') or diag $out;
like($out, qr/^ok \d+ - good-queue sqlite drain $_$/m, "a queue: $_") for qw(no-duplicate no-loss bounded-claim);

# --- what a scenario proves itself
my @chunks = ('-S', 'chunked-update', '--rows', '400', '--backlog', '40', '--error', '0', '--quiet');
($status, $out) = lockbench('verify', '-s', 'skip-locked', @chunks);
is($status, 0, 'a proof') or diag $out;
like($out, qr/^ok 5 - skip-locked sqlite chunked-update chunks\n  ---\n  meaning: "claimed and held"\n  message: "[^"]*sum 400 /m,
    'a proof: a line of TAP');
(my $losing = slurp($queue)) =~ s/good-queue/losing-queue/;
$losing =~ s/(-- name: claim\n)/$1UPDATE good_queue SET state = 'done' WHERE id = 7 AND state = 'new';\n/;
$losing = spew('losing.sql', $losing =~ s/-- claims: .*/-- claims: no-duplicate/r);
($status, $out) = lockbench('verify', '-s', $losing, @chunks);
is($status, 1, 'a proof that fails, while every guarantee holds');
like($out, qr/^not ok 2 - losing-queue sqlite chunked-update chunks\n  ---\n.*\n  message: "[^"]*10 never updated/m, 'a proof that fails: TAP');
($status, $out) = lockbench('run', '-s', $losing, @chunks, '--format', 'csv');
@rows = map { [split /,/, s/\r//r, -1] } split /\n/, $out;
@row{@{$rows[0]}} = @{$rows[1]};
is("$row{verdict} $row{violated} $row{proof} $row{proven}", 'violated chunks chunks violated', 'a proof that fails: csv');
($status, $out) = lockbench('run', '-s', $losing, @chunks);
like($out, qr/^losing-queue +sqlite +VIOLATED chunks /m, 'a proof that fails: text');

# --- junit
my @junit = ('--format', 'junit');
($status, $out) = lockbench('verify', '-s', "$lock,$door,none", @short, @junit);
is($status, 1, 'junit: exit status');
like($out, qr{^<testsuites name="lockbench verify .*" tests="4" failures="1" errors="0" skipped="0">$}m, 'junit: the sums');
like($out, qr{^    <testcase classname="sqlite\.mutex-hot\.good-lock" name="exclusive" time="[0-9.]+"/>$}m, 'junit: a case');
like($out, qr{^    <testcase classname="sqlite\.mutex-hot\.open-door" name="exclusive" time="[0-9.]+">
      <failure message="exclusive: claimed but violated: worker [^"]*">worker .*Again: lockbench run .*</failure>$}m, 'junit: a failure');
like($out, qr{^    <testcase classname="memory\.mutex-hot\.none" name="exclusive" time="[0-9.]+"/>$}m, 'junit: a control that was caught');
# A file's lines that allow what was found, and the change: for editors and servers, too.
my $with_lines = scratch() . '/lines.json';
($status, $out, $err) = lockbench('verify', '-s', "$ENV{LB_SOURCE}/tests/strangers/chosen-again.sql", '--opt', 'look=any', '--budget', '4s', '--format', 'junit',
    '--format', "json:$with_lines", '--output', scratch() . '/kept');
like($out, qr{<failure message="no-loss: [^"]*">item 2 .*\n\S+/chosen-again\.sql:27: SELECT id FROM task .*\n(?:\S+\.sql:\d+: .*\n)+The fix: no claim finds}, 'junit: the lines, and the fix')
    or diag $out, $err;
my @hints = grep { defined } map { $_->{guarantees}{'no-loss'}{hint} } @{ decode_json(slurp($with_lines))->{cells} };
is(scalar @hints, 1, 'json: one hint on a guarantee');
like($hints[0]{path}, qr/chosen-again\.sql$/, '... with the file');
is($hints[0]{lines}[0]{line}, 27, '... its line');
like($hints[0]{lines}[0]{text}, qr/^SELECT id FROM task/, '... and its text');
like($hints[0]{fix}, qr/^no claim finds/, '... and the fix');
my ($kept) = glob(scratch() . '/kept/*/run.json');
is(scalar(() = slurp($kept) =~ /"hint" ?: ?\{/g), 1, '... the stored result has it as well');
like((lockbench('verify', '-s', $losing, @chunks, @junit))[1],
    qr{name="chunks" time="[0-9.]+">\n      <failure message="chunks: claimed but violated: not [^"]*">not every row .*10 never updated}, 'junit: a proof');
like((lockbench('verify', '-s', $lock, @short, '--capacity', '2', @junit))[1],
    qr{tests="1" failures="0" errors="0" skipped="1".*<skipped message="good-lock admits one holder}s, 'junit: a skip');
my @broken = lockbench('verify', '-s', $lock, '-d', 'postgresql://127.0.0.1:1/x&<"', '--quiet', @junit);
is($broken[0], 3, 'junit: no server');
like($broken[1], qr{errors="1".*<error message="cannot connect}s, 'junit: an error');
SKIP: {
    skip 'no xmllint', 2 if system('xmllint --version >/dev/null 2>&1') != 0;
    for my $text ($out, $broken[1]) {
        my $file = spew('junit.xml', $text);
        is(system("xmllint --noout $file"), 0, 'junit: well-formed');
    }
}

# --- a stored result
($status, $out) = lockbench('run', '-s', $lock, @short, '-o', "$scratch/results", '--keep-history');
is($status, 0, 'stored: exit status');
my ($directory) = $out =~ /^stored in (\S+)$/m;
like($directory, qr{/results/\d{8}T\d{6}Z-good-lock-sqlite-mutex-hot$}, 'stored: the name');
is_deeply([sort map { s{.*/}{}r } glob "$directory/*"],
    ['acquire.hgrm', 'history.lbh', 'intervals.jsonl', 'latency.hlog', map({ "report.$_" } 'csv', 'md', 'txt', 'xml'),
        'run.json'], 'stored: the files');
my $stored = decode_json(slurp("$directory/run.json"))->{cells}[0];
is($stored->{strategy}, 'good-lock', 'stored: run.json');
is($stored->{runs}[0]{history}, 'history.lbh', 'stored: it names the history');
my $waits = $stored->{runs}[0]{operations}{acquire}{service};
like(slurp("$directory/acquire.hgrm"), qr/ 1\.0{12} +$waits->{count}\n.*^#\[Max .* Total count += +$waits->{count}\]$/ms,
    'stored: the percentiles of all waits');
($status, $out) = lockbench('compare', '-s', $lock, '--hold', '0,1ms', '--rate', '100/s', '--count', '5', '--duration',
    '10m', '--warmup', '0', '--repeat', '2', '-o', "$scratch/cells");
is(join(' ', sort map { s{.*/}{}r } glob "$scratch/cells/*/*.hgrm"), join(' ',
        map { "acquire$_.hgrm" } '-1-good-lock-sqlite-mutex-hot_hold_0_', '-2-good-lock-sqlite-mutex-hot_hold_1ms_',
        '-response-1-good-lock-sqlite-mutex-hot_hold_0_', '-response-2-good-lock-sqlite-mutex-hot_hold_1ms_'),
    'stored: of each cell, from both starts');
cmp_ok(-s "$directory/history.lbh", '>', 65536, 'stored: the history');
is_deeply([grep { m{/\.[^.]} } glob "$scratch/results/.* $scratch/results/*"], [], 'stored: nothing temporary');
($status, $out) = lockbench('run', '-s', $lock, @short, '-o', "$scratch/results") for 1, 2;
is(scalar(@{[glob "$scratch/results/*/run.json"]}), 3, 'stored: the same second twice');

# --- output that cannot be written
SKIP: {
    skip 'no /dev/full', 1 if !-w '/dev/full';
    my @command = map { quotemeta } $ENV{LOCKBENCH}, 'run', '-s', $lock, @short;
    my $text = `@command 2>&1 >/dev/full`;
    is($? >> 8, 3, 'a full disk is exit status 3');
    like($text, qr/^lockbench: standard output: /, 'and is told');
}

done_testing();
