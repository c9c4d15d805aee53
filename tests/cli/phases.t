#!/usr/bin/env perl
# Phases of a scenario: the keys of a file, and the effect of each in its phase and in no other.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $head = "shape = queue\nworkers = 2\nproducers = 1\nrate = 100/s\nhold = 1ms\nwarmup = 0\n";
my $calm = "[phase calm]\nshare = 50%\n";

# Bad input is one line with its place.
my @bad = (
    ['shares', "$head$calm\[phase b]\nshare = 40%\n", qr/: phases: the shares come to 90%, not 100%$/],
    ['no share', "$head$calm\[phase b]\n", qr/: phase b: needs a share$/],
    ['a share that is none', "$head\[phase b]\nshare = 0\n", qr/:8: share: '0' is not a share such as 30%$/],
    ['a key', "$head\[phase b]\nshares = 1\n", qr/:8: unknown key 'shares' of a phase; did you mean share\?$/],
    ['a key of the scenario', "$head\[phase b]\nshare = 1\nworkers = 3\n", qr/:9: unknown key 'workers' of a phase/],
    ['a section', "$head\[phases b]\nshare = 1\n", qr/:7: unknown section \[phases b\]/],
    ['a name', "$head\[phase B b]\nshare = 1\n", qr/:7: phase 'B b': a name has lower-case letters/],
    ['a name twice', "$head$calm$calm", qr/:9: phase calm: is there a second time$/],
    ['a rate', "$head\[phase b]\nshare = 1\nrate = fast\n", qr/:9: rate: 'fast' is not a rate such as 300\/s, or 150%$/],
    ['a flag', "$head\[phase b]\nshare = 1\nsnapshot = perhaps\n", qr/:9: snapshot: 'perhaps' is not yes or no$/],
    ['faults without one', "$head\[phase b]\nshare = 1\nfaults = yes\n", qr/: phase b: faults = yes, but the scenario has no fault$/],
    ['a fault without a phase', "fault = disconnect\n$head\[phase b]\nshare = 1\n", qr/: fault: no phase has faults = yes$/],
    ['readers without any', "$head\[phase b]\nshare = 1\nreaders = yes\n", qr/: phase b: readers = yes, but the scenario has no readers$/],
    ['readers without a phase', "readers = 1\n$head\[phase b]\nshare = 1\n", qr/: readers: no phase has readers = yes$/],
    ['two kinds of phases', "shape = queue\nproducers = 1\nrate = phases:10/s\@1s,20/s\n[phase b]\nshare = 1\nrate = 50%\n", qr/has phases, and so has the scenario$/],
    ['a share of no rate', "shape = queue\nproducers = 1\n[phase b]\nshare = 1\nrate = 50%\n", qr/some have a rate, and the scenario has none/],
    ['a count', "count = 5\n$head\[phase b]\nshare = 1\n", qr/: phases: need a duration, without count and drain$/],
    ['kill', "fault = kill\n$head\[phase b]\nshare = 1\nfaults = yes\n", qr/: phases: not with processes, nor with fault kill$/],
    ['a restart', "fault = restart\n$head\[phase b]\nshare = 1\nfaults = yes\n", qr/: phases: not with fault restart$/],
);
for my $bad (@bad) {
    my ($name, $text, $why) = @$bad;
    spew('bad.ini', $text);
    my ($status, $out, $err) = lockbench('run', '-s', 'skip-locked', '-S', scratch() . '/bad.ini');
    is($status, 2, "$name: exit status");
    like($err, qr/\Alockbench: [^\n]+\n\z/, "$name: one line");
    like($err =~ s/\n\z//r, $why, "$name: says what");
}
spew('one.ini', "$head\[phase b]\nshare = 1\n");
my ($status, $out, $err) = lockbench('plan', '-s', 'skip-locked', '-S', scratch() . '/one.ini', '--workers', '1,2,3,4,5,6');
like($err, qr/a plan is for one load, and scenario one has phases/, 'a plan has one load');

# Each phase has its rate, its readers and its faults.
sub phases_of
{
    my (@args) = @_;
    my ($code, $json, $why) = lockbench('run', '-s', 'skip-locked', '-S', scratch() . '/each.ini', '-q', '--series', scratch() . '/each.csv', '--format', 'json', @args);
    my $run = eval { decode_json($json)->{cells}[0] } or diag "status $code: $why$json";
    return ($code, $run, { map { ($_->{name} => $_) } @{ $run->{runs}[0]{phases} } });
}
my $each = $head . "duration = 3s\n[phase calm]\nshare = 34%\n[phase much]\nshare = 33%\nrate = 300%\n[phase some]\nshare = 0.33\nrate = 50/s\n";
spew('each.ini', $each);
my ($code, $cell, $phases) = phases_of();
is(join(' ', map { $_->{name} } @{ $cell->{runs}[0]{phases} }), 'calm much some', 'the phases, in order');
is($cell->{config}{phases}, 'calm 34%, much 33% at 300%, some 33% at 50/s', 'the configuration says them');
my %rate = map { ($_ => $phases->{$_}{due} * 1e9 / $phases->{$_}{length_ns}) } keys %$phases;
cmp_ok(abs($rate{calm} - 100), '<', 40, 'the rate of the scenario') or diag explain $phases;
cmp_ok($rate{much}, '>', 150, 'a share of it');
cmp_ok($rate{some}, '<', 90, 'a rate of its own');
is($cell->{runs}[0]{steady_state}{reason}, 'it has phases', 'no steady state is asked for');
my ($names, @rows) = map { [split /,/] } split /\n/, slurp(scratch() . '/each.csv');
my ($column) = grep { $names->[$_] eq 'phase' } 0 .. $#$names;
ok(!(grep { $_->[$column] !~ /^(calm|much|some)$/ } @rows), 'each row has its phase');
($code, $out) = lockbench('run', '-s', 'skip-locked', '-S', scratch() . '/each.ini', '-q', '--duration', '300ms');
like($out, qr/^phases of skip-locked on sqlite, each\nphase +length +arrivals\/s +success\/s +p50 +p99 +most not done +most dead rows\ncalm +\S+ ms +/m, 'the text has a table');
spew('each.ini', "readers = 1\n" . $head . "duration = 400ms\n[phase calm]\nshare = 50%\n[phase read]\nshare = 50%\nreaders = yes\n");
($code, $cell) = phases_of();
cmp_ok($cell->{runs}[0]{operations}{read}{succeeded}, '>', 0, 'readers read');

my ($pg) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 2 if !defined $pg;
    # A transaction is seen in the one phase, and the other has the faults.
    spew('each.ini', "fault = disconnect\nfault-interval = 50ms\n" . $head . "duration = 2s\n[phase open]\nshare = 50%\nsnapshot = yes\n[phase after]\nshare = 50%\nfaults = yes\n");
    my $run = start('run', '-s', 'skip-locked', '-d', $pg, '-S', scratch() . '/each.ini', '-q', '--format', 'json');
    my $seen = 0;
    wait_for(sub {
        $seen ||= `psql '$pg' -Atc "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lockbench old snapshot' AND state = 'idle in transaction' AND backend_xmin IS NOT NULL" 2>/dev/null` > 0;
        return $seen || slurp($run->{out}) ne '';
    });
    ok($seen, 'a transaction stays open');
    finish($run);
    my $json = eval { decode_json(slurp($run->{out})) };
    cmp_ok($json->{cells}[0]{runs}[0]{faults}, '>', 0, 'faults happen in the other phase');
}

# The scenario for long runs, where no connection can be ended.
my @endure = ('run', '-s', 'skip-locked', '-d', 'sqlite:', '-S', 'endure', '--duration', '2s', '--warmup', '0', '-q');
($status, undef, $err) = lockbench(@endure);
isnt($status, 0, 'endure on SQLite: its fault is refused');
like($err, qr/^lockbench: .*fault disconnect has no meaning on SQLite: choose another for its phase: --fault pause$/m, '... in words that help');
($status, undef, $err) = lockbench(@endure, '--fault', 'pause', '--fault-interval', '50ms');
# 5: on a busy machine two seconds may be too short to measure anything.
ok($status == 0 || $status == 5, '... and they do') or diag $err;
unlike($err, qr/has no meaning/, '... for each phase');

done_testing();
