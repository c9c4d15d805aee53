#!/usr/bin/env perl
# The chunked update: every range of a large table is updated exactly once, also where some of the
# items fail at first; the table's sum detects a queue that gives an item twice. On SQLite always,
# on the servers in LB_TEST_URIS as far as they are there.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %engine = engine_uris();

# Exit status, and the proof; undef without one.
sub chunks
{
    my ($engine, $strategy, @args) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $strategy, '-S', 'chunked-update', '-d', $engine{$engine},
        '--rows', '10k', '--backlog', '50', '--duration', '0', '--format', 'json', '--quiet', '--seed', $ENV{LB_TEST_SEED} // 1, @args);
    my $result = eval { decode_json($out) } or diag($err);
    return ($status, $result->{cells}[0]{runs}[0]{proof});
}

# A queue that gives an item again while a worker has it.
my $twice = slurp(good_queue());
$twice =~ s/WHERE state = 'new' ORDER BY/WHERE state IN ('new', 'active') ORDER BY/ or die;
$twice =~ s/good-queue/twice-queue/;
my $twice_queue = spew('twice-queue.sql', $twice);

for my $engine (sort keys %engine) {
    for my $strategy (qw(skip-locked nowait cas move-table)) {
        my ($status, $proof) = chunks($engine, $strategy, '--error', '0.3', '--free', '0.1');
        is($status, 0, "$strategy on $engine succeeds");
        is($proof->{verdict}, 'held', "$strategy on $engine: held") or diag($proof->{text});
        like($proof->{text}, qr/10000 rows, sum 10000 \(wanted 10000\), 0 never updated, 0 updated more/,
            "$strategy on $engine: the sum");
        like($proof->{text}, qr/errors were cleared [1-9]/, "$strategy on $engine: and what failed was done again");
    }
    # SQLite has one writer, and two that read before either writes are luck: not with this one.
    my $broken = $engine eq 'sqlite' ? $twice_queue : 'autocommit-skip';
    my ($status, $proof) = chunks($engine, $broken, '--hold', '5ms', '--error', '0');
    is($status, 1, "a broken queue on $engine fails");
    is($proof->{verdict}, 'violated', "a broken queue on $engine: violated");
    my ($sum, $twice) = ($proof->{text} // '') =~ /sum (\d+) .*?(\d+) updated more than once/;
    cmp_ok($sum // 0, '>', 10_000, "a broken queue on $engine: the sum is too large");
    cmp_ok($twice // 0, '>', 0, "a broken queue on $engine: some were updated twice");
}

SKIP: {
    skip 'no PostgreSQL in LB_TEST_URIS: a claim held in its transaction is not tried', 2 if !defined $engine{postgres};
    my ($status, $proof) = chunks('postgres', 'skip-locked-hold', '--error', '0.3');
    is($status, 0, 'skip-locked-hold succeeds: the update is part of its transaction');
    is($proof->{verdict}, 'held', 'skip-locked-hold: held');
}

# Rows do not divide evenly: each belongs to one range all the same.
my ($status, $proof) = chunks('sqlite', 'skip-locked', '--rows', '1009', '--backlog', '37');
is($status, 0, 'an uneven number of rows');
like($proof->{text}, qr/1009 rows, sum 1009 /, 'none is left out');

# A queue that never gives some of its items.
my $losing = slurp(good_queue());
$losing =~ s/state = 'new' ORDER BY/state = 'new' AND id % 10 <> 0 ORDER BY/ or die;
$losing =~ s/good-queue/losing-queue/;
($status, $proof) = chunks('sqlite', spew('losing-queue.sql', $losing), '--error', '0');
is($status, 1, 'a queue that loses items fails');
like($proof->{text}, qr/sum 9000 \(wanted 10000\), 1000 never updated/, 'and the rows are counted');

for my $args (['--no-drain'], ['--fault', 'disconnect'], ['--rows', '10'], ['--error', '1']) {
    ($status, undef, my $err) = lockbench('run', '-s', 'skip-locked', '-S', 'chunked-update', @$args);
    is($status, 2, "@$args is refused");
    like($err, qr/rows: /, "@$args: and why");
}
($status, undef, my $err) = lockbench('run', '-s', 'pthread-queue', '-S', 'chunked-update');
is($status, 2, 'a queue without a database is refused');
like($err, qr/no rows to update/, 'and why');

done_testing();
