#!/usr/bin/env perl
# Processes of a protocol: each consumer registers, a thread beats for those of its process, and the
# history has the beats, which show the judge the protected items. Threads of one process, and
# processes of their own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my @file = ('-s', "$ENV{LB_SOURCE}/tests/strangers/heartbeat.sql", '-S', 'queue-rescue', '--duration', '1s', '-q');
my $n = 0;

# The beats for each consumer, with their limit: consumer -> log -> times. The limit is so long that
# no process counts as dead.
sub recorded
{
    my (@args) = @_;
    my $out = scratch() . '/beats' . ++$n;
    my ($status, undef, $err) = lockbench('run', @file, '-o', $out, '--keep-history', '--ttl', '60s', '--renew', '10ms',
        '--hold', '50ms', @args);
    my ($history) = glob "$out/*/*.lbh $out/*.lbh";
    return ($status, $err, {}, 0) if !defined $history;
    my (undef, $text) = lockbench('check', $history, '--export', 'jsonl');
    my (%beats, %limits);
    for my $event (map { decode_json($_) } grep { /"f":"beat"/ && /"type":"ok"/ } split /\n/, $text) {
        $beats{ $event->{object} // 0 }{ $event->{log} }++;
        $limits{ $event->{arg} }++;
    }
    return ($status, $err, \%beats, join ' ', keys %limits);
}

# On a busy machine a run may be over before each has beaten: then there is another.
sub beats
{
    my ($what, @args) = @_;
    my $is_whole = sub { my ($status, $err, $beats) = @_; return $status != 0 || 4 == grep { keys %{ $beats->{$_} // {} } >= 2 } 0 .. 3 };
    my ($status, $err, $beats, $limits) = try_until($is_whole, sub { return recorded(@args) });
    is($status, 0, "$what: it ran") or diag $err;
    is($limits, 60000, '... with the limit of recover');
    is((grep { ($beats->{$_}{$_} // 0) >= 1 } 0 .. 3), 4, '... each consumer registers by itself');
    is((grep { keys %{ $beats->{$_} } >= 2 } 0 .. 3), 4, '... and another beats for it');
    return;
}

my @targets = (['SQLite', 'sqlite:'], defined $postgres ? ['PostgreSQL', $postgres] : ());
for (@targets) {
    my ($name, $uri) = @$_;
    beats("$name, threads", '-d', $uri);
    beats("$name, processes", '-d', $uri, '--processes', '2');
    my ($status, $out) = until_shown(sub { return $_[0] == 1 }, 'run', @file, '-d', $uri, '--renew', '20ms', '--opt', 'rescue=old');
    like($out, qr/VIOLATED no-duplicate/, "$name: what is taken from the living is told");
}
done_testing();
