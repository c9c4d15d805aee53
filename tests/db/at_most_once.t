#!/usr/bin/env perl
# An item deleted by its claim is done at most once, and lost with its worker; one deleted by its
# completion is done at least once, and never lost. One worker dies with items in hand; the judge
# decides both promises, also unclaimed ones. On SQLite; on the servers, too, with LB_TEST_SOAK=1:
# what the statements mean there, tests/db/strategies asks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my @uris = ('sqlite:', $ENV{LB_TEST_SOAK} ? split /\n/, $ENV{LB_TEST_URIS} // '' : ());
my @twin = ('lease-queue', '--opt', 'done=delete', '--opt', 'ends=batch', '--ttl', '200ms');

# The verdicts on no-loss and once of a run in which a worker died.
sub verdicts
{
    my ($uri, $folder, @strategy) = @_;
    my ($status, $out, $err) = lockbench('run', '-d', $uri, '-s', @strategy, '-S', 'drain', '--backlog', '1600', '--batch', '20',
        '--hold', '4ms', '--workers', '4', '--fault', 'kill', '--fault-interval', '50ms', '--fault-count', '1', '--duration',
        '10m', '--quiet', '--keep-history', '-o', scratch() . "/$folder");
    diag $err if $status != 0;
    my ($history) = glob scratch() . "/$folder/*/*.lbh";
    ($status, my $said, $err) = lockbench('check', $history, '--claims', 'no-loss,once,no-duplicate');
    diag $err if $err ne '';
    return ($out, map { $said =~ /^\Q$_\E +(\w+)/m ? $1 : 'nothing' } qw(no-loss once no-duplicate));
}

my $n = 0;
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(sqlite|mariadb|postgres)/;
    # A loss counts when no worker has had the item for a second after the death: a death that came
    # late shows nothing.
    my ($out, $loss, $once, $twice);
    for (1 .. 5) {
        ($out, $loss, $once, $twice) = verdicts($uri, $n++, 'delete-on-claim');
        last if $loss eq 'violated';
    }
    is("$loss $once $twice", 'violated held held', "$engine: deleted by the claim: lost, and never done twice");
    like($out, qr/^delete-on-claim +$engine +held/m, '... and as claimed: it does not promise more');
    $out =~ s/\s+/ /g;
    like($out, qr/lost: the queue was drained, and no worker has (?:it|them); the strategy has no section recover/,
        '... and nobody is sent to --recover');
    for (1 .. 5) {
        ($out, $loss, $once, $twice) = verdicts($uri, $n++, @twin);
        last if $once eq 'violated'; # it may die with nothing in hand
    }
    is("$loss $once $twice", 'held violated held', "$engine: deleted by the completion: done again, and never lost");
}
done_testing();
