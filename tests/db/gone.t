#!/usr/bin/env perl
# A server that goes away, and a space that is dropped: one line that says which, and exit status 3,
# at each stage of a run and of an exploration. A server that crashes in a run and comes back: the
# run goes on, and says so. The servers are the test's own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;
use Time::HiRes 'sleep';

own_servers('--fast', 'postgres', 'mariadb');


for my $row (grep { length } servers('status')) {
    my ($name, $engine, undef, $uri) = split /\t/, $row;
    my $sql = sub {
        my ($text) = @_;
        my ($socket) = $uri =~ /socket=([^&]*)/;
        my $path = ($socket // '') =~ s/%([0-9A-F]{2})/chr hex $1/ger;
        my @command = $engine eq 'postgres' ? ('psql', '-XAtqc', $text, $uri) : ('mariadb', '-S', $path, '-u', 'lockbench', '-Nse', $text);
        open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>/dev/null', 'sh', @command or die;
        my @rows = <$pipe>;
        close $pipe;
        chomp @rows;
        return @rows;
    };
    my $spaces = $engine eq 'postgres' ? "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lockbench\\_%'"
        : "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'lockbench\\_%'";
    # The space of a run with a lost server stays until the next one has begun, and must not be
    # taken for the next one's.
    my %old;
    my $begin = sub { %old = map { $_ => 1 } $sql->($spaces); return start(@_) };
    # Until a table of the run's has rows that workers changed: they are at work.
    my $at_work = sub {
        my ($table) = @_;
        for (1 .. 6000) {
            my ($space) = grep { !$old{$_} } $sql->($spaces);
            my ($n) = defined $space ? $sql->("SELECT count(*) FROM $space.$table") : ();
            return $space if $n;
            sleep 0.05;
        }
        return;
    };
    my $lock = spew("gone-lock.sql", <<'SQL');
-- strategy: gone-lock
-- shape: lock
-- claims: exclusive, owner-release

-- name: setup
CREATE TABLE gone_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
CREATE TABLE gone_seen (id bigint);
-- name: resource
INSERT INTO gone_lock (name) VALUES (:resource);
INSERT INTO gone_seen VALUES (1);
-- name: acquire
UPDATE gone_lock SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE gone_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
SQL
    my @short = ('--warmup', '0', '--quiet');
    my $one = sub {
        my ($what, $says, $status, $out, $err) = @_;
        is($status, 3, "$engine, $what: exit status") or diag $out;
        like($err, qr/\Alockbench: [^\n]*$says[^\n]*\n\z/, "$engine, $what: one line");
        unlike($err, qr/cannot drop|could not be dropped/, "$engine, $what: not what follows from it");
    };

    # It crashes while the run stands still, so that the time that it takes to come back does not matter, and the
    # workers find it at work again.
    my $grants = spew('grants.sql', <<'SQL');
-- strategy: grants
-- shape: lock
-- claims: progress

-- name: setup
CREATE TABLE grants_lock (name varchar(100) PRIMARY KEY, n bigint);
-- name: resource
INSERT INTO grants_lock (name, n) VALUES (:resource, 0);
-- name: acquire
UPDATE grants_lock SET n = n + 1 WHERE name = :resource;
-- name: release
UPDATE grants_lock SET n = n + 1 WHERE name = :resource;
SQL
    my $server = sub { (split /\t/, (grep { /^\Q$name\E\t/ } servers('status'))[0])[4] =~ s/\s//gr };
    my $grants_of = sub { my ($space) = @_; return ($sql->("SELECT coalesce(sum(n), 0) FROM $space.grants_lock"))[0] // 0 };
    my $until = sub { my ($what) = @_; for (1 .. 6000) { return 1 if $what->(); sleep 0.05 } return 0 };
    my $back = sub { servers('resume', $name) };
    my %crash = $engine eq 'postgres'
        ? ('a process of it is killed' => sub {
            kill KILL => $sql->("SELECT pid FROM pg_stat_activity WHERE application_name = 'lockbench worker 0'") }, 
           'it is stopped at once' => sub { servers('halt', $name); $back->() })
        : ('it is killed' => sub {
            my $pid = $server->(); kill KILL => $pid; $until->(sub { !kill 0, $pid }); $back->() });
    for my $how (sort keys %crash) {
        # Two server lives that begin within half a second count as one
        # (bench/run/faults/restarted.c).
        $until->(sub { ($sql->("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'checkpointer' "
            . "AND backend_start < clock_timestamp() - interval '1 second'"))[0] }) if $engine eq 'postgres';
        my $format = $how =~ /process/ ? 'json' : $how =~ /stopped/ ? 'tap' : 'text';
        my $run = $begin->('run', '-s', $grants, '-d', $uri, '-S', 'mutex-pair', '--duration', '120s', @short, '--format', $format,
            '-o', scratch() . "/crashed-$format", '--keep-history');
        my ($space, $n);
        $until->(sub { ($space) = grep { !$old{$_} } $sql->($spaces); defined $space && $grants_of->($space) > 4 });
        kill STOP => $run->{pid};
        $crash{$how}->();
        ok($until->(sub { $n = $grants_of->($space) }), "$engine, $how: it came back");
        kill CONT => $run->{pid};
        ok($until->(sub { $grants_of->($space) > $n + 4 }), "$engine, $how: and the workers to it");
        kill INT => $run->{pid};
        my ($status, $out, $err) = finish($run);
        is($status, 130, "$engine, $how: the run lived on") or diag $err;
        like($out =~ s/[\s#]+/ /gr, qr/the database server was started anew, as was seen at [0-9.]+ m?s: it crashed/,
            "$engine, $how: and it is told, as $format") or diag $out;
        my ($history) = glob scratch() . "/crashed-$format/*/*.lbh";
        my (undef, $checked) = lockbench('check', '--format', 'json', $history // 'none');
        is((eval { decode_json($checked) } // {})->{measures}{restarts}, 1, "$engine, $how: once, in the history");
    }

    # In the run; with a hold that outlasts the measured part: at its end; in an exploration. A run waits half a
    # minute for a server to come back: each engine has one of the two.
    my @cases = (['in the run', 'run', '--duration', '10m'],
        ['at the end', 'run', '--duration', '10ms', '--workers', '1', '--hold', '20s'],
        ['in an exploration', 'explore', '--workers', '3', '--rounds', '20', '--time', '10m']);
    for my $case ($cases[$engine eq 'postgres'], $cases[2]) {
        my ($what, $command, @args) = @$case;
        my $run = $begin->($command, '-s', $lock, '-d', $uri, @args, $command eq 'explore' ? () : @short);
        ok($at_work->('gone_seen'), "$engine, $what: it is at work");
        sleep 0.5;
        servers('halt', $name);
        $one->("halted $what", 'the server went away', finish($run));
        servers('resume', $name);
    }

    # Its tables are dropped; its sessions live.
    for my $case (@cases[0, 2]) {
        my ($what, $command, @args) = @$case;
        my $run = $begin->($command, '-s', $lock, '-d', $uri, @args, $command eq 'explore' ? () : @short);
        my $space = $at_work->('gone_seen');
        ok($space, "$engine, dropped $what: it is at work");
        sleep 0.5;
        # A drop that waits for locks blocks the exploration's next step, which would free them:
        # tried again.
        my $drop = $engine eq 'postgres' ? "SET client_min_messages = error; SET lock_timeout = '100ms'; DROP SCHEMA $space CASCADE"
            : "SET lock_wait_timeout = 1; DROP DATABASE $space";
        ok($until->(sub { $sql->($drop); !grep { $_ eq $space } $sql->($spaces) }), "$engine, dropped $what: it is gone");
        $one->("dropped $what", qr/the (?:schema|database) \Q$space\E is gone: another user dropped it/, finish($run));
    }
}
done_testing();
