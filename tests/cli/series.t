#!/usr/bin/env perl
# --series: each run over time, as rows of CSV, in the text, in a stored result and on the page.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use List::Util qw(sum);
use Test::More;

my $lock = good_lock();

# The rows of a CSV file without commas in its fields, by column.
sub rows_of
{
    my ($file) = @_;
    my ($head, @lines) = split /\n/, slurp($file);
    my @names = split /,/, $head;
    return map {
        my %row;
        @row{@names} = map { s/^"|"$//gr } split /,/, $_, -1;
        \%row
    } @lines;
}

my $file = scratch() . '/made/series.csv';
my ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '--producers', '1', '--rate', '100/s', '--duration', '2200ms', '--series', $file,
    '-o', scratch() . '/stored', '-q', '--format', 'text', '--format', 'json:' . scratch() . '/run.json');
ok($status == 0 || ($status == 5 && $out =~ /the generator fell behind/), 'a queue on SQLite') or diag $status, $out, $err;
my @rows = rows_of($file);
my $run = decode_json(slurp(scratch() . '/run.json'))->{cells}[0]{runs}[0];
cmp_ok(scalar @rows, '>=', 2, 'a row for each second');
my $total = sum map { $_->{successes_per_s} * $_->{length_s} } @rows;
cmp_ok(abs($total - $run->{successes_per_s} * $run->{elapsed_ns} / 1e9), '<', 10, 'the rows have all successes')
    or diag "$total, not " . $run->{successes_per_s} * $run->{elapsed_ns} / 1e9;
cmp_ok(abs($rows[1]{start_s} - $rows[0]{length_s}), '<', 1e-6, 'a row begins where the last one ends');
cmp_ok($rows[0]{due_per_s}, '>', 50, 'arrivals');
ok(!(grep { $_->{cpu} <= 0 } @rows), 'CPU of lockbench');
ok(!(grep { $_->{memory_bytes} < 1e6 } @rows), 'its memory');
ok(!(grep { $_->{backlog} eq '' || $_->{backlog} < 0 } @rows), 'a backlog');
cmp_ok($rows[-1]{database_bytes} || $rows[0]{database_bytes}, '>', 0, 'the size of the file');
is($rows[0]{wal_bytes_per_s} . $rows[0]{locks} . $rows[0]{server_cpu} . $rows[0]{phase}, '', 'what SQLite does not tell is empty');
like($out, qr/^over time: skip-locked on sqlite, steady\nsuccess\/s +\S+  \S+ to \S+\n/m, 'the text has it');
my ($stored) = glob scratch() . '/stored/*/intervals.jsonl';
my @stored = map { decode_json($_) } split /\n/, slurp($stored);
is_deeply([map { int 0.5 + 1e4 * $_->{cpu} } @stored], [map { int 0.5 + 1e4 * $_->{cpu} } @rows], 'so has the stored result');
my ($folder) = $stored =~ m{(.*)/};
($status, $out) = lockbench('report', $folder, '-o', '-');
like($out, qr/"intervals":\[\[\[0,\d+,\d+,\d+,\d+,\d+,\d+(?:\.\d+)?,0\.\d+,/, '... and the page, behind the numbers of an interval');

# Waiting workers: the refusals are the questions to the server in a second, and fewer with a longer pause.
my %asked;
for my $pause ('20ms', '400ms') {
    ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '-S', 'idle', '--poll', $pause, '--poll-max', $pause, '--duration', '1200ms', '--series', $file, '-q');
    ok($status == 0 || $status == 5, "idle workers, a pause of $pause") or diag $err;
    $asked{$pause} = sum map { $_->{refusals_per_s} * $_->{length_s} } rows_of($file);
}
cmp_ok($asked{'400ms'}, '>', 0, '... ask');
cmp_ok($asked{'20ms'}, '>', $asked{'400ms'}, '... less often with a longer pause');

# Processes of workers are counted, too.
($status) = lockbench('run', '-s', $lock, '--workers', '2', '--processes', '2', '--duration', '1200ms', '--hold', '0', '--series', $file, '-q');
@rows = rows_of($file);
cmp_ok($rows[0]{cpu}, '>', 0, 'CPU of processes');
is($rows[0]{database_bytes}, '', '... beside which SQLite is not asked');

# Nothing is left, and nothing replaced, where the run cannot begin or the file cannot be written.
spew('kept.csv', "kept\n");
my $kept = scratch() . '/kept.csv';
($status) = lockbench('run', '-s', $lock, '-d', 'sqlite:' . scratch() . '/no/such/file', '--series', $kept);
isnt($status, 0, 'a run that cannot begin');
is(slurp($kept), "kept\n", '... leaves the file');
($status, $out, $err) = lockbench('run', '-s', $lock, '--duration', '1s', '--series', scratch());
is($status, 2, 'a directory');
like($err, qr/\Alockbench: option --series: \S+ is a directory; .*\n\z/, '... is refused in one line');
($status) = lockbench('verify', '-s', $lock, '--series', $file);
is($status, 2, 'verify has no series');

for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    my ($engine) = $uri =~ /^(\w+)/;
    # Statistics of PostgreSQL come up to a second late.
    my $has_all = sub { return grep { $_->{dead_rows} || $_->{history_length} } rows_of($file) };
    ($status, $out, $err) = until_shown($has_all, 'run', '-s', 'skip-locked', '-d', $uri, '--producers', '1', '--rate', '200/s', '--duration', '3200ms',
        '--series', $file, '-q');
    @rows = rows_of($file);
    ok(scalar(grep { ($_->{live_rows} || 0) > 0 } @rows), "$engine: live rows") or diag $err, slurp($file);
    ok(scalar(grep { ($_->{dead_rows} || $_->{history_length} || 0) > 0 } @rows), "$engine: what is not cleaned up yet");
    ok(scalar(grep { ($_->{table_bytes} || 0) > 0 && $_->{index_bytes} > 0 } @rows), "$engine: bytes");
    ok(scalar(grep { ($_->{buffers_hit_per_s} || 0) > 0 } @rows), "$engine: buffers");
    ok(scalar(grep { ($_->{wal_bytes_per_s} || 0) > 0 } @rows), "$engine: WAL or redo");
    ok(scalar(grep { $_->{locks_waited} ne '' } @rows), "$engine: locks");
    next if $engine ne 'postgresql' && $uri !~ /socket=/;
    ok(scalar(grep { ($_->{server_cpu} || 0) > 0 } @rows), "$engine: CPU of the server");
}

# Bytes on the network: each question and its answer has some, and they are the workers' own. A Unix socket has no counts.
for my $uri (split /\n/, $ENV{LB_TEST_TCP_URIS} // '') {
    my ($engine) = $uri =~ /^(\w+)/;
    ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '-d', $uri, '-S', 'idle', '--duration', '4200ms', '--series', $file, '-q');
    @rows = grep { ($_->{net_sent_bytes_per_s} // '') ne '' && $_->{refusals_per_s} > 0 } rows_of($file);
    ok(scalar(@rows), "$engine by TCP: bytes") or diag $err, slurp($file);
    for my $way ('sent', 'received') {
        my ($bytes, $questions) = (0, 0);
        $bytes += $_->{"net_${way}_bytes_per_s"} * $_->{length_s}, $questions += $_->{refusals_per_s} * $_->{length_s} for @rows;
        my $each = $questions > 0 ? $bytes / $questions : 0;
        ok($each > 20 && $each < 2000, "$engine by TCP: bytes $way for a question") or diag $each, slurp($file);
    }
}
for my $uri (grep { /socket/ } split /\n/, $ENV{LB_TEST_URIS} // '') {
    my ($engine) = $uri =~ /^(\w+)/;
    lockbench('run', '-s', 'skip-locked', '-d', $uri, '-S', 'idle', '--duration', '2200ms', '--series', $file, '-q');
    ok(!(grep { $_->{net_sent_bytes_per_s} ne '' } rows_of($file)), "$engine by a socket: none");
}

# A table that is locked is not asked for its size: the run goes on, with a gap.
my ($pg) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 2 if !defined $pg;
    ($status, $out, $err) = lockbench('run', '-s', 'table-lock', '-d', $pg, '--workers', '2', '--hold', '400ms', '--duration', '2s', '--series', $file, '-q');
    is($status, 0, 'a protocol that locks its table') or diag $err;
    cmp_ok(scalar(rows_of($file)), '>=', 1, '... has its rows');
}

done_testing();
