#!/usr/bin/env perl
# A time at which everybody stood still accuses no strategy: not the process that was stopped, not
# the server that was, not a stranger who locked the database. A lock that is stuck while all goes on
# is accused as before. What was judged at the run is judged again from the stored history.
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

# Runs a strategy, does something to it in the middle, and compares the verdicts.
sub stopped
{
    my ($name, $uri, $strategy, $wanted, $deed, @args) = @_;
    my $directory = scratch() . '/' . ($name =~ s/\W+/-/gr);
    my $run = start('run', '-s', $strategy, '-d', $uri, '--format', 'json', '--quiet', '--warmup', '0',
        '--keep-history', '-o', $directory, '-S', 'mutex-pair', @args);
    sleep 0.7;
    $deed->($run);
    my (undef, $out, $err) = finish($run);
    my $json = eval { decode_json($out) };
    ok(defined $json, "$name: JSON") or return diag $err;
    my $cell = $json->{cells}[0];
    is($cell->{guarantees}{progress}{verdict}, $wanted, "$name: progress")
        or diag +JSON::PP->new->pretty->encode($cell->{guarantees}{progress}) . $err;
    my $lost_ns = $cell->{runs}[0]{measures}{stalled_ns};
    cmp_ok($lost_ns, $wanted eq 'violated' ? '<' : '>', 1e9, "$name: what was lost");
    my ($history) = glob "$directory/*/*.lbh";
    my (undef, $checked) = lockbench('check', '--format', 'json', $history // 'none');
    my $again = eval { decode_json($checked) };
    is($again->{guarantees}{progress}{verdict}, $wanted, "$name: and from its history") or diag $checked;
    return $cell;
}

sub pause { my ($pid, $for) = @_; kill STOP => $pid; sleep $for; kill CONT => $pid; return }

# --- the program ---

my $still = stopped('stopped for most of the run', 'sqlite:', 'lease-upsert', 'not tested',
    sub { pause($_[0]{pid}, 3) }, '--duration', '2s');
stopped('stopped for a part of the run', 'sqlite:', 'lease-upsert', 'held', sub { pause($_[0]{pid}, 2.2) },
    '--duration', '14s', '--workers', '6', '--hold', '30ms');

# --- a stranger with the database's lock ---

for my $journal ('wal', 'delete') {
    my $file = scratch() . "/held-$journal.db";
    stopped("locked by a stranger, $journal", "sqlite:$file?journal=$journal", 'lease-upsert', 'not tested', sub {
        open my $stranger, '|-', 'sqlite3', '-bail', $file or return;
        $stranger->autoflush(1);
        print $stranger ".timeout 20000\nBEGIN EXCLUSIVE;\n";
        sleep 3;
        print $stranger "ROLLBACK;\n";
        ok(close $stranger, "$journal: the stranger had it");
    }, '--duration', '5s');
}

# --- the server ---

# The run's own backends, with or without the watchdog's.
sub backends
{
    my ($and) = @_;
    open my $pipe, '-|', 'psql', '-XAtq', '-c',
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'lockbench%' $and", $uri{postgres}
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
            sleep 3;
            kill CONT => @pids;
        };
    };
    stopped('the server was stopped', $uri{postgres}, 'lease-upsert', 'not tested', $stop->(''), '--duration', '5s');
    stopped('all but the engine was stopped', $uri{postgres}, 'lease-upsert', 'violated',
        $stop->("AND application_name LIKE '%worker%'"), '--duration', '5s');
}

done_testing();
