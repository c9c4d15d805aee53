#!/usr/bin/env perl
# Triggers of the user's tables: before each schedule, explore puts the rows back, and no trigger acts on that.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/event-trigger.sql";
for my $target ('sqlite:', split /\n/, $ENV{LB_TEST_URIS} // '') {
    my ($engine) = $target =~ /^(\w+)/;
    my @explore = ('explore', '-s', $file, '-d', $target, '-q', '--opt');
    my ($status, $out, $err) = lockbench(@explore, 'loose=0');
    is($status, 0, "$engine: held in every schedule") or diag $out, $err;
    like($out, qr/^  complete: (?!1 schedule)\d+ schedules run/m, '... and there are several') or diag $out;
    ($status, $out) = lockbench(@explore, 'loose=1');
    is($status, 1, '... and a claim that does not ask for the events is caught') or diag $out;
    like($out, qr/^  no-duplicate is violated: /m, '... by the right guarantee');
}
done_testing();
