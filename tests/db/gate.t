#!/usr/bin/env perl
# The gate between a program and PostgreSQL: drivers see the same with and without it; --trace has
# their statements; the faults cut and slow catch a program that takes an unknown outcome for a good
# one, and no other.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my $drivers = "$source/tests/drivers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($tcp) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_TCP_URIS} // '';
my @once = ('--workers', '1', '--count', '1', '--duration', '0', '--warmup', '0', '--progress-bound', '10m', '-q',
    '--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');

sub works { return system("$_[0] > /dev/null 2>&1") == 0 }

sub compile
{
    my $program = scratch() . '/libpq';
    my $flags = `pkg-config --cflags --libs libpq`;
    chomp $flags;
    return works("cc -o $program $drivers/libpq.c $flags") ? $program : undef;
}

# The driver's output, the address that it got, and the lines of the trace.
sub battery
{
    my ($uri, $command, $trace) = @_;
    my $out = scratch() . '/out';
    local @ENV{qw(LB_BATTERY LB_BATTERY_OUT)} = ($command, $out);
    my ($status, undef, $err) = lockbench('run', '-s', "$drivers/adapter.pl", '-d', $uri, @once, defined $trace ? ('--trace', $trace) : ());
    return ("status $status: $err") if $status != 0;
    my $text = slurp($out);
    $text =~ s/^at (.*)\n//m;
    return ($text, $1);
}

sub lines { return map { decode_json($_) } split /\n/, slurp($_[0]) }

if (!defined $postgres) {
    plan skip_all => 'no PostgreSQL in LB_TEST_URIS';
}
my $libpq = compile();
my ($node) = grep { -d "$_/node_modules/pg" } map { "$source/examples/programs/$_" } 'pg-boss', 'graphile-worker';
$ENV{NODE_PG} = $node // '';
for my $driver (
    ['libpq', $libpq, defined $libpq ? undef : 'no compiler or libpq'],
    ['psql', "sh $drivers/psql.sh", works('psql --version') ? undef : 'no psql'],
    ['psycopg2', "$drivers/psycopg2_all.py", works('/usr/bin/python3 -c "import psycopg2"') ? undef : 'no python3-psycopg2'],
    ['asyncpg', "$drivers/asyncpg_all.py", works('/usr/bin/python3 -c "import asyncpg"') ? undef : 'no python3-asyncpg'],
    ['DBD::Pg', "$drivers/dbd_pg.pl", works('perl -MDBD::Pg -e 1') ? undef : 'no libdbd-pg-perl'],
    ['Mojo::Pg', "$drivers/mojo_pg.pl", works('perl -MMojo::Pg -e 1') ? undef : 'no libmojo-pg-perl'],
    ['PDO', "php $drivers/pdo.php", works('php -m | grep -q pdo_pgsql') ? undef : 'no php-pgsql'],
    ['node-postgres', "node $drivers/node_pg.mjs", defined $node && works('node --version') ? undef : 'no Node.js, or pg is not installed']
) {
    my ($name, $command, $missing) = @$driver;
    SKIP: {
        skip $missing, 3 if defined $missing;
        my $trace = scratch() . '/trace.jsonl';
        my ($direct, $there) = battery($postgres, $command);
        my ($gated, $here) = battery($postgres, $command, $trace);
        like($direct, qr/^status 0$/m, "$name: at work");
        is($gated, $direct, "$name: the same through the gate");
        isnt($here, $there, "$name: and it was the gate");
        next if $name ne 'asyncpg';
        my @lines = lines($trace);
        my ($one) = grep { $_->{sql} eq 'SELECT 1 / $1::int' } @lines;
        is($one->{sqlstate}, '22012', '... the trace has errors');
        my ($copy) = grep { $_->{sql} =~ /^COPY .*FROM STDIN/ } @lines;
        is($copy->{changed}, 5000, '... rows');
        my ($many) = grep { $_->{sql} =~ /^INSERT INTO a/ } @lines;
        is($many->{statements}, 500, '... a pipeline as one request');
        my ($sum) = grep { $_->{sql} =~ /^SELECT id FROM a WHERE/ } @lines;
        is(scalar @{$sum->{parameters}}, 1, '... and parameters');
    }
}

SKIP: {
    skip 'no psql', 9 if !works('psql --version');
    my ($trace, $mine) = map { scratch() . "/$_" } 'roles.jsonl', 'mine.py';
    my $psql = q{psql -X -c "ALTER ROLE nobody PASSWORD 'it''s mine' VALID UNTIL '2000-01-01'" -c "ALTER ROLE nobody PASSWORD E'a\\\\'b'" -c 'ALTER ROLE nobody PASSWORD $of$mine$of$ CREATEDB'};
    battery($postgres, $psql, $trace);
    my $said = join "\n", map { $_->{sql} } lines($trace);
    like($said, qr/^ALTER ROLE nobody PASSWORD '\*+' VALID UNTIL '2000-01-01'/m, "a role's new password is not in the trace");
    like($said, qr/^ALTER ROLE nobody PASSWORD E'\*+'/m, '... with escapes');
    like($said, qr/^ALTER ROLE nobody PASSWORD \$of\$\*{4}\$of\$ CREATEDB/m, '... between dollars');
    is((stat $trace)[2] & 0777, 0600, '... which is for its user alone');
    open my $file, '>', $mine or die "$mine: $!\n";
    print $file "print('hello')\n";
    close $file;
    for (['/dev/full', 3, qr/cannot be written: No space left on device; statements are missing/], [$mine, 2, qr/is there already, and is no trace/]) {
        my ($path, $expected, $says) = @$_;
        my ($why) = battery($postgres, $psql, $path);
        like($why, qr/^status $expected: lockbench: option --trace: \S+ $says/, "--trace $path: said, with the reason");
    }
    is(slurp($mine), "print('hello')\n", '... and the file is as it was');
    my ($again) = battery($postgres, $psql, $trace);
    unlike($again, qr/^status [23]:/, 'a trace is overwritten by the next');
}

SKIP: {
    skip 'no server over TCP, no compiler or libpq', 2 if !defined $tcp || !defined $libpq;
    my $trace = scratch() . '/tcp.jsonl';
    my ($direct) = battery($tcp, $libpq);
    my ($gated, $here) = battery($tcp, $libpq, $trace);
    is($gated, $direct, 'over TCP, with a password: the same');
    is($here, '127.0.0.1', '... on the loopback interface');
    my ($password) = $tcp =~ m{://[^:]*:([^@]*)@};
    unlike(slurp($trace), qr/\Q$password\E/, '... and the password is not in the trace');
    my ($status, undef, $err) = lockbench('run', '-s', "$drivers/adapter.pl", '-d', "$tcp?sslmode=require", @once, '--trace', $trace);
    isnt($status, 0, 'a connection that must be encrypted');
}

# JDBC knows no local sockets. Its driver is a file of Debian's, with those that it needs.
SKIP: {
    my @jars = grep { -e } map { "/usr/share/java/$_.jar" } qw(postgresql scram-client scram-common);
    skip 'no server over TCP', 3 if !defined $tcp;
    skip 'no Java, or no libpostgresql-jdbc-java', 3 if !-e '/usr/share/java/postgresql.jar' || !works('javac -version');
    my $java = 'java -XX:TieredStopAtLevel=1 -cp ' . join(':', @jars) . " $drivers/Jdbc.java";
    my ($direct, $there) = battery($tcp, $java);
    my ($gated, $here) = battery($tcp, $java, my $trace = scratch() . '/jdbc.jsonl');
    like($direct, qr/^still here\nstatus 0$/m, 'JDBC: at work');
    is($gated, $direct, 'JDBC: the same through the gate');
    my ($batch) = grep { ($_->{statements} // 0) > 1 && $_->{sql} =~ /^INSERT INTO j/ } lines($trace);
    ok(defined $batch, '... the trace has its batches');
}

SKIP: {
    skip 'no python3-psycopg2', 12 if !works('/usr/bin/python3 -c "import psycopg2"');
    my $queue = sub {
        my ($lies, @args) = @_;
        my $trace = scratch() . '/queue.jsonl';
        my ($status, $out) = lockbench('run', '-s', "$drivers/jobs.py", '-d', $postgres, '-S', 'drain', '--opt', "lies=$lies", '--backlog', '150', '--hold',
            '10ms', '--duration', '0', '--workers', '3', '--ttl', '100ms', '--progress-bound', '10m', '--recovery-bound', '10m', '-q', '--format', 'json', '--trace',
            $trace, @args);
        my $cell = eval { decode_json($out)->{cells}[0] };
        return ($status, $cell, lines($trace));
    };
    # A run may be over before a fault of each kind was.
    my ($status, $cell, @lines, %cuts, %told, $held);
    for (1 .. 50) {
        ($status, $cell, @lines) = $queue->('no', '--fault', 'cut', '--fault-interval', '100ms');
        $held = $status == 0 or diag encode_json($cell->{guarantees} // {});
        $cuts{$_->{cut}}++ for grep { defined $_->{cut} } @lines;
        $told{$_->{operation}}++ for grep { defined $_->{operation} } @lines;
        last if !$held || ($cuts{before} && $cuts{after});
    }
    ok($held, 'a queue whose connections are cut: held');
    cmp_ok($cuts{before} // 0, '>', 0, 'some were cut before a request went out');
    cmp_ok($cuts{after} // 0, '>', 0, '... and some behind it');
    is_deeply([sort keys %told], ['claim', 'complete', 'put'], 'each statement with its operation');
    for (1 .. 50) {
        ($status, $cell) = $queue->('yes', '--fault', 'cut', '--fault-interval', '100ms');
        last if $status != 0;
    }
    is($status, 1, 'a program that says "done" of what it does not know: caught');
    is($cell->{guarantees}{'no-duplicate'}{verdict}, 'violated', '... by name');
    ($status, $cell, @lines) = $queue->('no', '--fault', 'slow', '--fault-interval', '100ms', '--fault-length', '50ms', '--backlog', '60');
    is($status, 0, 'slow statements: held');
    cmp_ok($cell->{runs}[0]{faults}, '>', 0, '... and there were some');
    ($status, undef, my $err) = lockbench('run', '-s', 'lease-now', '-d', $postgres, '-q', '--trace', scratch() . '/no.jsonl');
    is($status, 2, '--trace of a built-in strategy is refused');
    like($err, qr/^lockbench: option --trace: lease-now is no program/, '... in one line');
    ($status, undef, $err) = lockbench('run', '-s', "$source/examples/programs/queue.py", '-d', 'sqlite:', '-q', '--trace', scratch() . '/no.jsonl');
    is($status, 2, '... and of a program on another engine');
    ($status, undef, $err) = lockbench('run', '-s', "$source/examples/programs/queue.py", '-d', 'sqlite:', '-q', '-S', 'drain', '--fault', 'cut');
    is($status, 2, 'and so are faults of the gate');
}

# Exploring takes a database and two interpreters a schedule: one schedule here, the searches with LB_TEST_SOAK.
SKIP: {
    skip 'no python3-psycopg2', 14 if !works('/usr/bin/python3 -c "import psycopg2"');
    my @explore = ('explore', '-s', "$drivers/flag.py", '-d', $postgres, '--time', '10m', '-q');
    my ($status, $out) = lockbench(@explore, '--opt', 'form=look', '--replay', '0110');
    is($status, 1, 'who looks and then takes: two holders');
    like($out, qr/UPDATE flag SET owner = 'w0' WHERE name =/, "... in the program's own words");
    ($status, $out) = lockbench(@explore, '--opt', 'form=wait', '--replay', '010');
    is($status, 0, 'who waits for the row is let go by nobody else');
    like($out, qr/UPDATE flag SET owner = 'w0'/, '... under names of their own');
    like($out, qr/-> blocked/, '... and the server says that it is blocked');
    for (['take', 1], ['text', 1], ['beside', 1], ['wait', 0]) {
        my ($form, $is_one) = @$_;
        (undef, $out) = lockbench(@explore, '--opt', "form=$form", '--max-schedules', '1');
        my $says = $out =~ /^  bounded.*a program's statement that commits by itself is one step/m ? 1 : 0;
        is($says, $is_one, "form $form: whether a statement that writes commits by itself is said") or diag $out;
    }
    ($status, undef, my $err) = lockbench(@explore, '--steps', 'crash');
    is($status, 2, 'steps that cannot be made are refused');
    skip 'searches: with LB_TEST_SOAK=1', 4 if !$ENV{LB_TEST_SOAK};
    ($status, $out) = lockbench(@explore, '--opt', 'form=look');
    is($status, 1, 'found by itself');
    ($status, $out) = lockbench(@explore, '--opt', 'form=wait');
    is($status, 0, 'in a transaction: held');
    like($out, qr/^  complete: .*^  exclusive +held$/ms, '... in every order');
    ($status, $out) = lockbench('explore', '-s', "$source/examples/programs/advisory.py", '-d', $postgres, '--time', '10m', '-q');
    like($out, qr/^  complete: .*^  exclusive +held$/ms, 'advisory locks: held in every order');
}
done_testing();
