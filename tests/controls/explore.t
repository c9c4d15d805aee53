#!/usr/bin/env perl
# Exploring finds the broken controls, with witnesses as short as a textbook's, and finds nothing in
# their repaired twins. On SQLite always, on the servers in LB_TEST_URIS as far as they are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %engine = engine_uris();

# (status, result, stderr)
sub explore
{
    my ($engine, $strategy, @args) = @_;
    return explored($engine{$engine}, $strategy, @args);
}

# The parts of a violation, to compare two of them, without the time and the number of the space (it
# is in the keys of advisory locks).
sub essence
{
    my ($witness) = @_;
    return s/\b[0-9]{13}\b/NOW/gr =~ s/\bleft_ms=\K-?[0-9.]+/LEFT/gr =~ s/\b[0-9]+(?=::int, )/SPACE/gr for join "\n", $witness->{schedule}, "@{ $witness->{violated} }",
        map { join ' ', @$_{qw(step worker statement answer rows changed late result)} } @{ $witness->{steps} };
}

# PostgreSQL's own tool for interleavings comes with its client package.
my ($isolationtester) = sort { $b cmp $a } glob '/usr/lib/postgresql/*/lib/pgxs/src/test/isolation/isolationtester';

# The answers of each worker, in order: rows, refusals, and where it had to wait.
sub answers_of_witness
{
    my ($witness) = @_;
    my %answers;
    for my $step (@{ $witness->{steps} }) {
        my $list = $answers{ $step->{worker} } //= [];
        push @$list, $step->{answer} eq 'blocked' ? 'waits' : 'ERROR' if $step->{answer} ne 'ok';
        push @$list, s/'//gr for split /; /, $step->{result};
    }
    return \%answers;
}

sub answers_of_isolationtester
{
    my ($spec, $uri) = @_;
    my (%answers, $list, @columns);
    my $out = scratch() . '/isolationtester';
    system("$isolationtester '$uri' <$spec >$out 2>&1") == 0 or diag slurp($out);
    for (split /\n/, slurp($out)) {
        $list = $answers{$1} //= [] if /^step w(\d+)_\d+:/;
        push @$list, 'waits' if /<waiting \.\.\.>$/;
        push @$list, 'ERROR' if /^ERROR:/;
        if (/^-[-+]*$/)             { @columns = split /\|/, $answers{before} }
        elsif (/^\(\d+ rows?\)$/) { @columns = () }
        elsif (@columns) {
            my @values = map { s/^ +| +$//gr =~ s/^t$/1/r } split /\|/, $_, -1; # booleans as ours
            push @$list, join ' ', map { "$columns[$_]=$values[$_]" } 0 .. $#columns;
        }
        $answers{before} = s/ +//gr;
    }
    delete $answers{before};
    return \%answers;
}

# Broken controls that need no planner's help: the engine, the broken guarantee, the number of
# statements of a textbook example, and further options.
my @broken = (
    ['fifo-poll',       'postgres', 'exclusive',    6],
    ['fifo-poll',       'postgres', 'exclusive',    8, '--opt', 'insert=transaction'],
    ['fifo-poll',       'mariadb',  'exclusive',    6],
    ['lease-update',    'sqlite',   'progress',     4],
    ['lease-update',    'postgres', 'progress',     4],
    ['read-then-write', 'sqlite',   'exclusive',    6],
    ['read-then-write', 'postgres', 'exclusive',    6],
    ['read-then-write', 'mariadb',  'exclusive',    6],
    ['count-gate',      'postgres', 'exclusive',    6],
    ['count-gate',      'mariadb',  'exclusive',    6],
    ['naive-claim',     'postgres', 'no-duplicate', 4],
    ['autocommit-skip', 'sqlite',   'no-duplicate', 6, '--workers', 3],
    ['autocommit-skip', 'postgres', 'no-duplicate', 8],
    ['merge-unlocked',  'postgres', 'no-duplicate', 8],
    ['release-unowned', 'postgres', 'owner-release', 9, '--steps', 'clock'],
    ['complete-by-id',  'postgres', 'owner-release', 9, '--steps', 'clock', '--items', '1'],
    ['lease-update',    'sqlite',   'owner-release', 9, '--steps', 'clock', '--opt', 'first_run=now'],
    ['complete-by-id',  'sqlite',   'owner-release', 9, '--steps', 'clock', '--items', '1'],
    ['lease-update',    'mariadb',  'owner-release', 9, '--steps', 'clock', '--opt', 'first_run=now'],
    ['advisory-no-recheck', 'postgres', 'no-duplicate', 12, '--opt', 'walk=cursor'],
    ['lease-now', 'postgres', 'exclusive', 4, '--steps', 'clock', '--workers', 1, '--blockers', 1],
    # The worker got no answer to its grant, and no statement checks if the lease is over.
    ['lease-unread', 'postgres', 'recovery', 8, '--steps', 'cut,clock'],
    ['lease-unread', 'mariadb',  'recovery', 8, '--steps', 'cut,clock'],
);
for my $case (@broken) {
    my ($strategy, $engine, $guarantee, $most, @args) = @$case;
    SKIP: {
        skip "no $engine server", 1 unless defined $engine{$engine};
        subtest "$strategy on $engine: $guarantee" => sub {
            my $spec = scratch() . '/witness.spec';
            my ($status, $found) =
                explore($engine, $strategy, @args, $engine eq 'postgres' ? ('--spec', $spec) : ());
            my $witness = $found->{witness} // {};
            is $status, 1, 'exit status';
            is $found->{verdicts}{$guarantee}, 'violated', 'found';
            ok $witness->{confirmed}, 'confirmed by a replay';
            cmp_ok $witness->{statements} // 999, '<=', $most, "in at most $most statements";
            my (undef, $first) = explore($engine, $strategy, @args, '--first');
            cmp_ok $first->{schedules}, '<=', 5, 'the first one is found by a likely schedule';
            cmp_ok $first->{schedules}, '==', $first->{likely_first}, '... before the search for all';
            my @again = split ' ', $witness->{replay} =~ s/^lockbench explore -s \S+ -d \S+ //r;
            my ($again, $replayed) = explore($engine, $strategy, @again);
            is $again, 1, 'replayed: exit status';
            is essence($replayed->{witness}), essence($witness), 'replayed: the same';
            return if $engine ne 'postgres' || grep { /clock/ } @args;
            SKIP: {
                skip 'no isolationtester (postgresql-client-15)', 1 unless defined $isolationtester;
                is_deeply answers_of_isolationtester($spec, $engine{postgres}), answers_of_witness($witness),
                    'isolationtester gets the same answers'
                    or diag slurp(scratch() . '/isolationtester');
            }
        };
    }
}

# Of a search that ends at its first violation, all that its schedule violated is as good: it comes out of order one
# statement before two have it.
SKIP: {
    skip 'no postgres server', 2 unless defined $engine{postgres};
    my (undef, $first) = explore('postgres', 'fifo-poll', '--first');
    is "@{ $first->{witness}{violated} }", 'fifo', 'the shortest of what the first schedule violated';
    is $first->{witness}{statements}, 5, '... in so many statements';
}

# An INSERT is one step: explore reports that it draws its number before its row exists only if a
# statement uses the number. In two statements it is explored.
for my $case (
    ['mariadb',  'fifo-poll',      1, '--opt', 'form=published', '--opt', 'read=locking'],
    ['postgres', 'fifo-poll',      1],
    ['sqlite',   'fifo-poll',      0],
    ['mariadb',  'fifo-poll',      0, '--opt', 'form=parted', '--opt', 'read=locking'],
    ['mariadb',  'fifo-poll-safe', 1],
    ['mariadb',  'row-lock',       0],
    ['postgres', 'skip-locked',    0],
    )
{
    my ($engine, $strategy, $is_told, @args) = @$case;
    SKIP: {
        skip "no $engine server", 1 unless defined $engine{$engine};
        my (undef, $found) = explore($engine, $strategy, '--first', '--time', '1s', @args);
        my $words = qr/^not explored: the inside of the INSERT into \w+\. It draws \w+ before its row exists, .* in the next$/;
        like $found->{inside}, $is_told ? $words : qr/^$/, "$strategy @args on $engine: the inside of its INSERT";
    }
}

# Two wait for one row, and which of them gets it is the server's choice: no reason not to conclude.
# LOCK TABLE: the number of remaining classes equals the enumeration, of 126.
SKIP: {
    skip 'no postgres server', 7 unless defined $engine{postgres};
    my ($status, $found) = explore('postgres', 'lease-update-safe', '--workers', 3);
    is $status, 0, 'three wait for one row: exit status';
    cmp_ok $found->{choices}, '>', 0, 'three wait for one row: the server had a choice';
    ok !$found->{nondeterministic}, 'three wait for one row: that is no reason to give up';
    ok !grep({ $_ eq 'violated' } values %{ $found->{verdicts} }), 'three wait for one row: and it is clean'
        or diag explain $found;
    ($status, $found) = explore('postgres', 'merge-table-lock');
    is $found->{schedules} - $found->{likely_first}, 28, 'a table lock is queued for in one order';
    ($status, $found) = explore('postgres', 'table-lock', '--workers', 3);
    is $found->{schedules} - $found->{likely_first}, 12, 'three queue for a table lock: both orders of the two that wait';
    is $found->{choices}, 0, 'three queue for a table lock: who is first gets it';
}

# The repaired twins, and what else claims as much: completely, and clean.
my %clean = (
    sqlite => [
        ['fifo-poll', '--rounds', 2], ['lease-update-safe', '--rounds', 2], ['cas', '--workers', 3],
        ['skip-locked', '--workers', 3], ['count-gate', '--rounds', 2]
    ],
    postgres => [
        ['lease-upsert', '--steps', 'clock'], ['row-lock', '--steps', 'crash'],
        ['fifo-poll-safe'], ['lease-update-safe', '--rounds', 2], ['unique-mutex'], ['skip-locked'],
        ['lease-update-safe', '--steps', 'clock', '--workers', 1, '--blockers', 1],
        ['lease-update-safe', '--steps', 'cut,clock'], ['skip-locked', '--steps', 'cut'],
        ['skip-locked', '--workers', 1, '--items', 1, '--producers', 2],
        ['cas'], ['merge-table-lock'], ['serializable-claim'], ['slots', '--capacity', 2, '--workers', 3]
    ],
    mariadb => [['skip-locked-hold'], ['lease-update-safe'], ['row-lock-nowait'], ['row-lock']]
);
for my $engine (sort keys %clean) {
    SKIP: {
        skip "no $engine server", 1 unless defined $engine{$engine};
        for my $case (@{ $clean{$engine} }) {
            my ($strategy, @args) = @$case;
            my ($status, $found) = explore($engine, $strategy, @args);
            ok $status == 0 && $found->{complete} && !grep({ $_ eq 'violated' } values %{ $found->{verdicts} }),
                "$strategy @args on $engine is complete and clean"
                or diag explain $found;
        }
    }
}

# A waiter that counts a lease from when it saw its holder: time that went by before ends none of that
# kind. Whoever saw it, waited that long and is refused all the same is stuck.
my $counts = spew('counts.sql', <<'SQL');
-- strategy: counts
-- shape: lock
-- claims: exclusive, recovery
-- lease: ttl_ms
-- name: setup
CREATE TABLE counted (name varchar(64) PRIMARY KEY, owner varchar(64), version bigint NOT NULL);
-- name: resource
INSERT INTO counted (name, version) VALUES (:resource, 0);
-- name: enqueue
SELECT version AS seen, :now AS seen_at FROM counted WHERE name = :resource;
-- name: acquire
-- require: row
SELECT version AS seen, CASE WHEN version = :seen THEN :seen_at ELSE :now END AS seen_at
FROM counted WHERE name = :resource;
UPDATE counted SET owner = :worker, version = version + 1
WHERE name = :resource AND version = :seen AND (owner IS NULL OR (:now - :seen_at >= :ttl_ms AND 1 = 1));
-- name: release
UPDATE counted SET owner = NULL, version = version + 1 WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE counted;
SQL
my $never = spew('never.sql', slurp($counts) =~ s/1 = 1/1 = 0/r =~ s/strategy: counts/strategy: never/r);
is((explore('sqlite', $counts, '--steps', 'crash,clock'))[0], 0, 'a lease that is counted by who waits: recovery is held');
is((explore('sqlite', $never,  '--steps', 'crash,clock'))[0], 1, 'a lease that nobody ends: recovery is violated');

# An item in the hands of the dead comes back with the end of its lease, which the last claim asks for.
my $queue = spew('lq.sql', <<'SQL');
-- strategy: lq
-- shape: queue
-- claims: no-duplicate, no-loss, recovery
-- lease: ttl_ms
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, owner varchar(64), until_ms bigint NOT NULL, n bigint NOT NULL);
-- name: put
INSERT INTO job (id, until_ms, n) VALUES (:id, 0, 0);
-- name: claim
-- answer: row
UPDATE job SET owner = :worker, until_ms = :now + :ttl_ms, n = n + 1
WHERE id = (SELECT min(id) FROM job WHERE until_ms <= :now AND 1 = 1) RETURNING id, n AS token;
-- name: complete
DELETE FROM job WHERE id = :id AND n = :token;
-- name: teardown
DROP TABLE job;
SQL
my $kept = spew('lqn.sql', slurp($queue) =~ s/1 = 1/owner IS NULL/r =~ s/strategy: lq/strategy: lqn/r);
my ($came_back, $back) = explore('sqlite', $queue, '--steps', 'crash,clock');
is "$came_back $back->{verdicts}{recovery}", '0 held', 'a queue of leases: what the dead had comes back';
my ($stayed, $stuck) = explore('sqlite', $kept, '--steps', 'crash,clock');
is "$stayed $stuck->{verdicts}{recovery}", '1 violated', 'a queue that asks for no owner: it is stuck';
is((explore('sqlite', 'skip-locked', '--steps', 'crash,clock'))[0], 0, 'a queue that needs recover: nobody ran it');

# Protocols whose failure hides behind what is taken to commute, or to have left nothing. Each was
# complete and clean once.
my @hidden = (
    # What a waiter remembers of its last poll, by the columns of enqueue and acquire.
    ['remembers', 'sqlite', 'exclusive', [], <<'SQL'],
-- name: setup
CREATE TABLE gate (name varchar(64) PRIMARY KEY, owner varchar(64), version int NOT NULL);
-- name: resource
INSERT INTO gate VALUES (:resource, NULL, 1);
-- name: enqueue
SELECT 0 AS seen;
-- name: acquire
-- require: row
SELECT CAST(:seen AS int) AS before, version AS seen FROM gate WHERE name = :resource;
UPDATE gate SET owner = :worker, version = version + 1
WHERE name = :resource AND (owner IS NULL OR version = CAST(:before AS int));
-- name: release
UPDATE gate SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    # One lock takes all: no worker gets its second one. Each of two tries in vain may end first.
    ['takes-all', 'postgres', 'progress', ['--resources', 2], <<'SQL'],
-- name: setup
CREATE TABLE door (name text PRIMARY KEY, owner text);
-- name: resource
INSERT INTO door (name) VALUES (:resource);
-- name: acquire tx=one
-- require: row
SELECT 1 FROM door WHERE name = :resource FOR UPDATE;
UPDATE door SET owner = :worker WHERE owner IS NULL AND length(pg_walfile_name(pg_current_wal_lsn())) > 0;
-- name: release
UPDATE door SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    # A table that stands in the order of its key: the names of workers, of which the first comes first.
    ['by-name', 'sqlite', 'fifo', [], <<'SQL'],
-- name: setup
CREATE TABLE line (owner varchar(64) PRIMARY KEY, no int NOT NULL) WITHOUT ROWID;
CREATE TABLE gate (owner varchar(64), n int NOT NULL);
INSERT INTO gate VALUES (NULL, 0);
-- name: enqueue tx=one
UPDATE gate SET n = n + 1;
INSERT INTO line (owner, no) VALUES (:worker, (SELECT n FROM gate)) RETURNING no AS ticket;
-- name: acquire
UPDATE gate SET owner = :worker WHERE owner IS NULL
AND EXISTS (SELECT 1 FROM (SELECT owner FROM line LIMIT 1) AS l WHERE l.owner = :worker);
-- name: release tx=one
UPDATE gate SET owner = NULL WHERE owner = :worker;
DELETE FROM line WHERE owner = :worker;
SQL
    # A table whose name is no word.
    ['odd-name', 'postgres', 'exclusive', [], <<'SQL'],
-- name: setup
CREATE TABLE "my-gate" (name varchar(64) PRIMARY KEY, owner varchar(64));
-- name: resource
INSERT INTO "my-gate" VALUES (:resource, NULL);
-- name: acquire tx=one
-- require: row
SELECT name FROM "my-gate" WHERE name = :resource AND owner IS NULL;
UPDATE "my-gate" SET owner = :worker WHERE name = :resource;
-- name: release
UPDATE "my-gate" SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    # A sequence, and no table beside it: each schedule begins with the same number.
    ['draws', 'postgres', 'exclusive', [], <<'SQL'],
-- name: setup
CREATE SEQUENCE numbers;
-- name: acquire
SELECT nextval('numbers') AS n;
SELECT 1 AS entered WHERE :n::bigint < 3;
-- name: release
SELECT 1;
SQL
    # A statement that waits, and fails, has drawn its number all the same.
    ['draws-in-vain', 'postgres', 'fenced', [], <<'SQL'],
-- isolation: repeatable read
-- name: setup
CREATE SEQUENCE numbers;
CREATE TABLE gate (owner text, n bigint);
INSERT INTO gate VALUES (NULL, 0);
-- name: acquire
UPDATE gate SET owner = :worker, n = nextval('numbers') WHERE owner IS NULL
RETURNING CASE WHEN n = 3 THEN 0 ELSE n END AS token;
-- name: release
UPDATE gate SET owner = NULL WHERE owner = :worker;
SQL
    # MariaDB's sequences, in all the ways in which they are drawn from.
    (map { ["draws-$_->[0]", 'mariadb', 'exclusive', [], <<"SQL"] }
-- name: setup
CREATE SEQUENCE numbers;
-- name: acquire tx=one
$_->[1];
SELECT 1 AS entered WHERE :n < 3;
-- name: release
SELECT 1;
SQL
        # Not by the default of a column: MariaDB 10.11 itself dies of it now and then. PostgreSQL's is below.
        ['by-function', 'SELECT NEXTVAL(numbers) AS n'], ['by-words', 'SELECT NEXT VALUE FOR numbers AS n']),
    # A refused try that was rolled back has drawn the number of the row that it inserted.
    ['draws-by-insert', 'postgres', 'exclusive', ['--first'], <<'SQL'],
-- name: setup
CREATE TABLE gate (name text PRIMARY KEY, owner text);
CREATE TABLE tries (no bigint GENERATED ALWAYS AS IDENTITY, who text);
-- name: resource
INSERT INTO gate VALUES (:resource, NULL);
-- name: acquire tx=one
-- require: row
INSERT INTO tries (who) VALUES (:worker) RETURNING no;
UPDATE gate SET owner = :worker WHERE name = :resource AND (owner IS NULL OR :no::bigint = 3);
-- name: release
UPDATE gate SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    # A refused try that leaves its lock with the session.
    ['leaks', 'postgres', 'progress', ['--first', '--rounds', 2], <<'SQL'],
-- name: setup
CREATE TABLE gate (name text PRIMARY KEY, owner text);
-- name: resource
INSERT INTO gate VALUES (:resource, NULL);
-- name: acquire
-- require: row
SELECT 1 AS locked WHERE pg_try_advisory_lock(:space_no::int, 7);
UPDATE gate SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
-- require: row
SELECT 1 AS unlocked WHERE pg_advisory_unlock(:space_no::int, 7);
UPDATE gate SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    # Of two serializable transactions that cannot both commit the second one fails. Here the first
    # worker goes in regardless once its COMMIT, and nothing before it, has failed.
    ['commits-second', 'postgres', 'exclusive', ['--first'], <<'SQL'],
-- isolation: serializable
-- name: setup
CREATE TABLE doors (worker text PRIMARY KEY, inside int NOT NULL);
INSERT INTO doors VALUES ('w0', 0), ('w1', 0);
-- name: enqueue
SELECT 0 AS lost;
-- name: acquire tx=one
-- require: row
SELECT 1 AS free FROM doors HAVING sum(inside) = 0 OR :lost::int = 1;
-- answer: row
UPDATE doors SET inside = 1 WHERE worker = :worker;
SELECT CASE WHEN :worker = 'w0' THEN 1 ELSE 0 END AS lost;
-- name: release
UPDATE doors SET inside = 0 WHERE worker = :worker;
SQL
);
for my $case (@hidden) {
    my ($name, $engine, $guarantee, $args, $sections) = @$case;
    SKIP: {
        skip "no $engine server", 3 unless defined $engine{$engine};
        my $file = spew("$name.sql", "-- strategy: $name\n-- shape: lock\n-- claims: $guarantee\n$sections");
        my ($status, $found) = explore($engine, $file, @$args);
        is $status, 1, "$name on $engine: exit status";
        is $found->{verdicts}{$guarantee}, 'violated', "$name on $engine: found";
        cmp_ok $found->{repeated_replays}, '<=', 10 * $found->{choices}, "$name on $engine: begins alike each time";
    }
}

# A producer's transaction is open between its INSERT, which draws a number, and its COMMIT: who reads on by
# number passes over the item. (Who looks at each item's own state does not: skip-locked, above.)
SKIP: {
    skip 'no postgres server', 3 unless defined $engine{postgres};
    my $file = spew('passes-over.sql', <<'SQL');
-- strategy: passes-over
-- shape: queue
-- claims: no-loss
-- name: setup
CREATE TABLE item (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int NOT NULL);
CREATE TABLE place (one int PRIMARY KEY, last bigint NOT NULL);
INSERT INTO place VALUES (1, 0);
-- name: put
INSERT INTO item (id) VALUES (:id);
-- name: claim
UPDATE place SET last = item.no FROM item
WHERE one = 1 AND item.no = (SELECT min(no) FROM item WHERE no > (SELECT last FROM place)) RETURNING item.id;
-- name: complete
SELECT 1 AS one;
-- name: teardown
DROP TABLE item, place;
SQL
    my ($status, $found) = explore('postgres', $file, '--items', 1, '--producers', 2, '--first');
    is $status, 1, 'an open producer: exit status';
    is $found->{verdicts}{'no-loss'}, 'violated', 'an open producer: its item is lost';
    like join(' ', map { $_->{statement} } @{ $found->{witness}{steps} }), qr/INSERT INTO item .* INSERT INTO item .*COMMIT.*UPDATE place.*COMMIT/s,
        'an open producer: two INSERTs before the claim that passes over one'
        or diag explain $found;
}

# A parent's rows are its heirs', too.
SKIP: {
    skip 'no postgres server', 2 unless defined $engine{postgres};
    my $file = spew('heirs.sql', slurp(good_lock()) =~ s/(-- name: resource)/CREATE TABLE heir (age int) INHERITS (good_lock);\n$1/r);
    my ($status, undef, $err) = lockbench('explore', '-s', $file, '-d', $engine{postgres});
    is $status, 2, 'a table that inherits: exit status';
    like $err, qr/^lockbench: .*explore cannot put back heir: it inherits from a table\n\z/, 'a table that inherits: which one';
}

# A session that another user ends in the middle loses its locks: there is no verdict.
SKIP: {
    skip 'no postgres server', 2 unless defined $engine{postgres};
    my $file = spew('suicide.sql', <<'SQL');
-- strategy: suicide
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE gate (owner text);
-- name: acquire
SELECT pg_terminate_backend(pg_backend_pid());
-- name: release
UPDATE gate SET owner = NULL;
SQL
    my ($status, undef, $err) = lockbench('explore', '-s', $file, '-d', $engine{postgres});
    is $status, 3, 'a session that is ended: exit status';
    like $err, qr/^lockbench: worker 0 has lost its connection: .*\n\z/, 'a session that is ended: which one';
}

# The examples for users, wherever they have statements.
for my $file (glob "$FindBin::Bin/../../examples/*.sql") {
    my ($name) = $file =~ m{([^/]+)\.sql$};
    my $ran = 0;
    for my $engine (sort keys %engine) {
        my ($status, $out, $err) = lockbench('explore', '-s', $file, '-d', $engine{$engine}, '--format', 'json', '--time', '10m');
        next if $status == 2 && $err =~ /has no section setup for/;
        my $found = eval { decode_json($out) } // {};
        $ran++;
        ok $status == 0 && $found->{complete} && !grep({ $_ eq 'violated' } values %{ $found->{verdicts} }),
            "examples/$name.sql on $engine is complete and clean"
            or diag $out, $err;
    }
    SKIP: {
        skip "examples/$name.sql needs a server that LB_TEST_URIS does not name", 1 if $ran == 0;
        pass "examples/$name.sql: explored on $ran engines";
    }
}

# Sleep sets leave out nothing: without them the verdicts are the same. Every order of every step is
# run only where that ends in seconds.
for my $strategy (qw(fifo-poll read-then-write naive-claim complete-by-id lease-update table-lock)) {
    my ($status, $reduced) = explore('sqlite', $strategy);
    my ($plain_status, $plain) = explore('sqlite', $strategy, '--no-reduction');
    ok $reduced->{complete} && $plain->{complete}, "$strategy: reduced and unreduced are complete";
    is_deeply [$plain_status, $plain->{verdicts}], [$status, $reduced->{verdicts}],
        "$strategy: reduced and unreduced agree";
    cmp_ok $plain->{schedules}, '>=', $reduced->{schedules}, "$strategy: $plain->{schedules} schedules become $reduced->{schedules}";
}

# What a statement does decides, and not how it is written: each of these changes keeps its meaning, so the verdicts and what was
# covered stay. With the comment of an apostrophe, the first lock was complete and held once.
my $steal = <<'SQL';
-- name: setup
CREATE TABLE sl (name varchar(64) PRIMARY KEY, owner varchar(64), taken int DEFAULT 0 NOT NULL);
-- name: resource
INSERT INTO sl (name) VALUES (:resource);
-- name: acquire
UPDATE sl SET owner = :worker WHERE name = :resource AND taken = 0 AND (owner IS NULL OR owner > :worker);
-- name: release
UPDATE sl SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE sl;
SQL
my $words = join '|', qw(select update set where and or insert into values order by limit for from returning is null with as);
my %rewrite = (
    comments     => sub { s{^(?!--)(.*\S)}{ $1 =~ s/('[^']*')|(?<=\S) (?=\S)/$1 \/\/ q( \/* it's "an `odd \$\$ one *\/ )/ger }gemr },
    one_comment  => sub { s/^(UPDATE .* WHERE \w+) = /$1 \/* the row's *\/ = /gmr =~ s/^(WHERE \w+) = /$1 \/* the row's *\/ = /gmr },
    line_ends    => sub { s{^(?!--)(.*\S)}{ $1 =~ s/('[^']*')|(?<=\S) (?=\S)/$1 \/\/ " -- it's \"one\"\n  "/ger }gemr },
    line_breaks  => sub { s{^(?!--)(.*\S)}{ $1 =~ s/('[^']*')|(?<=\S) (?=\S)/$1 \/\/ "\n\t"/ger }gemr },
    case         => sub { s{^(?!--)(.*\S)}{ $1 =~ s/('[^']*')|\b($words)\b/$1 \/\/ ucfirst lc $2/gier }gemr },
    brackets     => sub { s{^(?!--)(.*\S)}{ $1 =~ s/(?<!:)(:worker|:resource|:token)\b(?!:)/($1)/gr }gemr },
    inequalities => sub { s/(?<!SET )\b(taken|status) = 0\b/$1 < 1/gr }, # a condition, and no assignment
    quoted_names => sub { my $q = $_[0]; s{^(?!--)(.*\S)}{ $1 =~ s/('[^']*')|(?<!:)\b(owner|running_at|sl|item|resource_lock)\b/$1 \/\/ "$q$2$q"/ger }gemr },
    aliases      => sub { s/^UPDATE (sl|resource_lock) SET/UPDATE $1 AS "it's" SET/gmr =~ s/"(?=it's")|(?<=it's)"/$_[0]/gr },
    another_text => sub { s/ AND (?=owner|running_at)/ AND 'it''s' <> '' AND /gr },
);
for my $engine (grep { $engine{$_} } qw(sqlite postgres mariadb)) {
    my %text = (steal => $steal =~ s/\A/-- strategy: steal\n-- shape: lock\n-- claims: exclusive, owner-release\n/r);
    for (['read-then-write', 'lock', 'exclusive, owner-release'], ['lease-update-safe', 'lock', 'exclusive'],
        ['naive-claim', 'queue', 'no-duplicate, no-loss'])
    {
        my ($name, $shape, $claims) = @$_;
        $text{"its-$name"} = "-- strategy: its-$name\n-- shape: $shape\n-- claims: $claims\n" . slurp("$ENV{LB_SOURCE}/sql/$name/$engine.sql")
            if $engine ne 'mariadb' || $name eq 'read-then-write';
    }
    my $of = sub { my ($status, $found) = explore($engine, spew("$_[0].sql", $_[1])); return [$status, $found->{complete}, $found->{verdicts}] };
    my @all = (%rewrite, $engine eq 'postgres' ? (dollar_quotes => sub { s/'([^']*)'/\$\$$1\$\$/gr =~ s/ AND (?=owner|running_at)/ AND \$q\$it's\$q\$ <> '' AND /gr }) : ());
    my %all = @all;
    for my $name (sort keys %text) {
        my $plain = $of->($name, $text{$name});
        ok $plain->[1] && $plain->[0] == ($name =~ /safe/ || "$name $engine" eq 'its-naive-claim sqlite' ? 0 : 1), "$name on $engine: explored"
            or diag explain $plain;
        for my $how (sort keys %all) {
            local $_ = $text{$name};
            my $other = $all{$how}->($engine eq 'mariadb' ? '`' : '"');
            next if $other eq $text{$name};
            is_deeply $of->($name, $other), $plain, "$name on $engine, $how: the same" or diag $other;
        }
    }
}

# verify explores as well as it stresses, and each line says which of the two it speaks of.
# Seconds are enough for it; where the machine stands still so long, it is asked again.
my $is_whole = sub { return $_[1] =~ / explored: "[^"]*: complete, .* explored: "[^"]*: complete, /s && $_[1] !~ /: bounded: / };
my ($status, $out) = until_shown($is_whole, 'verify', '-s', 'read-then-write,' . good_lock(), '-d', 'sqlite:', '--quiet');
is $status, 0, 'verify: all as expected' or diag $out;
like $out, qr/^ok \d+ - read-then-write sqlite explore exclusive\n  ---\n  meaning: "known to be broken, and caught"\n  message: ".* at step \d/m,
    'verify: exploring caught it';
like $out, qr/^  explored: "2 workers x 1 round: complete, /m, 'verify: what was covered';
like $out, qr/^ok \d+ - good-lock sqlite mutex-hot exclusive$/m, 'verify: stressed';
like $out, qr/^ok \d+ - good-lock sqlite explore exclusive$/m, 'verify: explored';
unlike $out, qr/^ok \d+ - read-then-write sqlite explore owner-release\n  ---\n(?:  .*\n)*?  reproduce: .* --replay/m,
    'verify: what was held has no schedule that shows it';
like $out, qr/^ok \d+ - read-then-write sqlite explore owner-release\n  ---\n(?:  .*\n)*?  reproduce: "lockbench explore -s read-then-write/m,
    'verify: ... but the command';
my ($again) = $out =~ /^  reproduce: "lockbench (explore .*--replay .*)"$/m;
is((lockbench(split ' ', $again))[0], 1, 'verify: what it says shows it again');

# A search that did not come to its end is no proof.
my $long = spew('long-way.sql', slurp(good_lock()) =~ s/good.lock/long_way/gr =~ s/strategy: long_way/strategy: long-way/r
    =~ s/(-- name: acquire.*\n)/"$1" . "UPDATE long_way SET name = name;\n" x 12/er);
($status, $out) = lockbench('verify', '-s', $long, '-d', 'sqlite:', '--quiet', '--budget', '8s');
unlike $out, qr/^ok \d+ - long-way sqlite explore exclusive$/m, 'verify: bounded is not held' or diag $out;
like $out, qr/^# long-way on sqlite: .* \(0 of [123] explorations complete\)/m, 'verify: and it says so' or diag $out;
SKIP: {
    skip 'no postgres server', 1 unless defined $engine{postgres};
    my $schema = spew('own-schema.sql', slurp(good_lock()) =~ s/\bgood_lock\b/own_place.gate/gr =~ s/strategy: good-lock/strategy: own-schema/r
        =~ s/(?=CREATE TABLE)/CREATE SCHEMA own_place;\n/r =~ s/DROP TABLE .*;/DROP SCHEMA own_place CASCADE;/r);
    ($status, $out) = lockbench('verify', '-s', $schema, '-d', $engine{postgres}, '--quiet', '--budget', '5s');
    like $out, qr/^# own-schema on postgres: .*\b0 schedules explored.*; not tested: explore\b.*\(own-schema makes a schema of its own, /m, 'verify: why nothing was explored'
        or diag $out;
}
unlike +(lockbench('verify', '-s', good_lock(), '-d', 'sqlite:', '--quiet', $_, $_ eq '-S' ? 'mutex-pair' : ()))[1],
    qr/ explore /, "verify $_: not explored"
    for '--no-explore', '-S';

# A queue with this claim.
sub claiming
{
    my ($name, $claim) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE job (id bigint PRIMARY KEY, owner varchar(64));
-- name: put
INSERT INTO job VALUES (:id, NULL);
-- name: claim
$claim
-- name: complete
DELETE FROM job WHERE id = :id AND owner = :worker;
-- name: teardown
DROP TABLE job;
SQL
}

# A begin ends MariaDB's LOCK TABLES: statements under it are no transactions of their own, and its end frees the others.
SKIP: {
    skip 'no mariadb server', 4 unless defined $engine{mariadb};
    my $locked = claiming('locked', <<'SQL');
LOCK TABLES job WRITE;
-- require: row
SELECT id FROM job WHERE owner IS NULL ORDER BY id LIMIT 1;
DELETE FROM job WHERE id = -1;
UPDATE job SET owner = :worker WHERE id = :id;
-- answer: row
SELECT id FROM job WHERE id = :id AND owner = :worker;
UNLOCK TABLES;
SQL
    # It was not complete once, beside seven programs; its bounds say why.
    my ($status, $found) = try_until(sub { $_[1]{complete} || (diag($_[1]{bounds}), 0)[1] },
        sub { explore('mariadb', $locked, '--items', '2') });
    is $status, 0, 'LOCK TABLES keeps others out for several statements' or diag explain $found->{verdicts};
    ok $found->{complete}, '... in every schedule';
    my $open = spew('unlocked.sql', slurp($locked) =~ s/^(?:LOCK|UNLOCK) TABLES.*\n//mgr);
    ($status, $found) = explore('mariadb', $open, '--items', '2', '--first');
    is $status, 1, 'without it they are not';
    is $found->{verdicts}{'no-duplicate'}, 'violated', '... and two workers have one item';
}

# The answers of GET_LOCK and RELEASE_LOCK tell whether a claim in vain has left a lock. A worker that has none waits for others.
SKIP: {
    skip 'no mariadb server', 4 unless defined $engine{mariadb};
    my $gated = claiming('gated', <<'SQL');
SELECT GET_LOCK('lockbench.gated', 10);
UPDATE job SET owner = :worker WHERE owner IS NULL ORDER BY id LIMIT 1;
-- answer: row
SELECT id FROM job WHERE owner = :worker;
SELECT RELEASE_LOCK('lockbench.gated');
SQL
    my ($status, $found) = explore('mariadb', $gated, '--items', '1');
    is $status, 0, 'a claim inside of GET_LOCK keeps others out' or diag explain $found->{verdicts};
    is $found->{bounds}, '', '... in every schedule: no worker is given up after refusals';
    my $untold = spew('untold.sql', slurp($gated) =~ s/(RELEASE_LOCK\(.*\));/$1 + 0;/r);
    ($status, $found) = explore('mariadb', $untold, '--items', '1');
    is $status, 0, 'it does if its answers do not tell';
    like $found->{bounds}, qr/given up after/, '... but then a worker in vain may have a lock, and asks again';
}

done_testing;
