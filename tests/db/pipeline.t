#!/usr/bin/env perl
# Pipelines: the end of a claim's last items and the next claim go out in one round trip. The history says that they do;
# the verdicts are those of plain runs, broken controls included; a connection that is cut in between leaves both
# outcomes unknown; and runs that cannot be pipelined say so in one line.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($postgres, $mariadb) = map { my $engine = $_; (grep { /^$engine/ } split /\n/, $ENV{LB_TEST_URIS} // '')[0] } qw(postgres mariadb);

# --- what cannot be ---

my $refused = sub {
    my ($name, $want, @words) = @_;
    my ($status, $out, $err) = lockbench('run', '-S', 'drain', '--quiet', '--pipeline', @words);
    is($status, 2, "$name is refused");
    (my $said = "$out$err") =~ s/\s+/ /g;
    like($said, qr/pipeline: $want/, '... and told why');
};
$refused->('a database without a round trip', 'SQLite is inside of this process', '-d', 'sqlite:', '-s', 'skip-locked');
$refused->('a queue without a server', 'pthread-queue has no server', '-s', 'pthread-queue');
$refused->('a pool', 'not with pool', '-d', 'sqlite:', '-s', 'skip-locked', '--pool', '2');
$refused->('a claim at its time', 'not with claim-interval', '-d', 'sqlite:', '-s', 'skip-locked', '--claim-interval', '5ms');
SKIP: {
    skip 'no MariaDB in LB_TEST_URIS', 2 if !defined $mariadb;
    $refused->('a library without pipelines', 'MariaDB cannot', '-d', $mariadb, '-s', 'skip-locked');
}

my $own = <<'SQL';
-- strategy: own-queue
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim, owner-release
-- pipeline: yes

-- name: setup
CREATE TABLE own_item (id bigint PRIMARY KEY, payload text NOT NULL, owner text, done boolean NOT NULL DEFAULT false);
-- name: put
INSERT INTO own_item (id, payload) VALUES (:id, :payload);
-- name: claim
UPDATE own_item SET owner = :worker WHERE id = (SELECT id FROM own_item WHERE owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, payload;
-- name: complete
UPDATE own_item SET done = true WHERE id = :id AND owner = :worker AND NOT done;
SQL
my $file = spew('own-queue.sql', $own);
my ($status, $out, $err) = lockbench('verify', '-s', $file, '-d', 'sqlite:', '--quiet');
like("$out$err", qr/pipeline: SQLite is inside of this process/, 'nor is a file that asks for it run without');
(my $plain = $own) =~ s/ FOR UPDATE SKIP LOCKED//;
$plain = spew('own-plain.sql', $plain);
($status, $out, $err) = lockbench('run', '-S', 'drain', '-s', $plain, '-d', 'sqlite:', '--quiet', '--no-pipeline', '--format', 'json');
is($status, 0, '... but with --no-pipeline it is');
like(eval { decode_json($out)->{cells}[0]{reproduce} } // '', qr/ --no-pipeline /, '... as is said to whoever runs it again');
($status, $out, $err) = lockbench('explore', '-s', $plain, '-d', 'sqlite:', '--quiet', '--items', '1');
is($status, 0, '... and explored, one statement after another');
(my $lock = $own) =~ s/shape: queue/shape: lock/;
$lock =~ s/^-- claims.*\n//m;
($status, $out, $err) = lockbench('lint', spew('own-lock.sql', $lock));
like("$out$err", qr/pipeline: is for a queue/, 'a lock has no use for it');
(my $odd = $own) =~ s/pipeline: yes/pipeline: perhaps/;
($status, $out, $err) = lockbench('lint', spew('own-odd.sql', $odd));
like("$out$err", qr/own-odd\.sql:4: pipeline: "perhaps" is neither yes nor no/, 'yes or no');

# --- what can ---

if (!defined $postgres) {
    done_testing();
    exit;
}

my $n_runs = 0;

# Runs it; the cell, and the operations of the history, by log.
sub run_and_read
{
    my ($uri, @words) = @_;
    my $folder = scratch() . '/run' . $n_runs++;
    my ($status, $out, $err) = lockbench('run', '-d', $uri, '--quiet', '--format', 'json', '--keep-history', '-o', $folder, @words);
    my $cell = eval { decode_json($out)->{cells}[0] };
    if (!defined $cell) {
        diag "@words: status $status: $err";
        return ({}, {});
    }
    my ($history) = glob "$folder/*/*.lbh";
    my (undef, $text) = lockbench('check', $history, '--export', 'jsonl');
    my %logs;
    for (map { decode_json($_) } split /\n/, $text) {
        push @{$logs{$_->{log}}}, $_ if defined $_->{log} && $_->{process} ne 'nemesis';
    }
    return ($cell, \%logs);
}

# Claims sent together with an end; the number of these pairs with both outcomes unknown.
sub pairs
{
    my ($logs) = @_;
    my ($n, $n_unknown) = (0, 0);
    for my $log (values %$logs) {
        for my $i (1 .. $#$log) {
            next if $log->[$i]{f} ne 'claim' || $log->[$i]{type} ne 'invoke' || $log->[$i - 1]{type} ne 'invoke';
            $n++;
            my @ends = grep { $_->{type} ne 'invoke' && $_->{process} eq $log->[$i]{process} } @$log[$i + 1 .. $#$log];
            my ($claim) = grep { $_->{f} eq 'claim' } @ends;
            $n_unknown++ if defined $claim && $claim->{type} eq 'info' && $ends[0]{f} ne 'claim' && $ends[0]{type} eq 'info';
        }
    }
    return ($n, $n_unknown);
}

my @drain = ('-S', 'drain', '--workers', '4', '--backlog', '400');
for (['one by one', '-s', 'skip-locked'], ['some at a time, which fail and are given back', '-s', 'skip-locked', '--batch', '5',
    '--error', '0.1', '--free', '0.2'], ['together', '-s', 'skip-locked', '--opt', 'ends=batch', '--batch', '10', '--free', '0.1'],
    ['from a file', '-s', $file]) {
    my ($name, @words) = @$_;
    my ($cell, $logs) = run_and_read($postgres, @drain, '--pipeline', @words);
    is($cell->{verdict}, 'held', "items that are ended $name: held");
    my ($n) = pairs($logs);
    cmp_ok($n, '>', 10, "... and claims went out with the ends before them");
    ($cell, $logs) = run_and_read($postgres, @drain, grep { $_ ne '--pipeline' } @words);
    ($n) = pairs($logs);
    if ($name eq 'from a file') {
        cmp_ok($n, '>', 10, '... as the file asks for');
        is($cell->{config}{pipeline}, JSON::PP::true, '... and as the result says');
        ($cell, $logs) = run_and_read($postgres, @drain, '--no-pipeline', @words);
        ($n) = pairs($logs);
        is($n, 0, '... and not where the user says no');
    } else {
        is($n, 0, '... and not without');
    }
}

my ($cell, $logs) = run_and_read($postgres, @drain, '--pipeline', '-s', 'skip-locked', '--count', '3');
my %claims;
for my $log (values %$logs) {
    my $n = grep { $_->{f} eq 'claim' && $_->{type} eq 'invoke' } @$log;
    $claims{$n}++ if $n > 0;
}
is_deeply(\%claims, {3 => 4}, 'three operations of each worker are three claims');

# Broken controls are caught, and their twins are right.
for (['naive-claim', 'skip-locked', 'no-duplicate'], ['complete-by-id', 'lease-queue', 'owner-release', '--opt', 'ends=batch', '--batch', '10',
    '--hold', '20ms', '--ttl', '100ms', '--backlog', '200']) {
    my ($control, $twin, $guarantee, @words) = @$_;
    my $verdict = '';
    for (1 .. 5) { # it takes two workers at once
        ($cell, $logs) = run_and_read($postgres, @drain, '--workers', '8', '--pipeline', '-s', $control, @words);
        $verdict = $cell->{guarantees}{$guarantee}{verdict} // '';
        last if $verdict eq 'violated';
    }
    is($verdict, 'violated', "$control is caught");
    ($cell, $logs) = run_and_read($postgres, @drain, '--workers', '8', '--pipeline', '-s', $twin, @words);
    is($cell->{verdict}, 'held', "$twin is right");
}

# A connection that is cut after the two: both outcomes are unknown.
($cell, $logs) = run_and_read($postgres, @drain, '--pipeline', '-s', 'skip-locked', '--hold', '2ms', '--fault', 'cut', '--fault-interval',
    '20ms', '--fault-count', '5');
is($cell->{verdict}, 'held', 'a cut accuses nobody');
my (undef, $n_unknown) = pairs($logs);
cmp_ok($n_unknown, '>', 0, '... and both outcomes are unknown');
# A killed worker has perhaps sent both.
($cell) = run_and_read($postgres, @drain, '--pipeline', '-s', 'lease-queue', '--ttl', '200ms', '--hold', '2ms', '--fault', 'kill', '--fault-interval',
    '30ms', '--fault-count', '3');
is($cell->{verdict}, 'held', 'nor does a death');

# At SERIALIZABLE the one may fail, and the other not.
($cell, $logs) = run_and_read($postgres, @drain, '--workers', '8', '--pipeline', '-s', 'skip-locked', '--isolation', 'serializable');
is($cell->{verdict}, 'held', 'conflicts of the one leave the other alone');

SKIP: {
    my $bouncer = $ENV{LB_TEST_PGBOUNCER_URI} // '';
    skip 'no pooler', 2 if $bouncer eq '';
    ($cell, $logs) = run_and_read($bouncer, @drain, '--pipeline', '-s', 'skip-locked', '--opt', 'ends=batch', '--batch', '5');
    is($cell->{verdict}, 'held', 'behind a pooler, too');
    my ($n) = pairs($logs);
    cmp_ok($n, '>', 10, '... in one round trip');
}
done_testing();
