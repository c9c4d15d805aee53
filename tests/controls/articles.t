#!/usr/bin/env perl
# The published form of each article, on every engine that can express it, with the verdict that is written down
# here and in docs/articles/: violated, held, or a figure. Beside each that fails stands the repaired form, asked
# the same, which must not. Where a break is an interleaving it is explored, not hoped for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %uri = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}
my @every = grep { exists $uri{$_} } qw(sqlite postgres mariadb);

# The JSON of one run, or of exploring.
sub ask
{
    my ($command, $strategy, $engine, @rest) = @_;
    my ($status, $out, $err) = lockbench($command, '-s', $strategy, '-d', $uri{$engine}, @rest, '--format', 'json',
        $command eq 'explore' ? () : ('--quiet'));
    my $json = eval { decode_json($out) };
    diag "lockbench $command -s $strategy -d $engine @rest: $status\n$out$err" if !defined $json;
    return ($json // {}, $status);
}

sub verdict { my ($json, $guarantee) = @_; return $json->{cells}[0]{guarantees}{$guarantee}{verdict} // 'none' }
sub first_run { return $_[0]{cells}[0]{runs}[0] // {} }
sub explored { my ($json, $guarantee) = @_; return $json->{verdicts}{$guarantee} // 'none' }

sub proof
{
    my ($json, $name) = @_;
    my $proof = first_run($json)->{proof} // {};
    return ($proof->{name} // '') eq $name ? $proof->{verdict} : 'none';
}

# 2014, MERGE under a table lock.
for my $engine (@every) {
    my @chunks = ('-S', 'chunked-update', '--rows', '2000', '--backlog', '100', '--error', '0.2', '--workers', '4');
    my ($json) = ask('run', 'merge-table-lock', $engine, @chunks, '--opt', 'form=published');
    is(verdict($json, 'no-duplicate'), 'held', "merge, published, $engine: no item is handed out twice");
    is(proof($json, 'chunks'), 'violated', "merge, published, $engine: a range whose agent fails is lost: at most once");
    ($json) = ask('run', 'merge-table-lock', $engine, @chunks);
    is(proof($json, 'chunks'), 'held', "merge, repaired, $engine: it is done again");

    my @kill = ('-S', 'drain', '--backlog', '100', '--workers', '3', '--processes', '3', '--hold', '10ms', '--fault', 'kill',
        '--fault-interval', '100ms', '--fault-count', '2', '--ttl', '300ms', '--recover', '100ms');
    ($json) = ask('run', 'merge-table-lock', $engine, @kill, '--opt', 'form=published');
    my $dead = first_run($json)->{measures};
    is($dead->{stuck}, $dead->{deaths}, "merge, published, $engine: what a dead agent had is never handed out again");
    cmp_ok($dead->{deaths} // 0, '>', 0, "merge, published, $engine: and there were such");
    ($json) = ask('run', 'merge-table-lock', $engine, @kill);
    $dead = first_run($json)->{measures};
    is($dead->{stuck}, 0, "merge, repaired, $engine: what a dead agent had is freed by an operator's job");
}

# The question on checking out records: the gatekeeper.
for my $engine (grep { $_ ne 'sqlite' } @every) {
    my ($json) = ask('explore', 'gatekeeper-early', $engine, '--first');
    is(explored($json, 'no-duplicate'), 'violated', "gatekeeper, published without its hints, $engine: claims twice");
    for my $form ('commit', 'published') {
        ($json) = ask('explore', 'gatekeeper', $engine, '--opt', "form=$form");
        is(explored($json, 'no-duplicate'), 'held', "gatekeeper, form=$form, $engine: explored, claims once");
    }
    my @ahead = ('-S', 'drain', '--locked-ahead', '20', '--backlog', '50', '--duration', '700ms');
    ($json) = ask('run', 'gatekeeper', $engine, @ahead, '--opt', 'form=published');
    is(first_run($json)->{operations}{acquire}{succeeded}, 30,
        "gatekeeper, published, $engine: its hints step over locked rows");
    ($json) = ask('run', 'gatekeeper', $engine, @ahead);
    is(first_run($json)->{operations}{acquire}{succeeded}, 0, "gatekeeper, form=commit, $engine: waits at the first of them");
}
done_testing();
