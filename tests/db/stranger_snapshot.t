#!/usr/bin/env perl
# A correct outbox reads up to the oldest open transaction, of any session on the server. An item
# hidden by a stranger's transaction is not lost: exploring waits for its end, or says that it does
# not end, and a run has no verdict.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

# A server of its own: transactions of other tests would be waited for, too, and its own would hold up theirs.
my ($uri) = own_servers('--fast', 'postgres');

# A session of a stranger, with a transaction under way.
sub stranger
{
    my ($out, $in);
    local $ENV{PGAPPNAME} = 'stranger';
    pipe $out, my $answers or die;
    pipe my $statements, $in or die;
    my $pid = fork() // die;
    if ($pid == 0) {
        open STDIN,  '<&', $statements or die;
        open STDOUT, '>&', $answers or die;
        close $_ for $in, $out;
        exec 'psql', '-XAtq', $uri or die;
    }
    close $_ for $answers, $statements;
    $in->autoflush(1);
    return { pid => $pid, in => $in, out => $out };
}

sub says
{
    my ($stranger, $sql) = @_;
    print { $stranger->{in} } "$sql\n";
    return scalar readline $stranger->{out};
}

sub outbox
{
    my ($name, $horizon) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-loss
-- name: setup
CREATE TABLE outbox (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id int NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE TABLE place (one int PRIMARY KEY, xid xid8 NOT NULL, no bigint NOT NULL);
INSERT INTO place VALUES (1, '0', 0);
-- name: put
INSERT INTO outbox (id) VALUES (:id);
-- name: claim tx=one
-- require: row
SELECT one FROM place WHERE one = 1 FOR UPDATE;
UPDATE place SET xid = o.xid, no = o.no
FROM (SELECT b.id, b.xid, b.no FROM outbox b, place p WHERE b.xid < $horizon(pg_current_snapshot())
      AND (b.xid, b.no) > (p.xid, p.no) ORDER BY b.xid, b.no LIMIT 1) AS o WHERE one = 1 RETURNING o.id;
-- name: complete
SELECT 1 AS one;
-- name: teardown
DROP TABLE outbox, place;
SQL
}

my ($right, $wrong) = (outbox('by-xmin', 'pg_snapshot_xmin'), outbox('by-xmax', 'pg_snapshot_xmax'));
my @explore = ('explore', '-d', $uri, '--workers', 1, '--items', 1, '--producers', 2, '--format', 'json', '-s');

# One that does not end.
my $long = stranger();
like says($long, 'BEGIN; SELECT pg_current_xact_id();'), qr/^\d/, 'a stranger has a transaction';
my ($status, $out, $err) = lockbench(@explore, $right, '--time', '2s');
is $status, 3, 'it does not end: exit status';
like $err, qr/\Alockbench: a statement asks which transactions are under way, and [^\n]* process \d+ \(stranger, user \w+\); [^\n]*\n\z/,
    'it does not end: one line says who';
unlike $out, qr/violated|held/, 'it does not end: no verdict';
my @run = ('run', '-d', $uri, '-c', 2, '--backlog', 20, '-T', '2s', '--format', 'json', '-s');
($status, $out) = lockbench(@run, $right);
is $status, 5, 'a run does not call lost what he hides: a question' or diag $out;
like $out, qr/line \d+: another's open transaction may hide items [^"]*: write \\"-- due: later\\" or \\"-- due: at-once\\"/,
    '... with the line and the directive';
for (['later', 5], ['at-once', 1]) {
    my ($due, $wanted) = @$_;
    ($status, $out) = lockbench(@run, spew("due-$due.sql", slurp($right) =~ s/^-- claims.*\n\K/-- due: $due\n/mr));
    is $status, $wanted, "... -- due: $due answers it" or diag $out;
    unlike $out, qr/another's open transaction/, '... and nothing is asked';
}

# He ends, and the next one begins, and so on: each is waited for.
says($long, 'ROLLBACK; SELECT 1;');
my @short = map { stranger() } 1 .. 2;
my $feeder = fork() // die;
if ($feeder == 0) {
    local $SIG{PIPE} = 'IGNORE';
    for (;;) {
        says($_, 'BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(0.02) IS NULL; ROLLBACK;') // POSIX::_exit(0) for @short;
        readline $_->{out} for @short;
    }
}
($status, $out, $err) = lockbench(@explore, $right);
my $found = eval { decode_json($out) } // {};
is "$status $found->{verdicts}{'no-loss'}", '0 held', 'short ones of strangers: a right protocol is not accused' or diag $out, $err;
ok $found->{complete}, '... and all was explored';
($status, $out, $err) = lockbench(@explore, $wrong, '--rounds', 2, '--first');
is $status, 1, 'one that reads past what is under way is accused' or diag $out, $err;
kill 'KILL', $feeder;
waitpid $feeder, 0;
close $_->{in} for $long, @short;
waitpid $_->{pid}, 0 for $long, @short;
done_testing;
