#!/usr/bin/env perl
# Programs as strategies, at work: the examples, compiled where they are C, on SQLite and on the servers of
# LB_TEST_URIS. Correct ones are held, also when their holders are killed, paused and cut off; the
# twin with one defect is caught; a queue loses nothing; and nothing is left of it, no process, file
# or database. Only with scripts/test --all: it needs the examples' libraries, and repeats what
# cli/programs tests on SQLite.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my $examples = "$source/examples/programs";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';

# The example with one thing changed.
sub twin
{
    my ($name, $from, $to) = @_;
    my $text = slurp("$examples/$name");
    $text =~ s/\Q$from\E/$to/ or die "$name: nothing to change\n";
    my $path = spew($name =~ s/\./-twin./r, $text);
    chmod 0755, $path;
    return $path;
}

sub compile
{
    my ($path) = @_;
    my $program = scratch() . '/' . ($path =~ m{([^/]+)\.c$})[0];
    my $flags = `pkg-config --cflags --libs sqlite3 jansson`;
    chomp $flags;
    system("cc -Wall -Wextra -Werror -o $program $path $flags") == 0 or return;
    return $program;
}

# The cells of one command, and its exit status.
sub cells
{
    my (@args) = @_;
    my ($status, $out, $err) = lockbench(@args, '--format', 'json', '-q');
    my $result = eval { decode_json($out) } or diag "@args: $status $err";
    return ($status, @{ $result->{cells} // [] });
}

sub verdicts { return encode_json($_[0]{guarantees} // {}) }

sub left
{
    my @found;
    for my $file (glob '/proc/[0-9]*/cmdline') {
        my $text = slurp($file) =~ tr/\0/ /r;
        push @found, $text if $text =~ m{\Q@{[scratch()]}\E/(?:lease|advisory)|\Q$examples\E/\w+\.(?:py|sh)} && $text !~ /lockbench (?:run|verify)/;
    }
    return @found;
}

# They end with a number of operations, and faults have time that no stall takes.
my @bounds = ('--progress-bound', '10m', '--recovery-bound', '10m');
my @short = ('--count', '30', '--duration', '0', '--progress-bound', '10m', '--warmup', '0', '--workers', '4');
my @long = ('--duration', '8s', @bounds);
my $c = compile("$examples/lease.c");
my $c_twin = compile(twin('lease.c', ' AND until <= " NOW " RETURNING', ' RETURNING'));
my $has_python = system('/usr/bin/python3 -c "import sqlite3" 2>/dev/null') == 0;
my $has_psycopg2 = system('/usr/bin/python3 -c "import psycopg2" 2>/dev/null') == 0;

SKIP: {
    skip 'no compiler, sqlite3 or jansson', 9 if !defined $c || !defined $c_twin;
    my ($status, $cell) = cells('run', '-s', $c, '-d', 'sqlite:', @short);
    is($status, 0, 'in C: held') or diag verdicts($cell);
    is($cell->{runs}[0]{successes_all}, 120, 'and it was at work');
    ($status, $cell) = cells('run', '-s', $c_twin, '-d', 'sqlite:', @short, '--hold', '5ms');
    is($status, 1, 'in C, without a look at the lease: two holders');
    ($status, my @cells) = cells('verify', '-s', $c, '-d', 'sqlite:', '--faults', 'kill,pause', @long);
    is($status, 0, 'in C: held when holders are killed and paused');
    is(scalar(grep { $_->{runs}[0]{faults} > 0 } @cells), 2, 'both faults');
    ($status, @cells) = cells('verify', '-s', $c, '-d', 'sqlite:');
    ok($status == 0 || $status == 5, 'in C: nothing is violated by what verify asks by itself') or diag "status $status";
    is(join(' ', map { $_->{scenario} } @cells), 'mutex-hot overrun dead-holder mutex-hot+pause', 'which its first line decides');
    my $releases = compile(twin('lease.c', 'AND token = ?4 ', ''));
    ($status, my $out) = lockbench('verify', '-s', $releases, '-d', 'sqlite:', '-q', '-S', 'overrun', @long);
    is($status, 1, 'in C, with a release that does not look whose it is: caught');
    like($out, qr/^not ok \d+ - lease-c sqlite overrun owner-release$/m, 'by name');
}
is_deeply([left()], [], 'no process is left');

SKIP: {
    skip 'no sqlite3', 2 if system('sqlite3 --version >/dev/null 2>&1') != 0;
    my ($status) = cells('run', '-s', "$examples/lease.sh", '-d', 'sqlite:', @short, '--count', '5', '--workers', '3');
    is($status, 0, 'in shell: held');
    ($status) = cells('run', '-s', twin('lease.sh', ' AND until <= $now', ''), '-d', 'sqlite:', @short, '--count', '5', '--hold', '50ms');
    is($status, 1, 'in shell, without a look at the lease: two holders');
}

SKIP: {
    skip 'no python3', 9 if !$has_python;
    my ($status, $cell) = cells('run', '-s', "$examples/queue.py", '-d', 'sqlite:', '-S', 'drain', '--backlog', '300', '--duration', '0', '--workers', '4');
    is($status, 0, 'a queue: nothing is lost, nothing twice') or diag verdicts($cell);
    ($status, $cell) = cells('run', '-s', "$examples/queue.py", '-d', 'sqlite:', '-S', 'queue-rescue', @long);
    is($status, 0, 'a queue whose consumers die: their items come back') or diag verdicts($cell);
    my $twin = twin('queue.py', "WHERE state = 'ready' ORDER BY", "WHERE state IN ('ready', 'taken') ORDER BY");
    ($status, $cell) = cells('run', '-s', $twin, '-d', 'sqlite:', '-S', 'drain', '--backlog', '300', '--duration', '0', '--workers', '4');
    is($status, 1, 'a queue that gives away what is taken is caught') or diag verdicts($cell);

    # All items of a claim in one request. A program that reports further completed items is
    # believed.
    my $own = "$examples/queue.py";
    my @ten = ('-d', 'sqlite:', '-S', 'drain', '--backlog', '300', '--duration', '0', '--workers', '4', '--batch', '10', '--hold', '1ms');
    ($status, $cell) = cells('run', '-s', $own, @ten);
    is($status, 0, 'a queue that completes all of a claim at once') or diag verdicts($cell);
    is($cell->{runs}[0]{items}, 300, '... every item') or diag verdicts($cell);
    ($status, $cell) = cells('run', '-s', twin('queue.py', qq[    "batches": ["complete"],\n], ''), @ten);
    is($status, 0, '... and one that completes them one by one') or diag verdicts($cell);
    my $folder = scratch() . '/batched';
    lockbench('run', '-s', $own, @ten, '-q', '--keep-history', '-o', $folder);
    my ($history) = glob "$folder/*/*.lbh";
    my $events = `'$ENV{LOCKBENCH}' check '$history' --export jsonl`;
    like($events, qr/^(?:.*"invoke", "f":"complete".*\n){2,}(?:.*"ok", "f":"complete".*\n){2,}/m, '... recorded item by item');
    my $greedy = twin('queue.py', qq[id IN (SELECT value FROM json_each(?))"\n            " AND owner = ?], q[? > '' AND ? > '']);
    ($status, $cell) = cells('run', '-s', $greedy, @ten);
    is($status, 1, '... and one that completes what others have is caught') or diag verdicts($cell);
    is_deeply([left()], [], 'no process is left');
}

SKIP: {
    skip 'no PostgreSQL in LB_TEST_URIS, or no psycopg2', 12 if !defined $postgres || !$has_psycopg2;
    # A name of its own: other tests run the same program on the same server.
    my $advisory = spew("advisory-$$.py", slurp("$examples/advisory.py") =~ s/advisory-psycopg2/advisory-$$/r);
    chmod 0755, $advisory;
    my $databases = sub {
        my $list = `psql -XAtq -c "SELECT datname FROM pg_database WHERE datname LIKE 'lockbench\\_advisory\\_$$%'" '$postgres'`;
        return [split /\n/, $list];
    };
    my ($status, $cell) = cells('run', '-s', $advisory, '-d', $postgres, @short);
    is($status, 0, 'on PostgreSQL: held') or diag verdicts($cell);
    ($status, $cell) = cells('run', '-s', twin('advisory.py', 'pg_try_advisory_lock(%s)', 'pg_try_advisory_lock_shared(%s)'), '-d', $postgres, @short,
        '--hold', '5ms');
    is($status, 1, 'with a shared lock instead: two holders');
    ($status, my @cells) = cells('verify', '-s', $advisory, '-d', $postgres, '--faults', 'kill,pause,disconnect', @long);
    is($status, 0, 'held when holders are killed, paused and cut off') or diag verdicts(@cells);
    is(scalar(grep { $_->{runs}[0]{faults} > 0 } @cells), 3, 'all three');
    my ($deaths, $recovered) = (lockbench('verify', '-s', $advisory, '-d', $postgres, '--faults', 'kill', '-q', @long))[1] =~
        /mutex-hot\+kill +(\d+) +(\d+) /;
    cmp_ok($deaths // 0, '>', 0, 'holders die');
    cmp_ok($recovered // -1, '>=', ($deaths // 0) - 1, 'and what they held is granted again, but for the last at the end');
    is_deeply($databases->(), [], 'its database is dropped');
    is_deeply([left()], [], 'no process is left');

    # The values that it received must not appear in the output.
    my $leak = spew('leak.sh', <<'SH');
#!/bin/sh
echo '{"hello":1,"strategy":"leak","shape":"lock","claims":["exclusive"],"engines":["postgres"]}'
read -r line
printf '%s' "$line" | grep -o '"password":"[^"]*"' | tr '\n' ' ' >&2
printf '%s' "$line" | grep -o '"uri":"[^"?]*' >&2
exit 5
SH
    chmod 0755, $leak;
    my @said = lockbench('run', '-s', $leak, '-d', $postgres =~ s{//(\w+)@}{//$1:top%40secret@}r, '-q');
    is($said[0], 3, 'a program that says its password and ends');
    like($said[2], qr/password":"\*+".*uri":"postgresql:.*\*\*\*@/, 'its last line is shown');
    unlike("@said", qr/secret/, 'without the password, in either way of writing');

    # Killed itself, it leaves a database behind, which the next run drops.
    my $run = start('run', '-s', $advisory, '-d', $postgres, '-q', '--duration', '10m', '--workers', '2');
    my $tries = 30000;
    select undef, undef, undef, 0.01 while !@{ $databases->() } && $tries-- > 0;
    kill 'KILL', $run->{pid};
    finish($run);
    $tries = 30000;
    select undef, undef, undef, 0.01 while left() && $tries-- > 0;
    is_deeply([left()], [], 'killed itself: its programs end with it');
    cells('run', '-s', $advisory, '-d', $postgres, @short, '--count', '2');
    is_deeply($databases->(), [], 'and the next run drops what it left');
}
done_testing();
