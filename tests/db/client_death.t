#!/usr/bin/env perl
# scripts/client-death: a client that is killed in its statement keeps its lock until the statement has
# ended, unless the server looks at its clients meanwhile.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($uri) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no PostgreSQL in LB_TEST_URIS' if !defined $uri;
my $script = ($ENV{LB_SOURCE} // '.') . '/scripts/client-death';
my $out = `$script -d '$uri' --deaths 1 --statement 3 2>&1`;
plan skip_all => $out =~ s/\n/ /gr if $? >> 8 == 3 && $out =~ /came with PostgreSQL 14/;
is($?, 0, 'exit status') or diag $out;
my @share = $out =~ /\| ([0-9.]+) \|$/mg;
is(scalar(@share), 3, 'without the check, with it, and between statements') or diag $out;
cmp_ok($share[1], '<', $share[0] / 2, 'the check ends the wait before the statement ends');
cmp_ok($share[2], '<', $share[0] / 2, 'between statements the death is seen at once');

$out = `$script --deaths 0 2>&1`;
is($? >> 8, 2, 'no deaths: usage');
like($out, qr/--deaths: '0' is not a number from 1/, 'no deaths: says so');
done_testing();
