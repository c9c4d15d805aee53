#!/usr/bin/env perl
# The time that a judgement costs grows with a history, and not with its square: many holds of a semaphore beside each other,
# of many workers or of one, and many notes of lost sessions beside a hold that stays open. The processor's time for four times
# the events is compared with that for once: about 4 when it is linear, 16 when it is quadratic.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use List::Util 'min';
use Lockbench;
use Test::More;

my $time;
sub event
{
    my ($log, $process, $type, $f, %more) = @_;
    my %event = (log => $log, process => $process, type => "\"$type\"", f => "\"$f\"", time => $time += 10, %more);
    return '{' . join(', ', map { "\"$_\": $event{$_}" } sort keys %event) . "}\n";
}
sub both { my ($worker, $f) = @_; return map { event($worker, $worker, $_, $f) } 'invoke', 'ok' }
sub lost { return event(1, '"nemesis"', 'info', 'session-end', arg => 0) }

my %history = (
    'holds of many workers' => sub { my ($n) = @_; return ((map { both($_, 'acquire') } 1 .. $n), (map { both($_, 'release') } 1 .. $n)) },
    'holds of one worker' => sub { my ($n) = @_; return ((map { both(0, 'acquire') } 1 .. $n), (map { both(0, 'release') } 1 .. $n)) },
    'notes beside an open hold' => sub { my ($n) = @_; return (both(0, 'acquire'), map({ (lost(), both(0, 'acquire'), both(0, 'release')) } 1 .. $n / 2)) },
    'notes beside a hold' => sub { my ($n) = @_; return (both(0, 'acquire'), map({ (lost(), both(0, 'acquire'), both(0, 'release')) } 1 .. $n / 2), both(0, 'release')) },
);
sub cost
{
    my ($name, $n) = @_;
    $time = 0;
    my $file = spew("sizes-$n.jsonl", join '', $history{$name}->($n));
    my @cost;
    for (1 .. 2) {
        my (undef, undef, $user, $system) = times;
        my ($status, $out, $err) = lockbench('check', '--model', "semaphore:@{[int($n / 2)]}", $file, '--format', 'json');
        is($status, $name =~ /^holds/ ? 1 : 0, "$name, $n: is judged") or diag $out, $err;
        my (undef, undef, $user_then, $system_then) = times;
        push @cost, $user_then + $system_then - $user - $system;
    }
    return min @cost;
}

for my $name (sort keys %history) {
    my ($small, $large) = (cost($name, 2500), cost($name, 10_000));
    cmp_ok($large, '<', 8 * $small + 0.2, "$name: four times the events do not cost the square") or diag "$small s, $large s";
}
done_testing();
