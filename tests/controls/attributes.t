#!/usr/bin/env perl
# Exploring uses two keys, items of one priority and of others, and puts that meet a claim, or a put of the same unique key: broken
# files are found, and their right twins are explored to the end. verify plans the exploration that finds each.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my $strangers = "$ENV{LB_SOURCE}/tests/strangers";

my @two_keys = qw(--opt limit=1 --items 3 --rounds 2);
my @puts = qw(--workers 1 --items 1 --producers 2);
my @urgent = qw(--workers 1 --items 3 --rounds 2 --producers 1);
for my $engine ('sqlite', defined $postgres ? 'postgres' : ()) {
    my $uri = $engine eq 'sqlite' ? 'sqlite:' : $postgres;
    # The end of an item gives back a place of another key: with items of one key, that is the right one.
    for my $case (
        ['keyed.sql', 'key-limit', 'end=first', \@two_keys],
        ['once-only.sql', 'unique', 'put=looked', \@puts],
        ['unseen-wait.sql', 'unique', 'index=some', [qw(--workers 1 --items 1 --producers 1 --frees 1)]],
        ['urgent-head.sql', 'priority', 'put=apart', \@urgent],
        )
    {
        my ($file, $guarantee, $broken, $args) = @$case;
        next if $engine eq 'postgres' && $file eq 'keyed.sql'; # the same schedules, in a minute and a half
        my ($status, $result) = explored($uri, "$strangers/$file", @$args);
        is($status, 0, "$file on $engine: no violation");
        is($result->{complete}, 1, '... in all schedules');
        is($result->{verdicts}{$guarantee}, 'held', "... $guarantee held");
        ($status, $result) = explored($uri, "$strangers/$file", @$args, '--opt', $broken);
        is($status, 1, "$file on $engine, $broken: violated");
        is_deeply([grep { $result->{verdicts}{$_} eq 'violated' } sort keys %{ $result->{verdicts} // {} }], [$guarantee], "... $guarantee alone");
        ok($result->{witness}{confirmed}, '... and its witness, played again, shows it');
    }
    my ($status, $result) = explored($uri, "$strangers/keyed.sql", qw(--opt limit=1 --items 2 --rounds 2 --opt end=first));
    is($status, 0, "keyed.sql on $engine, end=first: nothing with items of one key");
    for my $case (['keyed.sql', 'two keys'], ['once-only.sql', 'unique'], ['unseen-wait.sql', 'unique+free'],
        ['urgent-head.sql', 'urgent put']) {
        my ($file, $name) = @$case;
        my (undef, $out) = lockbench('verify', '-s', "$strangers/$file", '-d', $uri, '--plan');
        like($out, qr/ explore\+\Q$name\E /, "verify on $engine plans explore+$name for $file");
    }
}
my ($status, $out) = lockbench('explore', '-s', "$strangers/once-only.sql", '-q');
like($out, qr/^  unique +not tested: no item is put beside the claims: give --producers 2$/m, 'without puts beside claims, unique is not tested');

# Items of two producers have numbers that are not in the order of the puts, and the clock of their rows stands still.
($status, $out) = lockbench('explore', '-s', 'merge-table-lock', '-d', 'sqlite:', @puts, '-q');
is($status, 0, 'a queue by time and number beside two producers: no violation');
like($out, qr/^  fifo +not tested: several producers do not put in the order of the numbers: give --producers 1$/m, '... fifo is not tested');

done_testing();
