#!/usr/bin/env perl
# Protocols with whole seconds, like those of frameworks: a hold taken late in one second is over
# early in another. A lease of N of them lasts N - 1 seconds for certain, and is judged as that
# where the file says so; else the question is asked.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($status, $out, $err);

# --- which times have whole seconds only ---
sub asks
{
    my ($engine, $time) = @_;
    return spew('asks.sql', <<"SQL");
-- strategy: asks
-- shape: lock
-- claims: exclusive
-- option: lease_s = 30
-- name: setup
CREATE TABLE held (name varchar(60), owner varchar(60), until bigint NOT NULL DEFAULT 0);
-- name: resource
INSERT INTO held (name) VALUES (:resource);
-- name: acquire [$engine]
UPDATE held SET owner = :worker, until = $time + :lease_s
WHERE name = :resource AND until <= $time;
-- name: release
UPDATE held SET until = 0 WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE held;
SQL
}
for (['postgres', 'extract(epoch FROM now())::int', 1], ['postgres', 'CAST(EXTRACT(epoch FROM clock_timestamp()) AS BIGINT)', 1],
    ['postgres', 'floor(extract(epoch FROM now()))', 1], ['postgres', q{date_part('epoch', now())::bigint}, 1],
    ['postgres', '(extract(epoch FROM now()) * 1000)::bigint', 0], ['postgres', 'extract(epoch FROM now())', 0],
    ['postgres', ':now::bigint / 1000', 1], ['postgres', ':now / 1000.0', 0], ['postgres', 'floor(:now / 1000.0)', 1],
    ['postgres', q{extract(epoch FROM date_trunc('second', now()))}, 1],
    ['postgres', q{extract(epoch FROM date_trunc('milliseconds', now()))}, 0],
    ['mariadb', ':now DIV 1000', 1], ['mariadb', ':now / 1000', 0], ['mariadb', 'FLOOR(:now / 1000)', 1],
    ['mariadb', 'UNIX_TIMESTAMP()', 1], ['sqlite', ':now / 1000', 1], ['sqlite', ':now / 10000', 0], ['sqlite', ':now', 0])
{
    my ($engine, $time, $whole) = @$_;
    ($status, $out, $err) = lockbench('lint', asks($engine, $time));
    is($status, 0, "$engine, $time: no mistake") or diag $err;
    my $warning = qr/asks\.sql:10: warning: this time has whole seconds only/;
    if ($whole) { like($out, $warning, '... but a warning') }
    else { unlike($out, $warning, '... and no warning') }
}
(my $column = slurp(asks('postgres', 'clock_timestamp()'))) =~ s/until bigint NOT NULL DEFAULT 0/"until" timestamptz(0)/;
(undef, $out) = lockbench('lint', spew('column.sql', $column));
like($out, qr/column\.sql:6: warning: this time has whole seconds only/, 'a column without a fraction: a warning');
$column =~ s/timestamptz\(0\)/timestamptz(3)/;
(undef, $out) = lockbench('lint', spew('column.sql', $column));
unlike($out, qr/whole seconds/, '... and none of one with it');
# A file for any engine: a column is named beside the engine that cuts it.
$column =~ s/acquire \[postgres\]/acquire/;
$column =~ s/timestamptz\(3\)/timestamptz/;
(undef, $out) = lockbench('lint', spew('column.sql', $column));
unlike($out, qr/column\.sql:6: .*whole seconds/, 'a type of PostgreSQL alone: no warning for MariaDB');
$column =~ s/timestamptz/timestamp/;
(undef, $out) = lockbench('lint', spew('column.sql', $column));
like($out, qr/column\.sql:6: warning: this time has whole seconds only on mariadb:/, '... a type of both: the warning names the engine');

# --- a lease of one of them may be over at once: a hold of most of a second soon shows that ---
my @crowd = ('-d', 'sqlite:', '-q', '-S', 'mutex-hot', '--workers', '3', '--hold', '700ms', '--duration', '5s', '--warmup', '0',
    '--poll', '2ms', '--poll-max', '5ms', '--progress-bound', '0');
(my $unsaid = slurp("$folder/whole-lock.sql")) =~ s/^-- precision: .*$/--/m or die 'no directive';
$unsaid = spew('unsaid.sql', $unsaid);
my @runs = map { start('run', '-s', @$_[0, 1, 2], @crowd, @$_[3 .. $#$_]) } ["$folder/whole-lock.sql", '--ttl', '1s'],
    ["$folder/whole-lock.sql", '--ttl', '3s', '--opt', 'free=young'], [$unsaid, '--ttl', '1s'];
($status, $out, $err) = finish($runs[0]);
is($status, 0, 'one that is right is not accused') or diag $out, $err;
like($out, qr/^whole-lock +sqlite /m, '... and it was run');
($status, $out, $err) = finish($runs[1]);
is($status, 1, 'what takes young ones over is') or diag $out, $err;
like($out, qr/^  exclusive, /m, '... by the right guarantee');

($status, $out, $err) = finish($runs[2]);
is($status, 5, 'whether it counts whole seconds is asked where the file does not say it') or diag $out, $err;
like($out =~ s/\n\s+/ /gr, qr/exclusive: line 18: .* write "-- precision: seconds" or "-- precision: fine" into the header/, '... with its line');

# --- verify asks for two, of which one is certain: half of its times are twice as long ---
(undef, $out) = lockbench('verify', '-s', "$folder/whole-lock.sql", '-d', 'sqlite:', '--plan');
my ($overrun) = $out =~ /^ +\d+ overrun +([\d.]+) s/m;
(my $fine = slurp("$folder/whole-lock.sql")) =~ s/:now \/ 1000/:now/g;
$fine =~ s/:now \+ :seconds/:now + 1000 * :seconds/g;
(undef, $out) = lockbench('verify', '-s', spew('fine.sql', $fine), '-d', 'sqlite:', '--plan');
my ($finer) = $out =~ /^ +\d+ overrun +([\d.]+) s/m;
cmp_ok($overrun // 0, '>', 1.5 * ($finer // 99), 'a lease of two seconds');

done_testing();
