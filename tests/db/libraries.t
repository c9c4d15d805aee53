#!/usr/bin/env perl
# The libraries of examples/programs, those that are installed here: each does its operations, item
# by item and hold by hold; the known defects of two of them are found: a release and a
# completion that check no owner; and what they promise of keys, unique jobs and priorities. Only with scripts/test --all: it needs libraries of other
# languages.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my ($uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if !defined $uri;
my ($tcp_uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_TCP_URIS} // '';
my $examples = ($ENV{LB_SOURCE} // '.') . '/examples/programs';
# An interpreter that a loaded machine starts slowly is no mistake.
my @patient = ('--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');

# The program's first line; undef: it, or its library, is missing.
sub installed
{
    my ($path) = @_;
    my $line = `echo '{"do":"close"}' | '$path' 2>/dev/null` // '';
    return eval { decode_json($line) };
}

sub cell
{
    my ($path, @more) = @_;
    my $where = $path =~ m{/quartz/} ? $tcp_uri : $uri;
    my ($status, $out, $err) = lockbench('run', '-s', $path, '-d', $where, @patient, '--quiet', '--format', 'json', '--warmup', '0', @more);
    my $json = eval { decode_json($out) };
    return ($status, $json->{cells}[0] // {}, $err);
}

sub verdict { return $_[0]{guarantees}{$_[1]}{verdict} // 'none' }

# Java is too large for every machine that runs the tests: where Quartz is, its adapter is compiled for this test.
my $java = "$examples/quartz/queue.sh";
$ENV{QUARTZ_CLASSES} = scratch();
if (!-e '/usr/share/java/quartz2.jar' || !-x '/usr/bin/javac') { note 'SKIP quartz: no quartz2.jar or no javac here; examples/programs/quartz/install brings them' }
elsif (!defined $tcp_uri) { note 'SKIP quartz: no PostgreSQL in LB_TEST_TCP_URIS' }
else { is(system($java, '--compile'), 0, 'quartz/queue.sh is compiled') }

my $n_items = 20;
# Schedulers on one job store do run a job twice, and so do processes that are one consumer of PgQ; how often is chance.
my %may_repeat = map { $_ => 1 } 'apscheduler', 'pgq';
my @found;
for my $path (sort grep { !m{/symfony-lock/lock\.php$|/keyed\.} } glob "$examples/*/*.{mjs,php,pl,py,rb,sh}") {
    my ($name) = $path =~ m{/programs/(.*)$};
    my $hello = installed($path);
    if (!defined $hello->{version}) {
        note "$name: not installed";
        next;
    }
    push @found, $name;
    my @asked = $hello->{shape} eq 'lock' ? ('-S', 'mutex-hot', '--workers', 2, '--count', $n_items) : ('-S', 'drain', '--backlog', $n_items, '--workers', 2);
    push @asked, '--ttl', '10m'; # who does not run for a while is not dead
    # A program that pushes nothing for three seconds looks like a queue without items.
    my ($status, $cell, $err) = try_until(sub { return ($hello->{mode} // '') ne 'push' || verdict($_[1], 'no-loss') ne 'not tested' },
        sub { return cell($path, '--duration', '10m', @asked) });
    my $operations = $cell->{runs}[0]{operations} // {};
    cmp_ok($operations->{acquire}{succeeded} // 0, '>=', $n_items, "$name: does what it is asked") or diag $err;
    next if $may_repeat{$hello->{strategy}};
    is($status, 0, "$name: as it claims") or diag encode_json($cell->{guarantees} // {}) . $err;
    # No item fails, so that no limit of attempts is reached.
    is(verdict($cell, $_), 'held', "$name: $_") for grep { !/^(?:progress|attempts)$/ } @{$hello->{claims}};
}

# Every hold outlasts its lease, so that others own the lock when it is released.
if (grep { $_ eq 'minion/lock.pl' } @found) {
    my ($status, $cell) = cell("$examples/minion/lock.pl", '-S', 'overrun', '--overrun', 1, '--duration', '10m', '--count', 8);
    is($status, 1, 'minion/lock.pl: unlock by name');
    is(verdict($cell, 'owner-release'), 'violated', 'minion/lock.pl: releases what another holds');
}
if (grep { $_ eq 'pg-boss/queue.mjs' } @found) {
    my ($status, $cell) = cell("$examples/pg-boss/queue.mjs", '-S', 'queue-overrun');
    is($status, 1, 'pg-boss/queue.mjs: complete by id');
    is(verdict($cell, 'owner-release'), 'violated', 'pg-boss/queue.mjs: completes what another has in hand');
    is(verdict($cell, 'no-duplicate'), 'held', 'pg-boss/queue.mjs: what expired was given back first');
}
# The batch of 20 takes one of the two 400 ms, so that the other asks meanwhile.
if (grep { $_ eq 'pgq/queue.py' } @found) {
    my @asked = ("$examples/pgq/queue.py", '-S', 'drain', '--backlog', $n_items, '--workers', 2, '--hold', '20ms', '--duration', '10m', '--ttl', '10m');
    my ($status, $cell) = cell(@asked);
    is($status, 1, 'pgq/queue.py: two processes, one consumer');
    is(verdict($cell, 'no-duplicate'), 'violated', 'pgq/queue.py: both get the batch');
    ($status, $cell) = cell(@asked, '--opt', 'lock=1');
    is($status, 0, 'pgq/queue.py: a lock for the batch');
    is(verdict($cell, $_), 'held', "pgq/queue.py: ... $_") for qw(no-duplicate no-loss);
    ($status, $cell) = cell(@asked, '--opt', 'lock=1', '--free', '0.25');
    is(verdict($cell, $_), 'held', "pgq/queue.py: events that are put back: $_") for qw(no-duplicate no-loss);
}

# Limits of keys, unique jobs and priorities, through each library's own options, and with each option left out.
my @doubles = ('-S', 'steady', '--producers', 3, '--put-interval', 0, '--unique', '0.9', '--hold', 0, '--duration', '2s');
my @few_keys = ('-S', 'drain', '--backlog', 60, '--workers', 3, '--keys', 2, '--hold', '3ms', '--duration', '10m');
my @urgent = ('-S', 'drain', '--backlog', 60, '--workers', 3, '--hold', '2ms', '--priority', '0:0.4,1:0.3,9:0.3', '--duration', '10m');
my @asked = (
    ['graphile-worker/keyed.mjs', 'key-limit', \@few_keys, [], ['queue=no']],
    ['graphile-worker/keyed.mjs', 'unique', \@doubles, [], ['job_key=no']],
    ['pg-boss/keyed.mjs', 'unique', \@doubles, [], ['policy=standard']],
    ['pg-boss/keyed.mjs', 'priority', \@urgent, [], ['priority=no']],
    ['minion/keyed.pl', 'key-limit', \@few_keys, [], ['lock=no']],
    ['theschwartz/keyed.pl', 'unique', \@doubles, ['batch=1'], ['batch=1', 'uniqkey=no']],
    # It grabs one of the 50 most urgent jobs by chance, also with `prioritize`; from a batch of one it cannot.
    ['theschwartz/keyed.pl', 'priority', \@urgent, ['batch=1'], []],
    ['delayed-job/keyed.rb', 'priority', \@urgent, [], ['priority=no']]);
for my $one (@asked) {
    my ($name, $guarantee, $scenario, @options) = @$one;
    if (!defined((installed("$examples/$name") // {})->{version})) {
        note "$name: not installed";
        next;
    }
    push @found, $name;
    my @ttl = ('--ttl', '10m');
    for my $wanted ('held', 'violated') {
        my @opt = map { ('--opt', $_) } @{shift @options};
        my ($status, $cell, $err) = try_until(sub { return verdict($_[1], $guarantee) ne 'not tested' },
            sub { return cell("$examples/$name", @$scenario, @ttl, @opt) });
        is(verdict($cell, $guarantee), $wanted, "$name: $guarantee, " . (join(' ', @opt) || 'as it is')) or diag $err;
        is($status, $wanted eq 'held' ? 0 : 1, '... and the exit status') or diag encode_json($cell->{guarantees} // {});
    }
}

cmp_ok(scalar @found, '>', 0, 'some library is installed: ' . join ', ', @found);
done_testing();
