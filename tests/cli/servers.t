#!/usr/bin/perl
# compare with several servers of one engine: the server is the question. Its verdicts, rate, waits and cost stand
# beside those of the reference.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my @files = ('-d', 'old=sqlite:', '-d', 'new=sqlite:');
my @rounds = ('--repeat', '6', '--duration', '100ms', '--warmup', '0', '--workers', '2', '--quiet', '--progress-bound', '10m');
my $lock = good_lock();
# Each change of the owner counts to 20,000 first.
my $slow = spew('slow.sql', <<'SQL');
CREATE TRIGGER slow BEFORE UPDATE ON good_lock BEGIN
    SELECT max(i) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n);
END;
SQL

my ($status, $out, $err) = lockbench('compare', '-s', $lock, @files, @rounds, '--after-setup', "new:$slow");
is($status, 4, 'a slower server: the exit status') or diag $out, $err;
my $flat = $out =~ s/\s+/ /gr;
like($flat, qr/Does the server matter\? good-lock, mutex-hot on SQLite, 6 rounds/, '... the question');
like($flat, qr/new \(SQLite [\d.]+\) against old \([\d.]+\), good-lock: same verdicts; 0\.\d+ \[0\.\d+, 0\.\d+\] of the successes\/s \(slower\)/,
    '... and the answer');
like($out, qr/^server +success/m, '... in a table of servers');
like($out, qr/^old .*the reference$/m, '... where the first is the reference');

($status, $out) = lockbench('compare', '-s', $lock, @files, @rounds, '--after-setup', "new:$slow", '--format', 'json', '--reference', 'new');
my $result = decode_json($out);
is($status, 0, 'with the slow one as the reference: none is slower');
my ($table) = grep { $_->{measured} eq 'rate' } @{ $result->{rankings} };
ok($table->{servers}, '... JSON says that servers are compared');
is($table->{reference}, 'new', '... with which');
like($table->{choice}, qr/^old \(SQLite/, '... in a sentence for each other');
is(join(' ', sort map { $_->{engine} } @{ $table->{ranks} }), 'new old', '... and by name');
my ($row) = grep { $_->{measured} eq 'rate' } @{ $result->{comparisons} };
is("$row->{engine} $row->{reference} $row->{verdict}", 'old new faster', '... the row of the other one');

# A guarantee that is broken on one of them only.
my $open = spew('open.sql', "CREATE TRIGGER open AFTER UPDATE ON good_lock BEGIN UPDATE good_lock SET owner = NULL; END;\n");
($status, $out) = lockbench('compare', '-s', $lock, @files, @rounds, '--after-setup', "new:$open");
is($status, 1, 'a server on which the lock breaks');
like($out =~ s/\s+/ /gr, qr/good-lock:[^;]* exclusive violated, was held/, '... and the sentence says which guarantee');

# The plans of the statements, on the tables that the run has.
my $bare = spew('bare.sql', 'CREATE TABLE bare AS SELECT * FROM good_lock; DROP TABLE good_lock; ALTER TABLE bare RENAME TO good_lock;');
my @few = ('--repeat', '2', '--workers', '1', '--count', '3', '--duration', '0', '--warmup', '0', '--quiet', '--progress-bound', '10m');
($status, $out) = lockbench('compare', '-s', $lock, @files, @few, '--after-setup', "new:$bare");
like($out =~ s/\s+/ /gr, qr/; the acquire's plan is SCAN good_lock, was SEARCH good_lock USING INDEX \S+ \(name=\?\)\./,
    'another plan: the sentence has both');
like($out, qr/^new .* changed .*n\/a/m, '... and the table says so');
($status, $out) = lockbench('compare', '-s', $lock, @files, @few, '--format', 'json');
$result = decode_json($out);
($table) = grep { $_->{measured} eq 'rate' } @{ $result->{rankings} };
like($table->{choice}, qr/; the acquire's plan is the same\.$/, 'the same plan: one clause');
my ($first) = map { $_->{runs}[0] } @{ $result->{cells} };
like($first->{plans}{acquire}, qr/^SEARCH good_lock/, '... which JSON has for the first run');
is($first->{operations}{acquire}{succeeded}, 3, '... of which the run has no more grants');

# Strategies are compared on each engine as before.
($status, $out) = lockbench('compare', '-s', "$lock," . open_door(), '-d', 'one=sqlite:', @rounds);
like($out, qr/^Which is the fastest\? mutex-hot on one, 6 rounds$/m, 'one server: the strategies are the question');

for (['-d', 'old=sqlite:', '-d', 'old=sqlite:', qr/option -d: two servers have the name 'old'/],
    ['-d', ('x' x 32) . '=sqlite:', qr/option -d: the name 'x+' has more than 31 characters/],
    [@files, '--reference', 'oldr', qr/option --reference: 'oldr' is none of the servers; did you mean old\?/],
    [@files, '--after-setup', $slow, '--after-setup', "new:$open", qr/option --after-setup: new has two files/],
    ['-d', 'mariadb://localhost/?sessionVariables=a', qr/MariaDB: sessionVariables wants NAME=VALUE/],
    ['-d', q{mariadb://localhost/?sessionVariables=a=1';DROP}, qr/MariaDB: sessionVariables wants NAME=VALUE/]) {
    my @args = @$_;
    my $message = pop @args;
    ($status, $out, $err) = lockbench('compare', '-s', $lock, @args, @rounds);
    is($status, 2, "@args[-2, -1]: refused");
    like($err, qr/\Alockbench: [^\n]*$message[^\n]*\n\z/, '... in one line');
}

SKIP: {
    my ($mariadb) = grep { /^mariadb:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    skip 'no MariaDB', 1 if !defined $mariadb;
    my $asks = spew('asks.sql', "SELECT (SELECT 1 WHERE \@\@lock_wait_timeout = 77 AND \@\@sql_mode LIKE '%ANSI%' UNION ALL SELECT 1 WHERE "
        . "NOT (\@\@lock_wait_timeout = 77 AND \@\@sql_mode LIKE '%ANSI%') UNION ALL SELECT 1 WHERE \@\@lock_wait_timeout <> 77);\n");
    my $set = $mariadb . ($mariadb =~ /\?/ ? '&' : '?') . 'sessionVariables=lock_wait_timeout=77,sql_mode=ANSI';
    my @short = ('--count', '3', '--duration', '0', '--warmup', '0', '--quiet', '--progress-bound', '10m', '--after-setup', $asks);
    ($status, $out, $err) = lockbench('run', '-s', $lock, '-d', $set, @short);
    is($status, 0, 'MariaDB: sessions have the variables') or diag $err;
    ($status) = lockbench('run', '-s', $lock, '-d', $mariadb, @short);
    is($status, 3, '... and without them they have not');
}

SKIP: {
    my ($postgres) = grep { /^postgresql:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
    skip 'no PostgreSQL', 1 if !defined $postgres;
    my $sleeps = spew('sleeps.sql', <<'SQL');
CREATE FUNCTION sleeps() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$;
CREATE TRIGGER sleeps BEFORE UPDATE ON good_lock FOR EACH ROW EXECUTE FUNCTION sleeps();
SQL
    ($status, $out) = lockbench('compare', '-s', $lock, '-d', "old=$postgres", '-d', "new=$postgres", '--repeat', '2', '--duration', '800ms',
        '--warmup', '0', '--workers', '4', '--quiet', '--progress-bound', '10m', '--after-setup', "new:$sleeps");
    like($out =~ s/\s+/ /gr, qr/; new: \d+ wait events? \([^)]*Timeout:PgSleep/, 'a wait that only one server has is in the sentence');
    like($out, qr/^new .* the same +[1-9]/m, '... and in the table');
}

done_testing();
