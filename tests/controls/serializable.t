#!/usr/bin/env perl
# Conflicts inside of a claim, on PostgreSQL at SERIALIZABLE: they end the claims that are held in a
# transaction, which is no duplicate, and they end a section whose statements have all answered.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if !defined $uri;
my @drained = ('-S', 'drain', '--duration', '10m'); # on a slow machine as well
my @hold = ('-s', 'skip-locked-hold', @drained, '--backlog', '400');
my %asked = (
    'one item' => [@hold],
    'batches' => [@hold, '--batch', '4', '--backlog', '1000'],
    'chunks' => ['-s', 'skip-locked-hold', '-S', 'chunked-update', '--rows', '6000', '--backlog', '300'],
    'groups' => ['-s', 'listen-notify', @drained, '--backlog', '60', '--workers', '4'],
);
my %runs = map { $_ => start('run', '-d', $uri, '--isolation', 'serializable', '--format', 'json', '--quiet', @{ $asked{$_} }) }
    keys %asked;

for my $name (sort keys %runs) {
    my ($status, $out, $err) = finish($runs{$name});
    is($status, 0, "$name: as claimed") or diag $err;
    my $cell = decode_json($out)->{cells}[0];
    my $run = $cell->{runs}[0];
    my $operations = $run->{operations};
    my $conflicts = ($operations->{release}{answers}{conflict} // 0) + ($operations->{acquire}{answers}{conflict} // 0);
    cmp_ok($conflicts, '>', 0, "$name: there were conflicts") if $name ne 'chunks';
    for (qw(no-duplicate no-loss owner-release)) {
        is($cell->{guarantees}{$_}{verdict}, 'held', "$name: $_") or diag explain $cell->{guarantees}{$_};
    }
    ok($run->{live_witness}{agrees_with_history}, "$name: the witnesses agree");
    is($run->{proof}{verdict}, 'held', 'chunks: each once') if $name eq 'chunks';
}

done_testing();
