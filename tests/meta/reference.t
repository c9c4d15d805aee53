#!/usr/bin/env perl
# results/reference: the published results have the form of their schema and no empty cell, agree
# with a sample measured here, and their transcripts play with the plain client programs (a few;
# with LB_TEST_SOAK=1 all). The player is seen to refuse a transcript that is not so. Only with
# scripts/test --all: it asks samples of the published survey again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/../../scripts/lib";
use JSON::PP;
use Lockbench;
use Reference::Files ();
use Reference::Replay;
use Schema;
use Test::More;

my $source = $ENV{LB_SOURCE} // "$FindBin::Bin/../..";
my $script = "$source/scripts/reference";
my $data = Reference::Files::published();
my $soak = $ENV{LB_TEST_SOAK};

# The servers, by their kind.
my %uri = (sqlite => 'sqlite:', $ENV{LB_TEST_PGBOUNCER_URI} ? (pgbouncer => $ENV{LB_TEST_PGBOUNCER_URI}) : ());
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    if ($uri =~ /^mariadb/) { $uri{mariadb} //= $uri; next }
    next if $uri !~ /^postgres/ || system("psql --version >/dev/null 2>&1") != 0;
    my ($major) = `psql -XAtqc 'SHOW server_version' '$uri'` =~ /^(\d+)/ or next;
    $uri{ $major == 15 ? 'postgres' : 'pg18' } //= $uri if $major == 15 || $major == 18;
}

# Cells whose violations show under load only, and why.
sub by_chance
{
    return map { $_ => 1 } (
        'article-job-status-seconds/postgres-15-pgbouncer/read-committed',    # a second must begin between two statements
        'article-job-status-seconds/galera-4/repeatable-read',
        # Between the snapshot and the lock of one statement.
        map({ my $row = $_; map { "$row/postgres-$_/serializable" } 15, 18 } qw(advisory-no-recheck good-job-no-recheck good-job)),
        # As on one node of MariaDB, but for numbers, which step by the number of nodes.
        map({ "$_/galera-4/repeatable-read" } qw(article-control-table fifo-poll complete-by-id)),
        map({ "$_/galera-4/repeatable-read" } qw(fifo-poll-safe lease-update-safe nowait)),    # a lost COMMIT: docs/galera-lost-commit.md
    );
}

sub reference
{
    my (@args) = @_;
    my ($status, $out, $err) = Reference::Files::captured($script, @args);
    return ($status, $out, $err);
}

# --- the form ---
{
    my @wrong = mistakes($data, decode_json(slurp("$source/results/reference/schema.json")), 'reference');
    is_deeply([grep { defined } @wrong[0 .. 9]], [], 'the data is as its schema says');
    my %broken = (%$data, cells => [{ %{ $data->{cells}[0] }, verdict => 'perhaps' }]);
    like(join(' ', mistakes(\%broken, decode_json(slurp("$source/results/reference/schema.json")), 'reference')), qr/verdict: "perhaps"/,
        'and the schema refuses another verdict');
    my %cell = map { $_->{id} => $_ } @{ $data->{cells} };
    my @ids = map { my $row = $_->{id}; map { "$row/$_->{id}" } @{ $data->{columns} } } @{ $data->{rows} };
    is_deeply([grep { !$cell{$_} } @ids], [], 'every row has a cell in every column');
    is(scalar(keys %cell), scalar(@ids), 'and no other');
    cmp_ok(scalar @{ $data->{rows} }, '>=', 40, 'rows');
    cmp_ok(scalar @{ $data->{columns} }, '>=', 8, 'columns');
    is_deeply([map { $_->{id} } grep { $_->{verdict} eq 'skip' && ($_->{reason} // '') eq '' } values %cell], [], 'what is skipped says why');
    my @unshown = grep { my $c = $_; $c->{verdict} eq 'violated' && grep { $_->{verdict} eq 'violated' && !defined $_->{witness} } values %{ $c->{guarantees} } } values %cell;
    is_deeply([map { $_->{id} } @unshown], [], 'what is violated has a witness');
    is_deeply([map { $_->{id} } grep { grep { @{ $_->{steps} } > 10 } @{ $_->{transcripts} // [] } } values %cell], [], 'no transcript is longer than ten steps');
    # Of a pooler and of a cluster too; a violation of a fault is the fault's, and needs a run.
    my %via = map { $_->{id} => $_->{via} } @{ $data->{columns} };
    my %group = map { $_->{id} => $_->{group} } @{ $data->{rows} };    # a program's statements are its own
    my %by_chance = by_chance();
    my @unplayed;
    for my $cell (grep { $_->{verdict} eq 'violated' && $via{ $_->{column} } =~ /^(?:direct|pooler|cluster)$/ && $group{ $_->{row} } ne 'program' } values %cell) {
        my @bad = grep { $cell->{guarantees}{$_}{verdict} eq 'violated' } keys %{ $cell->{guarantees} };
        my $plays = grep { my $n = $cell->{guarantees}{$_}{transcript}; defined $n && $cell->{transcripts}[$n]{replays} } @bad;
        push @unplayed, $cell->{id} if !$plays && !$by_chance{ $cell->{id} };
    }
    is_deeply([sort @unplayed], [], 'what is violated has a transcript that plays with the client program');
    my @empty = grep { $_->{verdict} ne 'skip' && $via{ $_->{column} } =~ /^(?:fault|failover)$/
        && !grep { $_->{faults} } map { @{ $_->{scenarios} // [] } } @{ $_->{runs} } } values %cell;
    is_deeply([map { $_->{id} } @empty], [], 'no verdict under a fault without a fault');
    my %is = map { $_->{id} => 1 } @{ $data->{rows} };
    is_deeply([sort map { $_->{id} } Reference::Files::rows()], [sort keys %is], 'the rows are those of rows.tsv');
}

# --- the guide to the queue has the strategy's own statements ---
{
    my $flat = sub { return $_[0] =~ s/;//gr =~ s/\s+/ /gr =~ s/ $//r };
    my $guide = $flat->(slurp("$source/results/reference/guides/1-queue-workers-die.md"));
    my ($status, $shown) = lockbench('show', 'lease-queue', '-d', 'postgres');
    my %section = $shown =~ /^-- name: (\S+)[^\n]*\n(.*?)\n(?=\n-- name|\z)/msg;
    ok(index($guide, $flat->($section{$_})) >= 0, "the guide: $_ of lease-queue") for qw(claim complete);
}

# --- what a claim reads in aged tables ---
{
    my %aged = map { $_->{row} => $_ } grep { $_->{column} eq 'postgres-15-aged/read-committed' } @{ $data->{cells} };
    my @queues = grep { $_->{group} eq 'strategy' && $_->{need} =~ /^queue/ } @{ $data->{rows} };
    is_deeply([map { $_->{id} } grep { $aged{ $_->{id} }{verdict} ne 'measured' && $aged{ $_->{id} }{reason} !~ /asks for/ } @queues], [], 'each built-in queue has a figure');
    is_deeply([map { $_->{id} } grep { my $of = $aged{ $_->{id} }{aged} // {}; grep { ($of->{$_}{grows} // 'flat') ne 'flat' } qw(finished delayed) } @queues], [],
        '... and none grows with finished or delayed items');
    my ($work, $file, $pages) = map { scratch() . "/aged-$_" } qw(work data.json site);
    my ($status, undef, $err) = reference('run', '--work', $work, '--only', 'aged', '--rows', '^(?:skip-locked|fifo-poll|lease-queue)$');
    is($status, 0, 'aged: a claim is asked for') or diag $err;
    ($status, undef, $err) = reference('data', '--work', $work, $file);
    is($status, 0, '... and published') or diag $err;
    my %cell = map { $_->{id} => $_ } @{ Reference::Files::published($file)->{cells} };
    my (undef, $out) = lockbench('age', '-s', 'lease-queue', '--aged', 'delayed', '--format', 'json');
    is($cell{'lease-queue/sqlite-aged/serializable'}{aged}{delayed}{claim}, sprintf('%.0f', decode_json($out)->{aged}{delayed}{operations}{claim}{at_1000000}), '... as age has it');
    is($cell{'fifo-poll/sqlite-aged/serializable'}{reason}, 'a lock has no items that age', 'a lock has none');
    reference('site', $pages, '--data', $file);
    like(slurp("$pages/index.html"), qr{skip-locked/sqlite-aged/serializable/[^>]*>.{0,120}?\d+ / n/a / n/a steps}s, 'the page has the three figures');
}

# --- a sample of it is so here ---
{
    my @servers = map { "$_=$uri{$_}" } grep { $_ ne 'sqlite' } sort keys %uri;
    my ($status, $out, $err) = reference('sample', $soak ? 60 : 5, @servers);
    is($status, 0, 'sampled cells are as published') or diag $out, $err;
    note $out;
    my $other = decode_json(encode_json($data));
    for my $run (map { @{ $_->{runs} // [] } } @{ $other->{cells} }) {
        $_ = $_ eq 'held' ? 'violated' : 'held' for values %{ $run->{verdicts} // {} };
    }
    ($status, $out) = reference('sample', 1, '--data', spew('other.json', encode_json($other)));
    is($status, 4, 'a cell that is published otherwise is found');
    like($out, qr/^NOT as published: .* is (?:held, and published as violated|violated, and published as held)/m, 'and named');
}

# --- transcripts play, and one that is not so does not ---
my @choice = ([sqlite => 'read-then-write/sqlite/serializable'], [postgres => 'naive-claim/postgres-15/read-committed'],
    [mariadb => 'autocommit-skip/mariadb-10.11/repeatable-read']);
my %cell = map { $_->{id} => $_ } @{ $data->{cells} };
for my $one (@choice) {
    my ($kind, $id) = @$one;
    SKIP: {
        skip "$id needs a server of kind $kind", 3 if !$uri{$kind};
        skip "$id needs sqlite3", 3 if $kind eq 'sqlite' && system('sqlite3 --version >/dev/null 2>&1') != 0;
        my ($transcript) = grep { $_->{replays} } @{ $cell{$id}{transcripts} };
        ok($transcript, "$id has a transcript that plays") or next;
        is((replayed($transcript, $uri{$kind}))[1], '', "$id: plays");
        my $other = decode_json(encode_json($transcript));
        my ($act) = grep { $_->{result} =~ /\w=/ } map { @{ $_->{acts} } } @{ $other->{steps} };
        $act->{result} = 'id=4711';
        like((replayed($other, $uri{$kind}))[1], qr/^step \d+: .*has no 4711/, "$id: another answer is told");
    }
}
# --- one that needs a pooler: it plays through it, and not without it ---
SKIP: {
    skip 'a pooler and its server are needed', 3 if !$uri{pgbouncer} || !$uri{postgres};
    my ($transcript) = grep { $_->{replays} } @{ $cell{'flyway/postgres-15-pgbouncer/read-committed'}{transcripts} };
    ok($transcript, 'a session lock through the pooler has a transcript') or last SKIP;
    is((replayed($transcript, $uri{pgbouncer}, 'pooler'))[1], '', 'it plays through the pooler');
    like((replayed($transcript, $uri{postgres}, 'direct'))[1], qr/^step 2: .*has no 1/, 'and without it session B is refused');
}
if ($soak) {
    my ($status, $out, $err) = reference('replay', map { "$_=$uri{$_}" } grep { $_ ne 'sqlite' } sort keys %uri);
    is($status, 0, 'every published transcript plays') or diag $out, $err;
    note +(split /\n/, $out)[-1];
}

# --- what is asked wrongly ---
for my $case (
    [[], qr/no command/], [['run'], qr/--work DIR is missing/], [['sample'], qr/sample needs a number/],
    [['site', scratch() . '/x', '--data', '/dev/null'], qr/\S/, 3], [['run', '--work', scratch(), '--rows', '('], qr/'\(' is not a regular expression/], [['--nothing'], qr/unknown option --nothing/])
{
    my ($args, $words, $status) = @$case;
    my ($got, undef, $err) = reference(@$args);
    is($got, $status // 2, "reference @$args: exit status");
    like($err, $words, "reference @$args: says why");
}
done_testing;
