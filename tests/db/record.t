#!/usr/bin/env perl
# lockbench record: a program's statements become a strategy file that lint accepts, and that gets
# the same verdict as the program, also for a broken one; values are recognised; a user's file
# stays; no password.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($tcp) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_TCP_URIS} // '';
plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if !defined $postgres;
plan skip_all => 'no python3-psycopg2' if system('/usr/bin/python3 -c "import psycopg2" 2>/dev/null') != 0;

my @patient = ('--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');
my @bounds = ('--workers', '4', '--count', '300', '--duration', '0', '--warmup', '0', '--progress-bound', '10m');

sub program
{
    my ($name, $text) = @_;
    my $path = spew($name, $text);
    chmod 0755, $path;
    return $path;
}

sub record
{
    my ($path, $out, @more) = @_;
    return lockbench('record', '-s', $path, '-d', $postgres, '-o', $out, @patient, @more);
}

sub verdict
{
    my ($path, $guarantee, @more) = @_;
    # A machine that stood still excuses much.
    return scalar try_until(sub { return $_[0] ne 'not tested' }, sub {
        my ($status, $out, $err) = lockbench('run', '-s', $path, '-d', $postgres, @bounds, '--format', 'json', '-q', @more);
        my $result = eval { decode_json($out) } or return "status $status: $err";
        return $result->{cells}[0]{guarantees}{$guarantee}{verdict};
    });
}

# Chance decides when two workers meet.
sub until_violated
{
    my @args = @_;
    return scalar try_until(sub { return $_[0] ne 'held' }, sub { return verdict(@args) });
}

my $advisory = slurp("$source/examples/programs/advisory.py");
my $right = program('advisory.py', $advisory);
my $file = scratch() . '/advisory.sql';
my ($status, $out, $err) = record($right, $file);
is($status, 0, 'a program is recorded') or diag $err;
like($out, qr/^\S+advisory\.sql: lockbench verify -s \S+advisory\.sql -d '?postgresql:\S+ asks it$/, '... and it is said what next');
my $text = slurp($file);
like($text, qr/^-- Recorded by lockbench from \S+advisory\.py, version /, 'its first line says what it is');
like($text, qr/^-- name: acquire \[postgres\] session=keep$/m, 'a lock of the session stays in it');
like($text, qr/pg_try_advisory_lock\(:resource_no\)/, 'the key of the resource is recognised');
like($text, qr/AS granted FROM answer;/, 'and that false is a refusal');
unlike($text, qr/TO DO/, 'nothing is left to do');
is((lockbench('lint', $file))[0], 0, 'lint takes it');
like((lockbench('verify', '-s', $file, '-d', 'sqlite:'))[1], qr/^1\.\.0 # SKIP .*: has no section setup for sqlite/m, 'it is for its own engine: a SKIP on others');
is(verdict($right, 'exclusive', '--resources', '1', @patient), 'held', 'the program holds');
is(verdict($file, 'exclusive', '--resources', '1'), 'held', '... as does its record');

# The control: a program that grants to every worker, and its record.
my $wrong = program('wrong.py', $advisory =~ s/SELECT pg_try_advisory_lock\(%s\)/SELECT true AS granted, %s AS key/r =~ s/pg_advisory_unlock\(%s\)/true AS granted, %s AS key/r);
($status, $out, $err) = record($wrong, my $wrong_file = scratch() . '/wrong.sql');
is($status, 0, 'a broken program is recorded') or diag $err;
like(slurp($wrong_file), qr/TO DO, another worker was granted it as well/, '... and what was seen is said');
is(until_violated($wrong, 'exclusive', '--resources', '1', @patient), 'violated', 'the broken program is caught');
is(until_violated($wrong_file, 'exclusive', '--resources', '1'), 'violated', '... as is its record');

# A queue whose values come in all ways: in the text, in texts of others, as seconds and dates, in JSON.
my $queue = program('queue.py', <<'PY');
#!/usr/bin/python3
import datetime, json, sys, time
import psycopg2
HELLO = {"hello": 1, "strategy": "job", "shape": "queue", "claims": ["no-duplicate", "no-loss"], "engines": ["postgres"],
         "operations": ["put", "claim", "complete", "recover"], "lease": True, "lease_unit_ms": 1000}
print(json.dumps(HELLO), flush=True)
for line in sys.stdin:
    r = json.loads(line)
    do = r["do"]
    if do == "close":
        break
    answer = {"ok": True}
    if do == "open":
        c = psycopg2.connect(r["uri"])
        cursor = c.cursor()
        worker, ttl = r["worker"], r["options"]["ttl_ms"] // 1000
    elif do == "setup":
        cursor.execute("CREATE TABLE job (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), data jsonb, owner text, until int, at timestamptz)")
    elif do == "put":
        cursor.execute("INSERT INTO job (data, until, at) VALUES (%s, 0, %s)",
                       (json.dumps({"item": r["item"], "what": r["payload"]}), datetime.datetime.now(datetime.timezone.utc)))
    elif do == "claim":
        cursor.execute("SELECT id, data FROM job WHERE until <= %s AND until >= 0 ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED", (int(time.time()),))
        row = cursor.fetchone()
        if row is None:
            answer = {"empty": True}
        else:
            cursor.execute("UPDATE job SET owner = 'by:' || %s, until = %s WHERE id = %s", (worker, int(time.time()) + ttl, row[0]))
            mine = row[0]
            answer = {"ok": True, "items": [{"item": row[1]["item"]}]}
    elif do == "complete":
        cursor.execute("UPDATE job SET until = -1 WHERE id = %s AND owner = 'by:" + worker + "'", (mine,))
        answer = {"ok": True} if cursor.rowcount == 1 else {"refused": True}
    if do != "open":
        c.commit()
    print(json.dumps({"id": r["id"], **answer}), flush=True)
PY
($status, $out, $err) = record($queue, my $queue_file = scratch() . '/queue.sql');
is($status, 0, 'a queue is recorded') or diag $err;
$text = slurp($queue_file);
unlike($text, qr/TO DO/, '... without a question') or diag $text;
like($text, qr/-- lease: ttl_ms/, 'its lease is known');
like($text, qr/\(:now \/ 1000\)/, 'seconds of the clock are recognised');
like($text, qr/\(\(:now \+ :ttl_ms\) \/ 1000\)/, '... and the end of a lease');
like($text, qr/\(to_timestamp\(:now \/ 1000\.0\)\)::timestamptz/, '... and a date');
like($text, qr/'\{"item": ' \|\| :id::bigint/, "the item's number is recognised in a text");
like($text, qr/\("data"::jsonb->>'item'\)::bigint AS id/, '... and in an answer');
like($text, qr/-- require: row\nWITH answer AS/, 'who finds nothing ends there');
like($text, qr/WHERE id = :own_id/, "the row's own key is carried on");
like($text, qr/\('by:' \|\| :worker::text\)/, "the worker's name is recognised in a text");
is((lockbench('lint', $queue_file))[0], 0, 'lint takes it');
is(verdict($queue_file, "no-duplicate"), verdict($queue, "no-duplicate", @patient), "both get one verdict");

# Whole seconds were cut by the program: its record does not round them up.
my $whole = program('whole.py', slurp($queue) =~ s/datetime\.now\(datetime\.timezone\.utc\)/datetime.now(datetime.timezone.utc).replace(microsecond=0)/r
    =~ s/at timestamptz/at timestamptz(0)/r);
($status, $out, $err) = record($whole, my $whole_file = scratch() . '/whole.sql');
is($status, 0, 'a program with whole seconds is recorded') or diag $err;
like(slurp($whole_file), qr/\(to_timestamp\(:now \/ 1000\)\)::timestamptz/, '... which stay whole');

# A key that is a hash of the resource's name, sent as a text, and a look behind the grant; its control shares the lock.
my $hashed = $advisory =~ s/int\(request\["resource"\]\[1:\]\)/str(7000000 + 13 * int(request["resource"][1:]))/gr
    =~ s/return \{"ok": True\} if (self\.ask\("SELECT pg_try_advisory_lock\(%s\)", key\)) else \{"busy": True\}/
        if not $1:
            return {"busy": True}
        self.cursor.execute("SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND objid = %s AND pid < 0", (key,))
        return {"ok": True}/r;
for ([$hashed, 'held'], [$hashed =~ s/pg_try_advisory_lock/pg_try_advisory_lock_shared/r =~ s/pg_advisory_unlock/pg_advisory_unlock_shared/r, 'violated']) {
    my ($program, $want) = @$_;
    ($status, $out, $err) = record(program("hashed-$want.py", $program), my $hashed_file = scratch() . "/hashed-$want.sql");
    is($status, 0, "a lock by a hash is recorded, to be $want") or diag $err;
    my $verdict = $want eq 'held' ? verdict($hashed_file, 'exclusive', '--resources', '1') : until_violated($hashed_file, 'exclusive', '--resources', '1');
    is($verdict, $want, '... and its record is') or diag slurp($hashed_file);
    unlike(slurp($hashed_file), qr/TO DO, (?!another worker)/, '... understood');
}

# Items that are packed into bytes, a row that only the first one makes, a name for each claim, an UPDATE behind WITH that
# returns two columns of one name, and a set-up of ten thousand characters.
my $packed = <<'PY';
#!/usr/bin/python3
import json, struct, sys, uuid
import psycopg2
HELLO = {"hello": 1, "strategy": "packed", "shape": "queue", "claims": ["no-duplicate", "no-loss"], "engines": ["postgres"],
         "operations": ["put", "claim", "complete"]}
print(json.dumps(HELLO), flush=True)
for line in sys.stdin:
    r = json.loads(line)
    do = r["do"]
    if do == "close":
        break
    answer = {"ok": True}
    if do == "open":
        c = psycopg2.connect(r["uri"])
        c.autocommit = True
        cursor = c.cursor()
    elif do == "setup":
        cursor.execute("CREATE TABLE kind (id serial PRIMARY KEY, name text UNIQUE)")
        cursor.execute("CREATE TABLE job (id bigserial PRIMARY KEY, kind int, packed bytea, owner text) /* " + "x" * 10000 + " */")
    elif do == "put":
        cursor.execute("SELECT id FROM kind WHERE name = 'work'")
        if cursor.fetchone() is None:
            cursor.execute("INSERT INTO kind (name) VALUES ('work')")
        cursor.execute("INSERT INTO job (kind, packed) SELECT id, %s FROM kind WHERE name = 'work'", (b"\x01\x02" + struct.pack(">i", r["item"]) + b"\x03",))
    elif do == "claim":
        cursor.execute("WITH j AS (SELECT id FROM job WHERE owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) "
                       "UPDATE job SET owner = %s FROM j WHERE job.id = j.id RETURNING *", ("worker-" + uuid.uuid4().hex,))
        row = cursor.fetchone()
        if row is None:
            answer = {"empty": True}
        else:
            mine = row[0]
            answer = {"ok": True, "items": [{"item": struct.unpack(">i", bytes(row[2])[2:6])[0]}]}
    elif do == "complete":
        cursor.execute("DELETE FROM job WHERE id = %s", (mine,))
    print(json.dumps({"id": r["id"], **answer}), flush=True)
PY
for ([$packed, 'held'], [$packed =~ s/ FOR UPDATE SKIP LOCKED//r, 'violated']) {
    my ($text_of, $want) = @$_;
    ($status, $out, $err) = record(program("packed-$want.py", $text_of), my $packed_file = scratch() . "/packed-$want.sql");
    is($status, 0, "a queue of bytes is recorded, to be $want") or diag $err;
    unlike(slurp($packed_file), qr/TO DO/, '... without a question') or diag slurp($packed_file);
    is((lockbench('lint', '-d', $postgres, $packed_file))[0], 0, '... and the server prepares each of its statements');
    my $verdict = $want eq 'held' ? verdict($packed_file, 'no-duplicate') : until_violated($packed_file, 'no-duplicate');
    is($verdict, $want, "... $want");
}

# A schema of the program's own: the file makes it and drops it, and leaves another user's alone.
my $schema = "recorded_$$";
my $in_schema = program('schema.py', slurp($queue) =~ s/(cursor\.execute\(")CREATE TABLE job/$1CREATE SCHEMA IF NOT EXISTS $schema; CREATE TABLE $schema.job/r
        =~ s/(INTO|FROM|UPDATE) job /$1 $schema.job /gr);
($status, $out, $err) = record($in_schema, my $schema_file = scratch() . '/schema.sql');
is($status, 0, 'a program with a schema of its own is recorded') or diag $err;
sub lint_there { return lockbench('lint', '-d', $postgres, $schema_file) }

sub ask
{
    my ($sql) = @_;
    return `/usr/bin/python3 -c 'import psycopg2, sys; c = psycopg2.connect(sys.argv[1]); c.autocommit = True; k = c.cursor(); k.execute(sys.argv[2]); print(k.fetchall() if k.description else "done", end="")' '$postgres' "$sql"`;
}
for (1, 2) {
    ($status, $out, $err) = lint_there();
    is($status, 0, 'its file is prepared by the server, and leaves nothing behind') or diag "$out$err";
}
($status, $out, $err) = lockbench('explore', '-s', $schema_file, '-d', $postgres);
is($status, 2, 'it is not explored, for its schema cannot be put back') or diag $out;
like($err, qr/makes a schema of its own, which cannot be put back/, '... in words');
for (1, 2) {
    ($status, $out, $err) = lockbench('run', '-s', $schema_file, '-d', $postgres, '--duration', '300ms', '--warmup', '0');
    is($status, 0, 'it is run, and can be run again') or diag "$out$err";
}
is(ask("CREATE SCHEMA $schema CREATE TABLE precious (id int)"), 'done', 'somebody has a schema of this name');
($status, $out, $err) = lint_there();
like("$status $err", qr/^2 .*schema "$schema" already exists/, '... and is told so');
is(ask("SELECT count(*) FROM $schema.precious"), '[(0,)]', '... and keeps it');
($status, $out, $err) = lockbench('run', '-s', $schema_file, '-d', $postgres, '--duration', '300ms', '--warmup', '0');
like("$status $err", qr/^[235] .*schema "$schema" already exists; a schema that setup makes is the server's, .*: wait for the other to end, or drop it/, '... also in a run') or diag $out;
is(ask("SELECT count(*) FROM $schema.precious"), '[(0,)]', '... and keeps it');
ask("DROP SCHEMA $schema CASCADE");

# Parameters that a library sends as texts of no type, where the server wants an interval, a number, a truth value.
SKIP: {
    skip 'no libminion-perl', 4 if system("echo '{\"do\":\"close\"}' | '$source/examples/programs/minion/lock.pl' >/dev/null 2>&1") != 0;
    for my $name ('lock', 'queue') {
        ($status, $out, $err) = record("$source/examples/programs/minion/$name.pl", my $minion = scratch() . "/minion-$name.sql");
        is($status, 0, "minion/$name.pl is recorded") or diag $err;
        ($status, $out, $err) = lockbench('lint', '-d', $postgres, $minion);
        is($status, 0, '... and the server prepares each of its statements') or diag $err;
    }
}

# Refused requests, which change no file.
spew('mine.sql', "-- strategy: mine\n");
for (
    [[$right, scratch() . '/mine.sql'], 2, qr/mine\.sql is there already, and was not written by record/],
    [[$right, scratch() . '/mine.txt'], 2, qr/mine\.txt: a strategy file's name ends in \.sql/],
    [[$right, '/dev/full/x.sql'], 3, qr{/dev/full}],
    [[program('silent.sh', "#!/bin/sh\necho oh no >&2\nexit 7\n"), scratch() . '/new.sql'], 3, qr/silent\.sh.*oh no/]
) {
    my ($args, $want, $says) = @$_;
    ($status, $out, $err) = record(@$args);
    is($status, $want, "@$args: status") or diag $err;
    like($err, $says, '... and why');
}
is(slurp(scratch() . '/mine.sql'), "-- strategy: mine\n", 'the file that was there is as it was');
ok(!-e scratch() . '/new.sql', 'nothing is written where nothing was recorded');
($status, $out, $err) = lockbench('record', '-s', $right, '-d', 'sqlite:', '-o', scratch() . '/new.sql');
like("$status $err", qr/^2 .*no gate/, 'SQLite has no gate');
($status, $out, $err) = lockbench('record', '-s', 'lease-update', '-d', $postgres, '-o', scratch() . '/new.sql');
like("$status $err", qr/^2 .*record takes one program/, 'a strategy that is no program');
($status, $out, $err) = lockbench('record', '-s', $right, '-d', $postgres);
like("$status $err", qr/^2 .*needs -o FILE/, 'no file');
($status) = record($right, $file);
is($status, 0, 'its own file is written again');

SKIP: {
    skip 'no server over TCP', 2 if !defined $tcp;
    my ($password) = $tcp =~ m{://[^:]*:([^@]*)@};
    my $telling = program('telling.py', $advisory =~ s/SELECT pg_try_advisory_lock\(%s\)/SELECT pg_try_advisory_lock(%s), '$password' AS secret/r);
    ($status, $out, $err) = lockbench('record', '-s', $telling, '-d', $tcp, '-o', my $secret = scratch() . '/secret.sql', @patient);
    is($status, 0, 'over TCP, with a password') or diag $err;
    unlike(slurp($secret), qr/\Q$password\E/, '... which is not in the file');
}

done_testing;
