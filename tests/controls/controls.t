#!/usr/bin/env perl
# Each broken control is caught, and by the guarantee that it breaks; its repaired twin, asked the same,
# holds. Nothing is left to chance where it can be placed: races are explored statement by statement;
# late releases come because every hold overruns its lease, deaths because a process is killed in its hold, and
# a quarter of 200 items is given back while three others go on; races left to a drain (two
# snapshots of advisory-no-recheck) happen dozens of times in each. A run in which the machine stood
# still, so that nothing could happen, is repeated. On SQLite always, else as far as there are
# servers in LB_TEST_URIS.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %uri = (sqlite => 'sqlite:', memory => undef);
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}
my @every = qw(sqlite postgres mariadb);
my @explore = ('explore', '--first');
my @late = ('verify', '-S', 'overrun', '--overrun', '1', '--duration', '1200ms');
my @late_queue = ('verify', '-S', 'queue-overrun', '--duration', '900ms'); # its twin needs 10 s more to end
my @batches = ('explore', '--first', '--batch', '2', '--items', '2', '--steps', 'clock', '--time', '10m', '--opt', 'ends=batch');
my @hot = ('verify', '-S', 'mutex-hot', '--duration', '300ms', '--warmup', '0');
my @drain = ('verify', '-S', 'drain');
my @dead = ('verify', '-S', 'dead-holder');
my @give_back = ('verify', '-S', 'give-back');
my @poison = ('verify', '-S', 'poison', '--opt', 'most=3'); # with an option of its own the twin is not asked with those of its breaks
my @deploy = ('verify', '-S', 'deploy', '--opt', 'most=3');
my $now = ['--opt', 'first_run=now'];

# control, engines, how it is asked, its options, the guarantees that it must be seen to break, twin
my @cases = (
    ['none', ['memory'], \@hot, [], ['exclusive'], 'pthread-mutex'],
    ['read-then-write', \@every, \@explore, [], ['exclusive'], 'lease-upsert'],
    ['count-gate', ['postgres', 'mariadb'], \@explore, [], ['exclusive'], 'slots'],
    ['fifo-poll', ['postgres'], ['explore'], [], ['exclusive', 'fifo'], 'fifo-poll-safe'],
    ['lease-update', \@every, \@late, $now, ['owner-release', 'exclusive'], 'lease-update-safe'],
    ['lease-update', \@every, ['verify', '-S', 'mutex-hot', '--duration', '400ms', '--warmup', '0', '--progress-bound', '300ms'],
        [], ['progress'], undef],
    ['release-unowned', \@every, \@late, [], ['owner-release', 'exclusive'], 'lease-upsert'],
    ['lease-now', ['postgres'], ['verify', '-S', 'blocker', '--duration', '1500ms'], [], ['exclusive'], 'lease-update-safe'],
    ['naive-claim', ['postgres'], \@explore, [], ['no-duplicate'], 'skip-locked'],
    ['gatekeeper-early', ['postgres', 'mariadb'], \@explore, [], ['no-duplicate'], 'gatekeeper'],
    ['autocommit-skip', ['sqlite', 'postgres'], \@explore, [], ['no-duplicate'], undef],
    ['autocommit-skip', ['mariadb'], \@explore, [], ['no-duplicate'], 'skip-locked'],
    ['merge-unlocked', ['postgres'], \@explore, [], ['no-duplicate'], 'merge-table-lock'],
    ['advisory-no-recheck', ['postgres'], \@drain, [], ['no-duplicate'], 'advisory-claim'],
    ['complete-by-id', \@every, \@late_queue, [], ['owner-release'], 'lease-queue'],
    ['complete-by-id', ['sqlite', 'postgres'], \@batches, [], ['owner-release'], 'lease-queue'],
    ['lease-same-fence', \@every, \@explore, [], ['fenced'], 'lease-upsert'],
    ['lease-unread', \@every, \@dead, [], ['recovery'], 'lease-upsert'],
    ['offset-claim', \@every, \@give_back, [], ['no-loss'], 'skip-locked'],
    ['lease-attempts', \@every, \@poison, ['--opt', 'counted=never'], ['attempts'], 'lease-attempts'],
    ['lease-attempts', \@every, \@poison, ['--opt', 'counted=at-end'], ['attempts'], undef],
    ['lease-attempts', \@every, \@poison, ['--opt', 'recovered=reset'], ['attempts'], undef],
    ['lease-attempts', \@every, \@deploy, ['--opt', 'stops=drops'], ['recovery'], 'lease-attempts'],
    ['lease-attempts', \@every, \@deploy, ['--opt', 'ended=any'], ['owner-release'], undef],
    ['skip-locked', ['postgres'], ['verify', '-S', 'overclaim'], ['--opt', 'form=in'], ['bounded-claim'], 'skip-locked'],
);

sub ask
{
    my ($how, $engine, $name, $options) = @_;
    my ($command, @rest) = @$how;
    return start($command, '-s', $name, defined $uri{$engine} ? ('-d', $uri{$engine}) : (), @rest, @$options,
        '--format', 'json', $command eq 'verify' ? '--quiet' : ());
}

# Verdict by guarantee, and the witness. An engine that is busy with others may give an answer once
# (a row that another session's purge held) and not again: the search is not complete then, and all
# run schedules held.
sub answer
{
    my ($command, $out) = @_;
    my $json = eval { decode_json($out) } or return ({}, $out);
    if ($command eq 'explore') {
        my $seen = $json->{verdicts};
        my %of = map { $_ => $json->{answers_not_reached} && $seen->{$_} eq 'no violation found' ? 'held' : $seen->{$_} } keys %$seen;
        return (\%of, encode_json($json->{witness} // {}));
    }
    my $of = $json->{cells}[0]{guarantees} // {};
    return ({ map { $_ => $of->{$_}{verdict} } keys %$of },
        join '; ', map { @{$of->{$_}{witnesses}} ? $of->{$_}{witnesses}[0]{text} : () } sort keys %$of);
}

# Whether a run under stress reached its purpose: a control to all that it must break, a twin to
# anything that is tested at all. An accusation of a twin stands.
sub is_shown
{
    my ($run, $status, $verdicts) = @_;
    return $status == 0 && !grep { ($verdicts->{$_} // '') ne 'violated' } @{$run->{breaks}} if @{$run->{breaks}};
    return grep { /^(?:held|violated)$/ } values %$verdicts;
}

my @runs;
for my $case (@cases) {
    my ($name, $engines, $how, $options, $breaks, $twin) = @$case;
    for my $engine (grep { exists $uri{$_} } @$engines) {
        push @runs, { name => $name, engine => $engine, how => $how, options => $options, breaks => $breaks };
        push @runs, { name => $twin, engine => $engine, how => $how, options => [], breaks => [] } if defined $twin;
    }
}
# The slow ones begin first and end last; the others go side by side between them.
my @slow = grep { $_->{how} == \@late_queue } @runs;
@runs = ((grep { $_->{how} != \@late_queue } @runs), @slow);
$_->{run} = ask($_->{how}, $_->{engine}, $_->{name}, $_->{options}) for @slow;
my @waiting = @runs;
my $n_side_by_side = 8;
for my $run (@runs) {
    while (my $next = (grep { !$_->{run} } @waiting[0 .. ($n_side_by_side < @waiting ? $n_side_by_side : @waiting) - 1])[0]) {
        $next->{run} = ask($next->{how}, $next->{engine}, $next->{name}, $next->{options});
    }
    my ($status, $out, $err) = finish($run->{run});
    shift @waiting;
    my $title = "$run->{name} on $run->{engine}, $run->{how}[0]" . ($run->{how}[0] eq 'verify' ? " $run->{how}[2]" : '');
    my ($verdicts, $witness) = answer($run->{how}[0], $out);
    if ($run->{how}[0] eq 'verify' && !is_shown($run, $status, $verdicts)) {
        ($status, $out, $err) = try_until(sub { return $_[0] == 3 || is_shown($run, $_[0], (answer('verify', $_[1]))[0]) },
            sub { return finish(ask(@$run{qw(how engine name options)})) });
        ($verdicts, $witness) = answer('verify', $out);
    }
    my @violated = grep { $verdicts->{$_} eq 'violated' } sort keys %$verdicts;
    if (!@{$run->{breaks}}) {
        is($status, 0, "$title: the twin is as claimed") or diag "$err$witness";
        is("@violated", '', "$title: nothing is violated");
        cmp_ok(scalar(grep { $_ eq 'held' } values %$verdicts), '>', 0, "$title: and something held");
        next;
    }
    is($status, $run->{how}[0] eq 'explore' ? 1 : 0, "$title: caught") or diag $err;
    is(join(' ', grep { my $g = $_; !grep { $_ eq $g } @violated } @{$run->{breaks}}), '', "$title: @{$run->{breaks}}")
        or diag "violated: @violated";
    like($witness, qr/worker/, "$title: with a witness");
}

done_testing();
