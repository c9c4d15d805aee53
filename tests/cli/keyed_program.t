#!/usr/bin/env perl
# Programs whose first line asks for attributes of items: the queue of examples/programs/queue.py with limits of keys, unique jobs,
# priorities, a rate and tenants holds; without the clause that keeps the promise it does not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

plan skip_all => 'no python3 here' if system('python3 -c "import sqlite3" 2>/dev/null') != 0;
my $example = slurp("$ENV{LB_SOURCE}/examples/programs/queue.py");
my $one_of_key = " AND NOT EXISTS (SELECT 1 FROM job AS taken WHERE taken.key = job.key AND taken.state = 'taken')";
my $unfinished = " AND state IN ('ready', 'taken')";
my %attributes = (
    keyed => '"attributes": ["key", "unique_key"], "key_limit": 1, "unique": "until-done"',
    urgent => '"attributes": ["priority", "tenant", "due"], "priority": "highest-first"',
    paced => '"rate": 4, "rate_ms": 300',
    fair => '"attributes": ["tenant"], "share": 0.5');
my %claimed = (keyed => '"key-limit", "unique"]', urgent => '"priority"]', paced => '"rate"]', fair => '"share"]');
my $now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"; # may be 1 too small

# The example with columns for the attributes. put: what a refusal looks at besides the unique key; undef: nothing is refused.
sub program
{
    my ($kind, $name, %sql) = @_;
    my $text = $example;
    my $change = sub { my ($from, $to) = @_; $text =~ s/\Q$from\E/$to/ or die "queue.py has no $from\n" };
    $change->('"strategy": "queue-py"', "\"strategy\": \"$name\", $attributes{$kind}");
    $change->('"owner-release"]', '"owner-release", ' . $claimed{$kind});
    $change->('payload TEXT)', 'payload TEXT, key TEXT, unique_key TEXT, priority INTEGER)');
    $change->("'ready' ORDER BY id", "'ready'" . ($sql{claim} // '') . ' ORDER BY ' . ($sql{order} // '') . 'id');
    my $refuses = defined $sql{put} ? "WHERE NOT EXISTS (SELECT 1 FROM job WHERE unique_key = ?4$sql{put})" : '';
    $text =~ s/        self\.db\.execute\(\n\s+"INSERT INTO job .*\n\s+\)\n        return \{"ok": True\}\n/<<"PY"/e or die 'queue.py has no INSERT';
        done = self.db.execute(
            "INSERT INTO job (id, payload, key, unique_key, priority) SELECT ?1, ?2, ?3, ?4, ?5 $refuses",
            (request["item"], request["payload"], request.get("key", request.get("tenant")), request.get("unique_key"), request.get("priority")),
        )
        return {"ok": True} if done.rowcount == 1 else {"refused": True}
PY
    my $path = spew("$name.py", $text);
    chmod 0755, $path;
    return $path;
}

my @patient = ('-d', 'sqlite:', '--format', 'json', '--opt', 'start_ms=600000', '--opt', 'answer_ms=600000', '--ttl', '10m');
my @drain = (@patient, '-S', 'drain', '--backlog', 100, '--workers', 3, '--warmup', 0, '--duration', '10m', '--progress-bound', '10m');
my @few_keys = (@drain, '--hold', '3ms', '--keys', 2, '--unique', '0.3');
my @three = (@drain, '--hold', '1ms', '--priority', '0:0.4,1:0.3,-9:0.3');

my @crowd = (@patient, '-S', 'drain', '--backlog', 14, '--workers', 3, '--hold', '1ms', '--poll-max', '5ms', '--duration', '10m');
my @tenants = (@drain, '--backlog', 600, '--tenants', 'hot:0.8,small:2');

# The verdicts of a run, until the guarantee was tested.
sub verdicts
{
    my ($guarantee, @run) = @_;
    my $found = sub { eval { decode_json($_[1])->{cells}[0]{guarantees} } // {} };
    my ($status, $out, $err) = until_shown(sub { ($found->(@_)->{$guarantee}{verdict} // '') ne 'not tested' }, 'run', @run);
    my $all = $found->($status, $out);
    return ($status, { map { $_ => $all->{$_}{verdict} } keys %$all }, $err);
}

my %right = (
    keyed => program('keyed', 'keyed-right', claim => $one_of_key, put => $unfinished),
    urgent => program('urgent', 'urgent-right', order => 'priority DESC, '),
    paced => program('paced', 'paced-right', claim => " AND (SELECT count(*) FROM job WHERE since > $now - 310) < 4"),
    fair => program('fair', 'fair-right', claim => " AND id IN (SELECT min(id) FROM job WHERE state = 'ready' GROUP BY key)",
        order => "(SELECT count(*) FROM job AS served WHERE served.key = job.key AND served.state <> 'ready'), "));
for my $case (
    ['keyed', 'key-limit', \@few_keys, ['no limit of its keys', put => $unfinished]],
    ['keyed', 'unique', \@few_keys, ['no job is refused', claim => $one_of_key],
        ['a job is refused for one that is done', claim => $one_of_key, put => '']],
    ['urgent', 'priority', \@three, ['the oldest first'], ['the least urgent first', order => 'priority, ']],
    ['paced', 'rate', \@crowd, ['no limit']],
    ['fair', 'share', \@tenants, ['by the name of the tenant', order => 'key, ']],
    )
{
    my ($kind, $guarantee, $run, @broken) = @$case;
    # A backlog is put before any job is done.
    my @asked = $guarantee eq 'unique' ? (@patient, '-S', 'steady', '--unique', '0.9', '--hold', 0, '--duration', '1s') : @$run;
    my ($status, $verdicts, $err) = verdicts($guarantee, '-s', $right{$kind}, @asked);
    is($status, 0, "$guarantee: as it claims") or diag $err, explain $verdicts;
    is($verdicts->{$guarantee}, 'held', "... $guarantee is held");
    for my $one (@broken) {
        my ($what, %sql) = @$one;
        ($status, $verdicts, $err) = verdicts($guarantee, '-s', program($kind, 'broken', %sql), @asked);
        is($status, 1, "$guarantee, $what: caught") or diag $err;
        is_deeply([grep { $verdicts->{$_} eq 'violated' } sort keys %$verdicts], [$guarantee], '... this guarantee alone')
            or diag explain $verdicts;
    }
}

my ($status, $out, $err) = lockbench('verify', '-s', $right{keyed}, '-d', 'sqlite:', '--plan');
like($out, qr/ keys .*it claims key-limit.* unique .*it claims unique/s, 'verify asks for keys and unique jobs');
unlike($out, qr/ priorities /, '... and for no priorities');
($status, $out) = lockbench('verify', '-s', $right{urgent}, '-d', 'sqlite:', '--plan');
like($out, qr/ priorities .*it claims priority/, 'verify asks for priorities');
($status, $out) = lockbench('verify', '-s', $right{paced}, '-d', 'sqlite:', '--plan');
like($out, qr/ rate .*it claims rate/, 'verify puts a crowd at a rate');
($status, $out) = lockbench('verify', '-s', $right{fair}, '-d', 'sqlite:', '--plan');
like($out, qr/ shares .*it claims share/, 'verify asks for tenants');
($status, $out, $err) = lockbench('run', '-s', $right{urgent}, '-d', 'sqlite:', '-S', 'drain', '--keys', 3);
is($status, 2, '--keys of a program without keys');
like($err, qr/--keys: has no effect on urgent-right/, '... is refused with the reason');

($status, $out, $err) = lockbench('record', '-s', $right{urgent}, '-d', 'sqlite:', '-o', scratch() . '/urgent.sql');
isnt($status, 0, 'record of a program with attributes');
like($err, qr/urgent-right\.py has "attributes"/, '... is refused with the reason');

# --- bad input: one line, status 2 ---
for my $case (
    ['an unknown attribute', 'keyed', sub { s/"unique_key"\]/"colour"]/ }, qr/"attributes": not one of key, .*"colour"/],
    ['no list', 'keyed', sub { s/"attributes": \[[^]]*\]/"attributes": "key"/ }, qr/"attributes" must be a list/],
    ['a limit of 0', 'keyed', sub { s/"key_limit": 1/"key_limit": 0/ }, qr/"key_limit" must be a whole number from 1/],
    ['no limit', 'keyed', sub { s/"key_limit": 1, // }, qr/"key_limit" must be .*as it claims key-limit/],
    ['no unique_key', 'keyed', sub { s/, "unique_key"\]/]/ }, qr/it has "unique", and "attributes" lacks "unique_key"/],
    ['another word', 'keyed', sub { s/until-done/for-ever/ }, qr/"unique" must be "until-done" or "until-claimed"/],
    ['no order', 'urgent', sub { s/, "priority": "highest-first"// }, qr/"priority" must be .*as it claims priority/],
    ['a word for due', 'urgent', sub { s/"priority": "h/"due": "soon", "priority": "h/ }, qr/"due" must be "later" or "at-once"/],
    ['no rate', 'urgent', sub { s/"priority"\]/"rate"]/ }, qr/"rate" must be a whole number from 1, of a queue, .*as it claims rate/],
    ['no time', 'paced', sub { s/, "rate_ms": 300// }, qr/"rate" must be .*"rate_ms" too, as it claims rate/],
    ['a share above 1', 'fair', sub { s/0\.5/1.5/ }, qr/"share" must be a number above 0 and at most 1, as it claims share/],
    ['no tenant', 'fair', sub { s/\["tenant"\]/[]/ }, qr/it has "share", and "attributes" lacks "tenant"/],
    ['a rate that is pushed', 'paced', sub { s/"rate": 4/"mode": "push", "rate": 4/; s/, "recover"// }, qr/a queue that pushes cannot claim "rate"/],
    )
{
    my ($what, $kind, $how, $pattern) = @$case;
    local $_ = slurp($right{$kind});
    $how->();
    my $path = spew('bad.py', $_);
    chmod 0755, $path;
    ($status, $out, $err) = lockbench('lint', $path);
    is($status, 2, $what) or diag "$out$err";
    like($err, $pattern, '... and the reason');
}

done_testing();
