#!/usr/bin/env perl
# A table of faults and advice: each file has one fault, and `verify` names it, quotes the lines that
# take part, and no advice for another fault. Explored on SQLite, so chance has no part in it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my %queue = (
    setup => <<'SQL',
CREATE TABLE job (id integer PRIMARY KEY, body text, state int DEFAULT 0, since_ms bigint DEFAULT 0, due_ms bigint DEFAULT 0, n int DEFAULT 0);
SQL
    put => 'INSERT INTO job (id, body) VALUES (:id, :payload);',
    claim => 'UPDATE job SET state = 1, since_ms = :now, n = n + 1 WHERE id = (SELECT min(id) FROM job WHERE state = 0) RETURNING id, body AS payload, n AS token;',
    complete => 'UPDATE job SET state = 2 WHERE id = :id AND n = :token AND state = 1;',
    recover => 'UPDATE job SET state = 0 WHERE state = 1 AND since_ms < :now - :stale_ms;');
my %lease = (%queue, recover => undef,
    claim => 'UPDATE job SET state = 1, since_ms = :now + :lease_ms, n = n + 1 WHERE id = (SELECT min(id) FROM job WHERE state = 0 OR state = 1 AND since_ms < :now) RETURNING id, body AS payload, n AS token;');
my %lock = (
    setup => 'CREATE TABLE held (name varchar(64) PRIMARY KEY, owner varchar(64), until_ms bigint);',
    resource => 'INSERT INTO held (name) VALUES (:resource);',
    acquire => 'UPDATE held SET owner = :worker, until_ms = :now + :lease_ms WHERE name = :resource AND (owner IS NULL OR until_ms < :now);',
    release => 'UPDATE held SET owner = NULL, until_ms = NULL WHERE name = :resource AND owner = :worker;');

sub file
{
    my ($name, $shape, $option, %section) = @_;
    my $claims = $shape eq 'lock' ? 'exclusive, owner-release, recovery' : 'no-duplicate, no-loss, owner-release, recovery';
    $claims =~ s/, recovery// if $section{cancel} || $section{sweep};
    return spew("$name.sql", join "\n", "-- strategy: $name", "-- shape: $shape", "-- claims: $claims", "-- option: $option = 60000",
        map { ("-- name: $_", $section{$_}) } grep { defined $section{$_} }
            qw(setup put resource), 'claim', 'claim tx=one begin=immediate', qw(acquire renew complete release recover free retry error clear-all-errors sweep unregister enqueue), 'enqueue tx=one begin=immediate', 'cancel');
}

my @moves = ('-- require: row', 'DELETE FROM ready WHERE id = (SELECT min(id) FROM ready) RETURNING id, payload;',
    'INSERT INTO works (id, payload, worker, since_ms) VALUES (:id, :payload, :worker, :now) RETURNING id, payload;');
my $parted = join "\n", '-- require: row', '-- answer: row',
    'UPDATE job SET state = 1, n = n + 1 WHERE id = (SELECT min(id) FROM job WHERE state = 0) RETURNING id, body AS payload, n AS token;',
    'UPDATE job SET since_ms = :now WHERE id = :id AND n = :token;';

# name, shape, option, guarantee, the beginnings of the lines that are quoted, what happened, the advice, sections
my @table = (
    ['copied', 'queue', 'stale_ms', 'no-duplicate',
        ['INSERT INTO ready (id, payload) SELECT', 'DELETE FROM works WHERE since_ms', 'DELETE FROM works WHERE id'],
        qr/ completed at \S+ ms, and claimed again by worker \d.*; recover ran at /,
        'recover finds items in one statement and puts them back in another, and an item that is completed in between comes back',
        setup => "CREATE TABLE ready (id bigint PRIMARY KEY, payload text);\n"
            . "CREATE TABLE works (id bigint PRIMARY KEY, payload text, worker varchar(100) NOT NULL, since_ms bigint NOT NULL);",
        put => 'INSERT INTO ready (id, payload) VALUES (:id, :payload);',
        'claim tx=one begin=immediate' => join("\n", @moves), complete => 'DELETE FROM works WHERE id = :id AND worker = :worker;',
        recover => "INSERT INTO ready (id, payload) SELECT id, payload FROM works WHERE since_ms < :now - :stale_ms;\n"
            . "DELETE FROM works WHERE since_ms < :now - :stale_ms;"],
    ['undone', 'queue', 'stale_ms', 'no-duplicate', ['UPDATE job SET state = 0 WHERE since_ms', 'UPDATE job SET state = 2'],
        qr/ completed at .* and claimed again by /, 'recover puts back an item that is done', %queue,
        recover => 'UPDATE job SET state = 0 WHERE since_ms < :now - :stale_ms;'],
    ['redone', 'queue', 'stale_ms', 'no-duplicate', ['UPDATE job SET state = 1', 'UPDATE job SET n = n'],
        qr/ completed at .* and claimed again by /, 'claim takes an item that is done: let complete delete it', %queue,
        claim => 'UPDATE job SET state = 1, since_ms = :now, n = n + 1 WHERE id = (SELECT min(id) FROM job WHERE state <> 1 OR n > 5) RETURNING id, body AS payload, n AS token;',
        complete => 'UPDATE job SET n = n, state = 3 WHERE id = :id AND n = :token AND state = 1;'],
    ['dies-queue', 'queue', 'stale_ms', 'no-loss', ['UPDATE job SET state = 1', 'UPDATE job SET since_ms', 'UPDATE job SET state = 0'],
        qr/ acknowledged at \S+ ms before the start, and is neither claimed nor claimable/,
        'a worker that dies between two statements of its claim leaves a state', %queue, claim => $parted,
        setup => 'CREATE TABLE job (id integer PRIMARY KEY, body text, state int DEFAULT 0, since_ms bigint, n int DEFAULT 0);'],
    ['renewed-queue', 'queue', 'lease_ms', 'no-duplicate', ['UPDATE job SET since_ms = :now + :lease_ms WHERE', 'UPDATE job SET state = 1'],
        qr/ its older claim renewed by worker /, 'let renew write the time that claim or recover reads', %lease,
        renew => 'UPDATE job SET since_ms = :now + :lease_ms WHERE id = :id AND state = 1;'],
    ['renewed-lock', 'lock', 'lease_ms', 'exclusive', ['UPDATE held SET owner = :worker, until_ms = :now + :lease_ms WHERE', 'UPDATE held SET owner = :worker'],
        qr/ was granted resource 0 at /, 'let renew write the time that acquire reads, and check the holder', %lock,
        renew => 'UPDATE held SET owner = :worker, until_ms = :now + :lease_ms WHERE name = :resource;'],
    ['late-free', 'queue', 'stale_ms', 'owner-release', ['UPDATE job SET state = 0 WHERE id = :id AND state = 1', 'UPDATE job SET state = 0 WHERE state = 1 AND', 'UPDATE job SET state = 1, since_ms'],
        qr/'s free of item .* had an effect/, 'let what ends a claim ask which claim it is', %queue,
        free => 'UPDATE job SET state = 0 WHERE id = :id AND state = 1 AND n <= :token + 1;'],
    ['late-error', 'queue', 'stale_ms', 'owner-release', ['UPDATE job SET state = 3 WHERE id = :id', 'UPDATE job SET state = 0 WHERE state = 1 AND', 'UPDATE job SET state = 1, since_ms'],
        qr/'s error of item .* had an effect/, 'let what ends a claim ask which claim it is', %queue,
        error => 'UPDATE job SET state = 3 WHERE id = :id AND state = 1 AND n <= :token + 1;'],
    ['parted-free', 'queue', 'stale_ms', 'no-loss', ['UPDATE job SET state = 4 WHERE id', 'UPDATE job SET state = 0 WHERE id'],
        qr/ acknowledged at \S+ ms before the start, and /, 'a worker that dies between two statements of this end', %queue,
        free => "UPDATE job SET state = 4 WHERE id = :id AND n = :token AND state = 1;\nUPDATE job SET state = 0 WHERE id = :id AND n = :token AND state = 4;"],
    ['hidden-free', 'queue', 'stale_ms', 'no-loss', ['UPDATE job SET state = 5 WHERE id', 'UPDATE job SET state = 1'],
        qr/ and is neither claimed nor claimable/, 'an item that is given back is not found again: claim must look for the values that free leaves', %queue,
        free => 'UPDATE job SET state = 5 WHERE id = :id AND n = :token AND state = 1;'],
    ['hidden-retry', 'queue', 'stale_ms', 'no-loss', ['UPDATE job SET state = 5 WHERE id', 'UPDATE job SET state = 1'],
        qr/ and is neither claimed nor claimable/, 'an item that is retried is not found again: claim must look for the values that retry leaves', %queue,
        retry => 'UPDATE job SET state = 5 WHERE id = :id AND n = :token AND state = 1;'],
    ['sweeps', 'queue', 'stale_ms', 'no-duplicate', ['UPDATE job SET state = 0 WHERE state = 1', 'UPDATE job SET state = 1'],
        qr/ was claimed by worker .* and again by worker /, 'a process that starts is not alone: let its sweep', %queue, recover => undef,
        sweep => 'UPDATE job SET state = 0 WHERE state = 1;'],
    ['operator', 'queue', 'stale_ms', 'no-duplicate', ['UPDATE job SET state = 0 WHERE state <> 2'],
        qr/ was claimed by worker .* without having been given back/, 'let an operator\'s section put back what has failed', %queue,
        error => 'UPDATE job SET state = 3 WHERE id = :id AND n = :token AND state = 1;',
        'clear-all-errors' => 'UPDATE job SET state = 0 WHERE state <> 2;'],
    ['gives-up', 'lock', 'lease_ms', 'exclusive', ['DELETE FROM line WHERE n <= :ticket'],
        qr/ was granted resource 0 at /, "cancel changes something else than its caller's place in the line",
        setup => 'CREATE TABLE line (n integer PRIMARY KEY AUTOINCREMENT, name text NOT NULL, worker text NOT NULL);',
        enqueue => 'INSERT INTO line (name, worker) VALUES (:resource, :worker) RETURNING n AS ticket;',
        acquire => 'SELECT n AS token FROM line WHERE name = :resource AND n = :ticket AND n = (SELECT min(n) FROM line WHERE name = :resource);',
        release => 'DELETE FROM line WHERE name = :resource AND n = :ticket AND worker = :worker;',
        cancel => 'DELETE FROM line WHERE n <= :ticket;'],
    ['recounts', 'lock', 'lease_ms', 'exclusive', ['UPDATE dispenser', 'INSERT INTO line', 'SELECT 1 FROM line'],
        qr/ was granted resource 0 at /, 'after one has left the line, enqueue draws a place that another has',
        setup => 'CREATE TABLE line (n integer NOT NULL, name text NOT NULL, worker text NOT NULL, PRIMARY KEY (name, worker));'
            . 'CREATE TABLE dispenser (name text PRIMARY KEY, n integer NOT NULL);',
        resource => 'INSERT INTO dispenser VALUES (:resource, 0);',
        'enqueue tx=one begin=immediate' => "UPDATE dispenser SET n = (SELECT count(*) FROM line WHERE name = :resource) WHERE name = :resource;\n"
            . 'INSERT INTO line (n, name, worker) SELECT n, name, :worker FROM dispenser WHERE name = :resource RETURNING n AS ticket;',
        acquire => 'SELECT 1 FROM line WHERE name = :resource AND worker = :worker AND n = (SELECT min(n) FROM line WHERE name = :resource);',
        release => 'DELETE FROM line WHERE name = :resource AND worker = :worker;',
        cancel => 'DELETE FROM line WHERE name = :resource AND worker = :worker;'],
    ['dies-lock', 'lock', 'lease_ms', 'recovery', ['UPDATE held SET owner = :worker WHERE', 'UPDATE held SET until_ms'],
        qr/ is answered "busy" again and again/, 'a worker that dies between two statements of acquire', %lock,
        acquire => "-- require: row\nUPDATE held SET owner = :worker WHERE name = :resource AND (owner IS NULL OR until_ms < :now);\n"
            . 'UPDATE held SET until_ms = :now + :lease_ms WHERE name = :resource AND owner = :worker;'],
);

my @verify = ('verify', '-d', 'sqlite:', '-q', '--budget', '6s', '-s');
my %run;
for my $i (0 .. $#table) {
    my ($name, undef, undef, $guarantee, $lines, $event, $advice) = @{$table[$i]};
    for my $next ($i % 5 == 0 ? grep { defined } @table[$i .. $i + 4] : ()) { # five at a time
        my ($its_name, $shape, $option, undef, undef, undef, undef, %section) = @$next;
        $run{$its_name} = start(@verify, file($its_name, $shape, $option, %section));
    }
    my (undef, $out) = finish($run{$name});
    my ($said) = $out =~ /^# $name on sqlite breaks $guarantee:\n((?:#   .*\n)+)/m;
    my ($happened, @rest) = split /\n/, $said // '';
    like($happened // $out, $event, "$name: what happened");
    my @quoted = map { /^#   \S+:\d+: (.*)/ ? $1 : () } @rest;
    is_deeply([map { substr $quoted[$_] // '', 0, length $lines->[$_] } 0 .. $#$lines], $lines, '... the lines') or diag $said;
    @quoted = grep { !/^CREATE TABLE/ } @quoted;
    is(scalar @quoted, scalar @$lines, '... and no others') or diag $said;
    like($said // '', qr/^#   The fix: \Q$advice/m, '... and the advice') or diag $said;
    is(() = $out =~ /^# \S+ on sqlite breaks /mg, 1, '... and nothing else is broken') or diag $out;
}

# --- recurring work: due again at once where there is no period, and never before its period ---
my %recurring = (%queue,
    claim => 'UPDATE job SET state = 1, since_ms = :now, n = n + 1 WHERE id = (SELECT id FROM job WHERE state = 0 OR state = 2 AND due_ms <= :now ORDER BY due_ms LIMIT 1) RETURNING id, body AS payload, n AS token;',
    complete => 'UPDATE job SET state = 2, due_ms = :now + :period_ms WHERE id = :id AND n = :token AND state = 1;');
my $right = file('recurring', 'queue', 'stale_ms', %recurring);
my ($status, $out) = lockbench('explore', '-s', $right, '-d', 'sqlite:', '--steps', 'crash');
is($status, 0, 'explored, work that is due again is no duplicate') or diag $out;
($status, $out) = lockbench('run', '-s', $right, '-d', 'sqlite:', '-S', 'steady', '--duration', '300ms', '-q');
unlike($out, qr/VIOLATED/, '... nor in a scenario without a period') or diag $out;
(undef, $out) = lockbench('verify', '-s', $right, '-d', 'sqlite:', '--plan');
like($out, qr/ recurring-checkout /, 'verify asks for the period');
unlike($out, qr/ drain /, '... and not for the end of a backlog that has none');

# The scenario's period is that of an option of the same name as well.
my @own = ('-d', 'sqlite:', '-S', 'recurring-checkout', '--backlog', '20', '--period', '400ms', '--hold', '0', '--duration', '1s', '-q');
my $option = file('own', 'queue', "period_ms = 1\n-- option: stale_ms", %recurring);
($status, $out) = lockbench('run', '-s', $option, @own);
unlike($out, qr/VIOLATED/, 'an option period_ms is set to the period of the scenario') or diag $out;
my $early = file('early', 'queue', 'stale_ms', %recurring, claim => $recurring{claim} =~ s/state = 2 AND due_ms <= :now/state = 2/r);
(undef, $out) = lockbench('verify', '-s', $early, '-d', 'sqlite:', '-q', '--no-explore', '--budget', '8s');
like($out, qr/^#   item \d+ was claimed by .*, completed at .*, and claimed again by .*, before it was due again$/m, 'a claim before the period');
like($out, qr/^#   \S+:\d+: UPDATE job SET state = 1.*\n#   \S+:\d+: UPDATE job SET state = 2.*\n#   \S+:\d+: CREATE TABLE job .*\n#   The fix: claim takes an item that is done before it is due again/m,
    '... with the lines and the advice') or diag $out;

done_testing();
