#!/usr/bin/env perl
# Queues whose items come back for ever end at once, with a finding; runs in which nothing is granted are not green.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use JSON::PP;
use Test::More;

# A queue whose complete completes nothing.
sub endless
{
    my ($name, $claims) = @_;
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: $claims
-- name: setup
CREATE TABLE jobs (id bigint PRIMARY KEY, payload varchar(100), owner varchar(64));
-- name: put
INSERT INTO jobs (id, payload) VALUES (:id, :payload);
-- name: claim
SELECT id, payload FROM jobs WHERE owner IS NULL ORDER BY id LIMIT 1;
-- name: complete
UPDATE jobs SET owner = NULL WHERE id = :id;
-- name: teardown
DROP TABLE jobs;
SQL
}

sub run
{
    my ($file, @args) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $file, '-d', 'sqlite:', '--quiet', '--format', 'json', '--warmup', '0', @args);
    my $json = eval { decode_json($out) } or diag "exit $status: $err";
    return ($status, $json->{cells}[0]);
}

my $came_back = qr/\Aitems come back after they were ended: \d+ claims of \d+ items; the run was ended\z/;
my @small = ('--workers', '2', '--duration', '10m');
for my $load (['-S', 'drain', '--backlog', '20'], ['-S', 'steady', '--producers', '1', '--put-interval', '100ms', '--backlog', '20']) {
    my ($status, $cell) = run(endless('endless', 'no-duplicate, no-loss'), @$load, @small);
    is($status, 1, "@$load: what comes back is the finding");
    is($cell->{guarantees}{'no-duplicate'}{verdict}, 'violated', '... by name');
    ok((grep { $_ =~ $came_back } @{$cell->{runs}[0]{warnings}}), '... and ends the run') or diag explain $cell->{runs}[0]{warnings};
}
my ($status, $cell) = run(endless('unclaimed', 'no-loss'), '-S', 'drain', '--backlog', '20', @small);
is($status, 5, 'where no claim is about it, nothing was shown');
like($cell->{runs}[0]{reason}, $came_back, '... and the reason is given');
($status, $cell) = run('cas', '-S', 'drain', '--backlog', '30', '--free', '0.8', @small);
is($status, 0, 'items that are given back again and again end all the same') or diag explain $cell->{runs}[0]{reason};

# Nothing is ever granted.
my $mute = spew('mute.sql', slurp(good_lock()) =~ s/strategy: \S+/strategy: mute/r =~ s/WHERE name = :resource AND owner IS NULL/WHERE name = :resource AND owner = 'x'/r);
for my $command (['run'], ['compare', '--repeat', '2']) {
    ($status) = lockbench(@$command, '-s', $mute, '-d', 'sqlite:', '-S', 'mutex-hot', '--duration', '50ms', '--warmup', '0', '--quiet');
    is($status, 5, "$command->[0] without a single grant: exit status");
}
done_testing();
