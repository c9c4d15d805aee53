#!/usr/bin/env perl
# --costs: the cost of a success on the server and here, and the wait events of sessions.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $lock = good_lock();
my @quick = ('--warmup', '100ms', '--duration', '400ms', '--quiet');

sub cell { return cell_until(sub { return 1 }, @_) }

# Where the machine stands still there may be nothing to count: asked again until is_there of its cell.
sub cell_until
{
    my ($is_there, @args) = @_;
    my $is_told = sub { my $cell = eval { decode_json($_[1])->{cells}[0] }; return $cell && defined $cell->{costs_per_success} && $is_there->($cell) };
    my ($status, $out, $err) = until_shown($is_told, 'run', @quick, @args, '--costs', '--format', 'json');
    my $json = eval { decode_json($out) } or diag "status $status: $err$out";
    return $json->{cells}[0];
}

# One worker: acquire and release are one statement each, and nothing is refused.
my $cell = cell('-s', $lock, '--workers', '1', '--hold', '0', '--think', '0');
my $costs = $cell->{costs_per_success};
my $run = $cell->{runs}[0];
cmp_ok($run->{successes_all}, '>=', $run->{operations}{acquire}{succeeded}, 'successes of the warm-up count');
cmp_ok(abs($costs->{statements} - $run->{statements} / $run->{successes_all}), '<', 1e-6, 'statements per success');
cmp_ok(abs($costs->{statements} - 2), '<', 0.2, 'two statements: acquire, release');
is($costs->{lock_retries}, 0, 'one worker meets no lock');
is($costs->{wal_bytes}, undef, 'what SQLite does not tell is null');
is($run->{waits}, undef, 'nor what sessions wait for');
cmp_ok($costs->{client_cpu_ns}, '>', 0, 'CPU');

# Commits that wait for each other: SQLite's busy handler is called.
my $has_met = sub { return ($_[0]{costs_per_success}{lock_retries} // 0) > 0 };
$cell = cell_until($has_met, '-s', $lock, '--workers', '8', '--resources', '8', '--hold', '0', '--think', '0');
cmp_ok($cell->{costs_per_success}{lock_retries}, '>', 0, 'writers of SQLite meet its lock');
$cell = cell_until($has_met, '-s', $lock, '--workers', '8', '--resources', '8', '--hold', '0', '--think', '0', '--processes', '4');
cmp_ok($cell->{costs_per_success}{lock_retries}, '>', 0, '... in processes of their own too');
is($cell->{costs_per_success}{client_cpu_ns}, undef, 'CPU of processes is not known');

my ($status, $out) = lockbench('compare', '--repeat', '1', '-s', "$lock,pthread-mutex", '--workers', '2', @quick, '--costs');
like($out, qr/^costs per success\nstrategy +engine +scenario +success\/s +statements +growth +lock retries +cpu here +switches/m,
    'text: the table, with columns for what is known');
like($out, qr/^pthread-mutex +memory +mutex-hot +\S+ +n\/a +n\/a /m, 'text: a lock without a database has no such costs');
($status, $out) = lockbench('compare', '--repeat', '1', '-s', $lock, '--workers', '2', @quick);
unlike($out, qr/costs per success/, 'text: not without --costs');
($status, $out) = until_shown(sub { return $_[1] =~ /VIOLATED/ }, 'compare', '--repeat', '1', '-s', join(',', $lock, open_door()), '--workers', '2',
    '--hold', '2ms', @quick, '--costs');
like($out, qr/^open-door +sqlite +VIOLATED +/m, 'a lock that is fast because it is broken');
unlike($out, qr/of\s+the\s+rate\s+of\s+open-door/, '... is nothing to compare costs with');
SKIP: {
    skip 'no script to make a terminal', 2 if system('script -qec true /dev/null >/dev/null 2>&1') != 0;
    my $command = "stty cols 60; $ENV{LOCKBENCH} run -s '$lock' --workers 2 --warmup 0 --duration 50ms --costs --no-color";
    my ($table) = `script -qec "$command" /dev/null </dev/null` =~ /^costs per success\r\n(.*?\n)WAL and/ms;
    like($table, qr/^strategy .*\bstatements\b.*^\(no room for /ms, 'a terminal: the table leaves columns out');
    ok(!(grep { length(s/\r//r) > 60 } split /\n/, $table), '... and fits') or diag $table;
}
($status, $out, my $err) = lockbench('verify', '-s', $lock, '--costs');
is($status, 2, 'verify does not take --costs');

my ($server) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
SKIP: {
    skip 'LB_TEST_URIS names no PostgreSQL', 8 if !defined $server;
    my ($uri) = own_database($server) or skip 'no right to create a database', 8;
    my @pg = ('-d', $uri);
    # On a busy machine the samples may be few.
    my $is_shown = sub {
        my $waits = $_[0]{runs}[0]{waits} // {};
        my ($locked, $all) = (0, 0);
        for (keys %{ $waits->{sessions} }) { $all += $waits->{sessions}{$_}; $locked += $waits->{sessions}{$_} if /^Lock:/ }
        return ($waits->{samples} // 0) > 5 && $locked > 1.5 && $all <= 4.001 && $_[0]{costs_per_success}{dead_rows} == 0;
    };
    $cell = cell_until($is_shown, @pg, '-s', 'row-lock', '--workers', '4', '--hold', '10ms');
    $run = $cell->{runs}[0];
    $costs = $cell->{costs_per_success};
    cmp_ok(abs($costs->{statements} - 3), '<', 0.5, 'row-lock: begin, select, commit');
    is($costs->{dead_rows}, 0, 'row-lock: changes no row');
    cmp_ok($costs->{wal_bytes}, '>', 0, 'row-lock: writes some WAL');
    cmp_ok($run->{waits}{samples}, '>', 5, 'samples were taken');
    my $waits = $run->{waits}{sessions};
    my ($locked, $all) = (0, 0);
    for (keys %$waits) { $all += $waits->{$_}; $locked += $waits->{$_} if /^Lock:/ }
    cmp_ok($locked, '>', 1.5, 'row-lock: of four workers, most wait for a lock') or diag explain $waits;
    cmp_ok($all, '<=', 4.001, '... and no more than there are');

    $cell = cell(@pg, '-s', $lock, '--workers', '1', '--hold', '0', '--think', '0');
    cmp_ok(abs($cell->{costs_per_success}{dead_rows} - 2), '<', 0.2, 'an update each to acquire and to release');

    # Rows put before the run are no cost of it.
    $cell = cell(@pg, '-s', 'skip-locked', '--backlog', '300', '--workers', '2', '--warmup', '0');
    cmp_ok($cell->{runs}[0]{server_costs}{rows_inserted}, '<', 300, 'the backlog is not counted');
}
done_testing();
