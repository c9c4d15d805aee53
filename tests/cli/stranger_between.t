#!/usr/bin/env perl
# Time, or another worker, between two statements of a recover; claims that lock more than they take; and locks that a
# worker loses and is granted again.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($status, $out, $err);

# Is the twin held, is the other caught by the question, and does the plan ask it?
sub asks
{
    my ($file, $target, $wrong, $right, $guarantee, $question, @explore) = @_;
    my @of = ('-s', "$folder/$file.sql", '-d', $target);
    ($status, $out, $err) = lockbench('explore', @of, '-q', '--opt', $wrong, @explore);
    is($status, 1, "$file, $wrong: caught") or diag $out, $err;
    like($out, qr/^  \Q$guarantee\E +violated$/m, '... by the right guarantee') or diag $out;
    my $shown = $out;
    ($status, $out, $err) = lockbench('explore', @of, '-q', '--opt', $right, @explore);
    is($status, 0, "$file, $right: held") or diag $out, $err;
    like((lockbench('verify', @of, '--plan'))[1], qr/^ +\d+ \Q$question\E /m, "$question is planned");
    return $shown;
}

# A living worker's item is deleted as it gets old between two statements.
$out = asks('two-looks', 'sqlite:', 'look=twice', 'look=once', 'no-loss', 'explore+rescue', '--rescuers', '1', '--items', '1',
    '--steps', 'clock');
$out =~ s{\s+}{ }g;
like($out, qr{the end by its only claimer was refused, and later the queue was drained}, '... and says how') or diag $out;

# A seat is given back, and taken again, between the janitor's two statements.
asks('seat-janitor', 'sqlite:', 'free=number', 'free=seen', 'exclusive', 'explore+rescue again', '--rescuers', '1', '--rounds', '2',
    '--preemptions', '2', '--steps', 'clock');

# A worker loses its lease, is refused the release, and is granted the lock again.
asks('trigger-fence', 'sqlite:', 'of=name', 'of=taking', 'fenced', 'explore+clock alone', '--workers', '1', '--rounds', '2',
    '--steps', 'clock');

# The lease ends between two statements of a renewal that began within it.
asks('booking', 'sqlite:', 'renew=two', 'renew=one', 'exclusive', 'explore+renew halves', '--renewals', '1', '--also', 'halves');
for (['skip-locked', 'halves', qr/halves has no meaning for skip-locked: it is not a lock with a lease$/],
    ['slots', 'halves', qr/halves has no meaning for slots: /], ['lease-upsert', 'equal,halves', qr/one of equal and halves, not two$/]) {
    ($status, undef, $err) = lockbench('explore', '-s', $_->[0], '-d', 'sqlite:', '--also', $_->[1]);
    is($status, 2, "--also $_->[1] of $_->[0]: refused");
    like($err, $_->[2], '... in words');
}

# A count of the jobs in hand ends too low: the limit of a key is exceeded later, by more workers than the limit.
for (['idle=any', 'idle=printing', 'explore+key at end alone', '--workers', '1', '--rounds', '4', '--also', 'errors', '--frees', '1'],
    ['free=twice', 'free=once', 'explore+key+rescue at end', '--workers', '1', '--rescuers', '1', '--steps', 'clock,crash'],
    ['take=read', 'take=add', 'explore+key at end', '--preemptions', '2']) {
    my ($wrong, $right, $question, @explore) = @$_;
    asks('print-server', 'sqlite:', $wrong, $right, 'key-limit', $question, '--late', '3', @explore);
}
for (['skip-locked', '8', qr/option --late: '8' is not a number from 0 to 7$/], ['skip-locked', '7', qr/option --late: at most 8 workers together$/],
    ['lease-upsert', '2', qr/option --late: has no meaning for lease-upsert, a lock$/]) {
    ($status, undef, $err) = lockbench('explore', '-s', $_->[0], '-d', 'sqlite:', '--late', $_->[1]);
    is($status, 2, "--late $_->[1] of $_->[0]: refused");
    like($err, $_->[2], '... in words');
}

# A claim that loses the most urgent item to another one takes the oldest of those that are left.
asks('fallback-claim', 'sqlite:', 'fall=oldest', 'fall=urgent', 'priority', 'explore+many', '--items', '4');

# A more urgent item is put in a later second, by which claims are ordered first.
(my $text = slurp("$folder/urgent.sql")) =~ s/payload varchar\(100\)\);/payload varchar(100), found int);/ or die 'no table';
$text =~ s/payload\) VALUES \(:id, :priority, :payload\)/payload, found) VALUES (:id, :priority, :payload, unixepoch('now'))/ or die 'no put';
my @put = ('-d', 'sqlite:', '-q', '--workers', '1', '--producers', '1', '--items', '3', '--rounds', '2', '--steps', 'clock');
is((lockbench('explore', '-s', spew('found.sql', $text), @put))[0], 0, 'ordered by priority: held');
$text =~ s/ORDER BY priority/ORDER BY found, priority/ or die 'no order';
my $by_second = spew('second.sql', $text);
($status, $out, $err) = lockbench('explore', '-s', $by_second, @put);
is($status, 1, 'ordered by the second first: caught') or diag $out, $err;
($status, $out) = lockbench('verify', '-s', $by_second, '-d', 'sqlite:', '-q', '--budget', '10s');
like($out, qr/^not ok \d+ - \S+ sqlite explore\+urgent put priority$/m, '... and by verify') or diag $out;

SKIP: {
    skip 'no postgres server', 7 if !defined $postgres;
    asks('urgent', $postgres, 'lock=window', 'lock=one', 'priority', 'explore+many', '--items', '24', '--preemptions', '1');

    # Two sessions that put have numbers of their own, and more waits than is claimed.
    for ([32, 1], [1, 0]) {
        my ($cache, $expected) = @$_;
        (my $sequence = slurp("$folder/cached-sequence.sql")) =~ s/START 1 CACHE 1;/START 1 CACHE $cache;/ or die 'no sequence';
        ($status, $out, $err) = lockbench('verify', '-s', spew('cached-sequence.sql', $sequence), '-d', $postgres, '-q', '--budget', '20s');
        is($status, $expected, "cached-sequence, CACHE $cache") or diag $out, $err;
        like($out, qr/^not ok \d+ - \S+ postgres in line fifo$/m, '... caught in line') or diag $out if $expected == 1;
    }
}
done_testing();
