#!/usr/bin/env perl
# Mechanisms from public issues, as users' files in tests/deploys: a poisonous job that is retried for ever, jobs of dead
# workers that no recovery finds, and jobs of the living that one takes. Each broken file is found, and the repaired one held. `scripts/soak-deploys --verify` asks
# plain verify about all of them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/deploys";
my @load = ('-d', 'sqlite:', '-S', 'steady', '--put-interval', '20ms', '--warmup', '0', '--ttl', '100ms', '--recover', '20ms',
    '--duration', '2500ms', '--recovery-bound', '1s');
my @poison = (@load, '--fault', 'poison', '--fault-length', '50ms');
my @kill = (@load, '--fault', 'kill', '--fault-count', '4', '--fault-interval', '50ms');
my @rescue = ('-d', 'sqlite:', '--rescuers', '1', '--steps', 'clock', '--items', '1');
my @cases = (
    ['hindsight', 'attempts', 'run', @poison], ['nexjob', 'attempts', 'run', @poison], ['eliza', 'attempts', 'run', @poison],
    ['slots', 'recovery', 'run', @kill], ['geolens', 'no-loss', 'explore', @rescue], ['sidequest', 'no-duplicate', 'explore', @rescue],
    ['xagent', 'no-duplicate', 'explore', @rescue, '--renewals', '1'],
);
my @runs = map {
    my ($name, $guarantee, $command, @arguments) = @$_;
    map { { guarantee => $guarantee, file => $_, command => [$command, '-s', "$folder/$_.sql", @arguments] } } $name, "$name-repaired"
} @cases;
$_->{run} = start(@{ $_->{command} }) for @runs;
for my $one (@runs) {
    my $wanted = $one->{file} =~ /-repaired/ ? 0 : 1;
    my @answer = finish($one->{run});
    @answer = until_shown(sub { $_[0] == $wanted }, @{ $one->{command} }) if $answer[0] != $wanted;
    is($answer[0], $wanted, "$one->{file}: status") or diag "$answer[1]$answer[2]";
    like($answer[1], qr/^  $one->{guarantee}(?:, \d+ times? in| +violated)/m, "... $one->{guarantee}") if $wanted == 1;
}
done_testing();
