#!/usr/bin/env perl
# Files that do the same and differ in words: one verdict, or the question which fact holds; never "held". A history says the
# same later, and a directive answers the question.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/pairs";
my $question = qr/line \d+: .*: write "-- \w+: \w+" or "-- \w+: \w+" into the header/;

# With a directive more.
sub with
{
    my ($name, $directive) = @_;
    my $text = slurp("$folder/$name.sql");
    $text =~ s/^(-- claims: .*)/$1\n-- $directive/m;
    return spew("$name.sql", $text);
}

# --- what is given back is never claimed again ---
my @back = ('-d', 'sqlite:', '-S', 'give-back', '--backlog', '40', '-q');
my ($status, $out, $err) = lockbench('run', '-s', "$folder/lossy-eq.sql", @back);
is($status, 1, 'run, no hint: violated');
($status, $out, $err) = lockbench('verify', '-s', "$folder/lossy-eq.sql", @back);
like($out, qr/^not ok \d+ - lossy-eq sqlite give-back no-loss$/m, 'verify, no hint: violated');

my @explored = ('explore', '-d', 'sqlite:', '-q', '-s');
($status, $out) = lockbench(@explored, "$folder/lossy-eq.sql");
is($status, 1, 'explore: an item is given back when all are through') or diag $out;
my ($again) = $out =~ /again: lockbench (explore .*)/;
($status) = lockbench(split ' ', $again // 'none');
is($status, 1, '... also when the schedule is replayed');
($status, $out) = lockbench(@explored, "$folder/lossy-lt.sql");
is($status, 5, '... with a hint: a question') or diag $out;
like($out, qr/^ +no-loss +not tested: $question/m, '... which is shown');

my $lt = "$folder/lossy-lt.sql";
my $kept = scratch() . "/lt";
($status, $out, $err) = lockbench('run', '-s', $lt, @back, '-o', $kept, '--keep-history');
is($status, 5, 'run, a hint at attempts: a question') or diag $out, $err;
like($out =~ s/\n\s+/ /gr, qr/no-loss: $question/, '... in the text');
unlike($out, qr/^lossy-lt +sqlite +held/m, '... and not held');
my ($history) = glob "$kept/*.lbh $kept/*/*.lbh";
($status, $out) = lockbench('check', $history);
is($status, 5, '... and by check of its history') or diag $out;
like($out =~ s/\n\s+/ /gr, qr/no-loss.*$question/, '... with the question');
($status, $out) = lockbench('run', '-s', $lt, @back, '--format', 'json');
my ($cell) = @{decode_json($out)->{cells}};
my $finding = $cell->{guarantees}{"no-loss"};
is("$cell->{verdict}, $finding->{verdict}", 'inconclusive, not tested', 'JSON: not tested');
like($finding->{reason}, qr/^$question$/, '... with the question');
($status, $out) = lockbench('run', '-s', $lt, @back, '--format', 'junit');
like($out, qr/no-loss.*\n?.*<skipped message="line \d+: an item may be tried /, 'JUnit: skipped, with the question');
($status, $out) = lockbench('verify', '-s', $lt, @back);
like($out, qr/^ok \d+ - lossy-lt sqlite give-back no-loss # SKIP $question$/m, 'TAP: SKIP, with the question');
is($status, 5, '... exit status');
($status) = lockbench('run', '-s', with('lossy-lt', 'attempts: unlimited'), @back);
is($status, 1, 'attempts: unlimited: violated');
($status, $out) = lockbench('run', '-s', with('lossy-lt', 'attempts: 1'), @back);
like($out, qr/no-loss: the items not claimed again had reached the attempt limit/, 'attempts: 1: the file says so, and it is not tested');

# --- a late release ends the successor's hold ---
my @late = ('-d', 'sqlite:', '--steps', 'clock', '-q');
for (['rel-plain', 1, qr/violated/], ['rel-audit', 5, qr/not tested: $question/]) {
    my ($name, $wanted, $verdict) = @$_;
    ($status, $out) = lockbench(@explored, "$folder/$name.sql");
    like($out, qr/^ +owner-release +not tested: no lease ends before a release: ask with --steps clock$/m, "explore $name: in no time, no release is late");
    ($status, $out) = lockbench('explore', '-s', "$folder/$name.sql", @late);
    is($status, $wanted, "explore $name: exit status") or diag $out;
    like($out, qr/^ +owner-release +$verdict/m, '... and the verdict');
    ($status, $out) = lockbench('run', '-s', "$folder/$name.sql", '-d', 'sqlite:', '-S', 'overrun', '--duration', '2s', '-q');
    is($status, 1, "run $name: a third worker is let in") or diag $out;
    unlike($out, qr/^$name +sqlite +held/m, '... not held');
}
($status, $out) = lockbench('explore', '-s', with('rel-audit', 'rows: shared'), @late);
is($status, 1, 'rows: shared: violated');
($status, $out) = lockbench('lint', "$folder/rel-audit.sql", $lt);
like($out, qr/rel-audit\.sql:\d+: warning: a release may .* write "-- rows: own"/, 'lint asks before');
like($out, qr/lossy-lt\.sql:\d+: warning: an item may be tried .* write "-- attempts: 1"/, '... for each file');

# --- an option beside a time may be a lease, or not: with one, holds may outlast it ---
sub without
{
    my ($name, $line) = @_;
    (my $text = slurp("$ENV{LB_SOURCE}/tests/strangers/$name.sql")) =~ s/^-- $line.*\n//m or die "$name has no $line";
    return spew("$name.sql", $text);
}
for (['clocks-lock', 'lease: lease_ms', 'exclusive', '-S', 'overrun', '--overrun', '0.9', '--duration', '1s'],
    ['failed-late', 'lease: expire_ms', 'no-duplicate', '-S', 'queue-overrun', '--duration', '1s', '--ttl', '100ms', '--hold', '150ms'],
    ['operator', 'limit: longest_ms', 'exclusive', '-S', 'overrun', '--overrun', '0.9', '--duration', '1s']) {
    my ($name, $line, $guarantee, @how) = @$_;
    ($status, $out) = until_shown(sub { return $_[0] == 5 }, 'run', '-s', without($name, $line), '-d', 'sqlite:', '-q', @how);
    is($status, 5, "$name without its lease: a question") or diag $out;
    like($out =~ s/\n\s+/ /gr, qr/$guarantee: line \d+: a hold may end by itself: write "-- $line" or /, '... about what the lease decides');
}
($status, $out) = lockbench('explore', '-s', without('fixed-lease', 'lease: fixed'), @late);
is($status, 5, 'a lease in a statement: a question') or diag $out;
like($out, qr/^ +exclusive +not tested: line \d+: a hold may end by itself: write "-- lease: fixed" or /m, '... with the line');
($status) = lockbench('explore', '-s', "$ENV{LB_SOURCE}/tests/strangers/fixed-lease.sql", @late);
is($status, 0, '... with the directive: held');

# --- what is stated must be right ---
for (['lossy-lt', 'attempts: many', 'is neither a number from 1, nor unlimited'], ['lossy-lt', 'rows: own', 'rows: is for a lock'],
    ['rel-audit', 'rows: theirs', 'is neither own, nor shared'], ['rel-audit', "rows: own\n-- rows: own", 'given twice \(line 4\)']) {
    my ($name, $directive, $message) = @$_;
    ($status, $out, $err) = lockbench('lint', with($name, $directive));
    is($status, 2, "$directive: refused");
    like($err, qr/\.sql:\d+: .*$message/, '... with the line');
}

($status, $out) = until_shown(sub { return $_[0] == 5 }, 'run', '-s', without('retried', 'limit: rescue_after_ms'), '-d', 'sqlite:', '-q',
    '-S', 'queue-rescue');
is($status, 5, 'items recovered from living workers, without the limit: a question') or diag $out;
like($out =~ s/\n\s+/ /gr, qr/no-duplicate: line \d+: a recovery may take what a living worker has: write "-- limit: rescue_after_ms" or /,
    '... about the limit');

# --- one run: what is not judged is named, and nowhere held ---
my $not_judged = scratch() . '/not-judged';
my %file = map { $_ => scratch() . "/not-judged.$_" } 'markdown', 'csv';
($status, $out) = lockbench('run', '-s', $lt, @back, '-o', $not_judged, '--format', 'text', map { ('--format', "$_:$file{$_}") } sort keys %file);
my ($stored) = glob "$not_judged/*";
like($out, qr/^claimed, and not tested: no-loss$/m, 'text names it');
$out = slurp($file{markdown});
like($out, qr/^- lossy-lt on sqlite, give-back: no-loss is not tested: line \d+: an item/m, 'Markdown: with the reason');
like($out, qr/\| inconclusive \|/, '... and the row is not held');
$out = slurp($file{csv});
my ($head, $row) = map { [split /,/, s/\r//r, -1] } split /\n/, $out;
my %field = map { $head->[$_] => $row->[$_] } 0 .. $#$head;
is("$field{verdict}: $field{not_tested}", 'inconclusive: no-loss', 'CSV: in its column');
($status, $out, $err) = lockbench('report', $stored, '-o', scratch() . '/page.html');
my $page = slurp(scratch() . '/page.html');
like($page, qr/"no-loss":\{"verdict":"not tested","expectation":"not tested",.*?"reason":"line \d+: an item may be tried/, 'the page: with the reason');
unlike($page, qr/"no-loss":\{"verdict":"held"/, '... and not held');
($status, $out) = lockbench('run', '-s', with('lossy-lt', 'attempts: unlimited'), @back, '--format', 'tap');
unlike($out, qr/SKIP/, 'TAP: no question where the file states the fact');

# --- two facts of times, by histories: the question, and what each directive answers ---
sub history
{
    my ($meta, @events) = @_;
    my @lines = map { sprintf '{"type":"%s","f":"%s","process":%s,"log":%d,"time":%d%s}', @$_[0, 1], $_->[1] eq 'item' ? '"nemesis"' : $_->[2], $_->[2], $_->[3] * 1_000_000, $_->[4] // '' } @events;
    unshift @lines, qq({"type":"info","f":"meta","process":"nemesis","time":0,"value":"$meta","events":) . @events . '}' if $meta ne '';
    return spew('fact.jsonl', join('', map { "$_\n" } @lines));
}

# One claims at 10 ms, an operator recovers what is older than `age`, and another claims again.
sub taken
{
    my ($more, $age) = @_;
    return history("shape=queue\\nresources=1\\nclaims=no-duplicate\\ndrained=0\\ncomplete=1\\n$more",
        ['invoke', 'put', 0, 1, ',"value":1'], ['ok', 'put', 0, 2, ',"value":1'],
        ['invoke', 'claim', 1, 9, ',"arg":1'], ['info', 'item', 1, 10, ',"value":1'], ['ok', 'claim', 1, 10, ',"value":1,"arg":1'],
        (defined $age ? (['invoke', 'recover', 2, 200, qq(,"arg":$age)], ['ok', 'recover', 2, 210]) : ()),
        ['invoke', 'claim', 3, 220, ',"arg":1'], ['info', 'item', 3, 221, ',"value":1'], ['ok', 'claim', 3, 221, ',"value":1,"arg":1']);
}
my $limit = 'doubt_limit=0 asked line 9: a recovery may take what a living worker has: write \\"-- limit: a\\" or \\"-- limit: none\\"\\n';
for (['the limit is over', '', 100, 0], ['... is not', '', 1000, 1], ['... is over, as far as is known', $limit, 100, 5],
    ['... is not, as far as is known', $limit, 1000, 5], ['no operator', $limit, undef, 1])
{
    my ($what, $more, $age, $wanted) = @$_;
    ($status, $out, $err) = lockbench('check', taken($more, $age));
    is($status, $wanted, "a recovery: $what") or diag $out, $err;
    like($out, qr/^no-duplicate +not tested.*"-- limit: a" or/m, '... with the question') if $wanted == 5;
}

# A lease of 2 s from 10 ms on, and another grant.
sub granted
{
    my ($more, $at) = @_;
    return history("shape=lock\\nresources=1\\nlease=1\\nclaims=exclusive\\ncomplete=1\\nend_ns=5000000000\\n$more",
        ['invoke', 'acquire', 1, 9, ',"object":0'], ['ok', 'acquire', 1, 10, ',"object":0,"arg":2000'],
        ['invoke', 'acquire', 2, $at, ',"object":0'], ['ok', 'acquire', 2, $at + 1, ',"object":0,"arg":2000']);
}
my $clock = 'doubt_clock=1000 asked line 9: it may: write \\"-- precision: seconds\\" or \\"-- precision: fine\\"\\n';
for (['early', '', 1500, 1], ['early, by whole seconds', 'tick_ms=1000\\n', 1500, 0], ['early, by what may be whole seconds', $clock, 1500, 5],
    ['much too early', $clock, 500, 1], ['in time', $clock, 2100, 0])
{
    my ($what, $more, $at, $wanted) = @$_;
    ($status, $out, $err) = lockbench('check', granted($more, $at));
    is($status, $wanted, "a lease ends $what") or diag $out, $err;
    like($out, qr/^exclusive +not tested.*"-- precision: seconds" or/m, '... with the question') if $wanted == 5;
}

done_testing();
