#!/usr/bin/env perl
# With states, what is right is found right from fewer schedules, and what is wrong is found wrong.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL server' if !defined $uri;

sub explore
{
    my ($strategy, @args) = @_;
    my ($status, $out, $err) =
        lockbench('explore', '-s', $strategy, '-d', $uri, '--format', 'json', '--time', '10m', @args);
    my $result = eval { decode_json($out) };
    diag "$strategy: $err$out" if !$result;
    return ($status, $result // {});
}

# Nobody waits for a lock in it, so that the server has no choice.
my ($status, $all) = explore('skip-locked-hold', '--workers', 3);
is($status, 0, 'skip-locked-hold: exit status');
is($all->{pruned_same}, 0, 'skip-locked-hold: no state is looked at');
($status, my $few) = explore('skip-locked-hold', '--workers', 3, '--states');
is($status, 0, 'skip-locked-hold with states: exit status');
ok($all->{complete} && $few->{complete}, 'both are complete');
cmp_ok($few->{pruned_same}, '>', 0, 'states are met again');
cmp_ok($few->{schedules}, '<', $all->{schedules}, 'fewer schedules are run');
is_deeply($few->{verdicts}, $all->{verdicts}, 'and the verdicts are the same');

# What is violated in it is found whether or not states are told apart.
($status, $all) = explore('read-then-write');
is($status, 1, 'read-then-write: exit status');
($status, $few) = explore('read-then-write', '--states');
is($status, 1, 'read-then-write with states: exit status');
is_deeply($few->{witness}{violated}, $all->{witness}{violated}, 'the same is violated');
ok($few->{witness}{confirmed}, 'and confirmed');
done_testing();
