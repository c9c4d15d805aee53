#!/usr/bin/env perl
# A put of several statements beside the end of an item: one transaction does not see the
# uncommitted rows of the other.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/blocked.sql";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no postgres server' if !defined $postgres;

my (undef, $out) = lockbench('verify', '-s', $file, '-d', $postgres, '--plan');
like($out, qr/^ +\d+ explore\+put .* its put takes several statements: /m, 'explore+put is planned');
for (['locked', 0, qr/no-loss +held/], ['read', 1, qr/no-loss is violated/])
{
    my ($permit, $expected, $words) = @$_;
    my ($status, $said, $err) = lockbench('explore', '-s', $file, '-d', $postgres, '--opt', "permit=$permit", '--workers', '1',
        '--producers', '1', '--items', '1', '--time', '10m', '-q', $permit eq 'read' ? '--first' : ());
    is($status, $expected, "permit=$permit: exit status") or diag $said, $err;
    like($said, $words, '... by the right guarantee');
}

(undef, $out) = until_shown(sub { return $_[1] =~ /^# blocked on postgres breaks no-loss:$/m },
    'verify', '-s', $file, '-d', $postgres, '--opt', 'permit=read', '-q', '--budget', '20s');
like($out, qr/^#   \S+blocked\.sql:\d+: INSERT INTO job .*\n#   \S+blocked\.sql:\d+: UPDATE job SET state = 'done'.*\n(?:#   \S+blocked\.sql:\d+: .*\n)+#   The fix: put depends on a row that it has read/m,
    'what to change, and where');

done_testing();
