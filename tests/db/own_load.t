#!/usr/bin/env perl
# The commands of docs/own-load.md: each runs on tables that have the columns of its library, and lockbench takes the files. The
# columns are those that the document's sources name.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($server) = grep { /^postgresql:/ } split ' ', $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL server in LB_TEST_URIS' if !defined $server;
my ($uri) = own_database($server) or plan skip_all => 'no right to make a database';

my $tables = <<'SQL';
CREATE SCHEMA pgboss;
CREATE TABLE pgboss.job (state text, created_on timestamptz, started_on timestamptz, completed_on timestamptz);
CREATE TABLE good_jobs (created_at timestamp, performed_at timestamp, finished_at timestamp);
CREATE TABLE oban_jobs (state text, inserted_at timestamp, attempted_at timestamp, completed_at timestamp);
CREATE TABLE river_job (state text, created_at timestamptz, attempted_at timestamptz, finalized_at timestamptz);
CREATE TABLE solid_queue_jobs (created_at timestamp, finished_at timestamp);
CREATE SCHEMA graphile_worker;
CREATE TABLE graphile_worker._private_jobs (id bigint PRIMARY KEY);
SQL
# Three jobs of 20 ms, and one that is not done.
my $rows = join ', ', map { "('2026-11-28 08:00:00.$_', '2026-11-28 08:00:01', '2026-11-28 08:00:01.02')" } 1 .. 3;
$tables .= "INSERT INTO good_jobs VALUES $rows, ('2026-11-28 08:00:02', NULL, NULL);\n";
for my $table ('pgboss.job', 'oban_jobs', 'river_job') {
    (my $with_state = $rows) =~ s/\(/('completed', /g;
    $tables .= "INSERT INTO $table VALUES $with_state, ('active', '2026-11-28 08:00:02', '2026-11-28 08:00:03', NULL);\n";
}
$tables .= 'INSERT INTO solid_queue_jobs VALUES ' . join(', ', map { "('2026-11-28 08:00:00.$_', NULL)" } 1 .. 4) . ";\n";
my $made = spew('tables.sql', $tables);
is(system('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $made, $uri), 0, 'tables with the columns of the libraries');

# Lines of the logs, as the libraries write them.
my $dir = scratch();
mkdir "$dir/log" or die "$dir/log: $!\n";
spew('log/production.log', join '', map { "[ActiveJob] [MailJob] [5f$_] Performed MailJob (Job ID: 5f$_) from SolidQueue(default) in 20.0ms\n" } 1 .. 3);
spew('worker.log', join '', map { "[worker(5f)] INFO: Completed task $_ (mail) with success (20.00ms)\n" } 1 .. 3);

my $document = slurp("$ENV{LB_SOURCE}/docs/own-load.md");
my @blocks = $document =~ /^\*\*([^*]+)\*\*.*?^```sh\n(.*?)^```/msg;
is(scalar @blocks, 2 * 6, 'a block for each library');
$ENV{DATABASE_URL} = $uri;
my $queue = good_queue();
while (my ($library, $script) = splice @blocks, 0, 2) {
    unlink "$dir/durations.csv", "$dir/arrivals.csv";
    $script =~ s/^mysql .*\n//mg;    # the same query for another server
    # Jobs arrive between the trigger and the query.
    $script =~ s/^(psql --csv .*job_arrivals)/psql -Xq "\$DATABASE_URL" -c 'INSERT INTO graphile_worker._private_jobs SELECT generate_series(1, 4)'\n$1/m;
    my $run = spew('run.sh', "set -e\ncd $dir\n$script");
    is(system("sh $run >$dir/out 2>&1"), 0, "$library: the commands") or diag slurp("$dir/out");
    my ($status, $out, $err) = lockbench('run', '-d', 'sqlite:', '-s', $queue, '-S', 'steady', '--hold', "file:$dir/durations.csv", '--rate',
        "trace:$dir/arrivals.csv,speed=100", '--duration', '200ms', '--format', 'json', '-q');
    ok($status == 0 || $status == 5, '... lockbench takes the files') or diag $out, $err;    # 5: too busy to begin on time
    like($out, qr/"hold_ns":\s*20000000\b/, '... with the durations of the finished jobs');
    is(scalar grep({ /^[0-9.]+$/ } split /\n/, slurp("$dir/arrivals.csv")), 4, '... and the arrivals of all');
}

done_testing;
