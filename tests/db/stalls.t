#!/usr/bin/env perl
# A time at which all workers stood still accuses no strategy: not a stopped process, not a stopped
# server, not a stranger's lock on the database. A lock that is stuck while the rest works is
# accused as before. Each run is judged again from the stored history.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use POSIX ();
use IO::Handle;
use Test::More;
use Time::HiRes 'sleep';

my %uri;
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}
# A database of its own: only its sessions are stopped, not those of other tests.
my $owner = delete $uri{postgres};
my $database;
($uri{postgres}, $database) = own_database($owner) if defined $owner;
delete $uri{postgres} if !defined $database;

# Waits until this many of its lines of progress reported grants. For as long as any machine may
# take.
sub until_granted
{
    my ($run, $n) = @_;
    my $told = 0;
    for (1 .. 6000) {
        $told = () = slurp($run->{err}) =~ m{, running: [^,]*, [0-9.]*[1-9][0-9.]*k?/s}mg;
        last if $told >= $n;
        sleep 0.1;
    }
    return $told;
}

# Runs a strategy, does something to it when it is at work, lets it work for some time more, and compares the verdicts.
sub stopped
{
    my ($name, $uri, $strategy, $wanted, $action, $more, @args) = @_;
    my $directory = scratch() . '/' . ($name =~ s/\W+/-/gr);
    my $run = start('run', '-s', $strategy, '-d', $uri, '--format', 'json', '--progress', '100ms', '--warmup', '0',
        '--keep-history', '-o', $directory, '-S', 'mutex-pair', '--duration', '10m', @args);
    my $told = until_granted($run, 2);
    cmp_ok($told, '>=', 2, "$name: it is at work");
    $action->($run);
    sleep $more;
    ok($more || until_granted($run, $told + 3) >= $told + 3, "$name: and again");
    kill INT => $run->{pid};
    my (undef, $out, $err) = finish($run);
    my $json = eval { decode_json($out) };
    ok(defined $json, "$name: JSON") or return diag $err;
    my $cell = $json->{cells}[0];
    # This machine's own stalls may be too long to judge the rest: then the reason must say so.
    my ($lost, $whole) = map { tr/ //d; $_ } ($cell->{guarantees}{progress}{reason} // '') =~ /^all workers stood still for ([\d.]+) s of ([\d.]+) s/;
    if ($wanted ne 'not tested' && defined $lost && $lost > $whole / 5) {
        note("$name: this machine stood still for $lost s of $whole s");
        return $cell;
    }
    if ($wanted ne 'not tested' && ($cell->{guarantees}{progress}{reason} // '') =~ /some worker was not run/) {
        note("$name: this machine did not run some worker for long");
        return $cell;
    }
    is($cell->{guarantees}{progress}{verdict}, $wanted, "$name: progress")
        or diag +JSON::PP->new->pretty->encode($cell->{guarantees}{progress}) . $err;
    my $lost_ns = $cell->{runs}[0]{measures}{stalled_ns};
    cmp_ok($lost_ns, '>', 1e9, "$name: what was lost") if $wanted ne 'violated';
    my ($history) = glob "$directory/*/*.lbh";
    my (undef, $checked) = lockbench('check', '--format', 'json', $history // 'none');
    my $again = eval { decode_json($checked) };
    is($again->{guarantees}{progress}{verdict}, $wanted, "$name: and from its history") or diag $checked;
    return $cell;
}

sub pause { my ($pid, $for) = @_; kill STOP => $pid; sleep $for; kill CONT => $pid; return }

# --- the program ---

my $still = stopped('stopped for most of the run', 'sqlite:', 'lease-upsert', 'not tested',
    sub { pause($_[0]{pid}, 5) }, 0);
stopped('stopped for a part of the run', 'sqlite:', 'lease-upsert', 'held', sub { pause($_[0]{pid}, 2.2) },
    13, '--workers', '6', '--hold', '30ms');

# --- a stranger with the database's lock ---

for my $journal ('wal', 'delete') {
    my $file = scratch() . "/held-$journal.db";
    stopped("locked by a stranger, $journal", "sqlite:$file?journal=$journal", 'lease-upsert', 'not tested', sub {
        open my $stranger, '|-', 'sqlite3', '-bail', $file or return;
        $stranger->autoflush(1);
        print $stranger ".timeout 300000\nBEGIN EXCLUSIVE;\n.output $file.held\nSELECT 1;\n.output\n";
        for (1 .. 6000) { last if -s "$file.held"; sleep 0.05 }
        sleep 5;
        print $stranger "ROLLBACK;\n";
        ok(close $stranger, "$journal: the stranger had it");
    }, 0);
}

# --- the server ---

# The run's own backends, with or without the watchdog's.
sub backends
{
    my ($and) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c',
        "SELECT pid FROM pg_stat_activity WHERE datname = '$database' AND application_name LIKE 'lockbench%' $and", $owner
        or return;
    chomp(my @pids = <$pipe>);
    return @pids;
}

SKIP: {
    skip 'no PostgreSQL in LB_TEST_URIS', 10 if !defined $uri{postgres};
    my ($own) = backends('');
    skip 'the backends are not ours to stop', 10 if defined $own && !kill 0, $own;
    my $stop = sub {
        my ($and) = @_;
        return sub {
            my @pids = backends($and);
            is(kill(STOP => @pids), @pids, scalar(@pids) . ' backends were stopped');
            sleep 5;
            kill CONT => @pids;
        };
    };
    stopped('the server was stopped', $uri{postgres}, 'lease-upsert', 'not tested', $stop->(''), 0);
    stopped('all but the engine was stopped', $uri{postgres}, 'lease-upsert', 'violated',
        $stop->("AND application_name LIKE '%worker%'"), 0);
}

done_testing();
