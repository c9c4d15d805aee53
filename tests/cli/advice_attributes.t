#!/usr/bin/env perl
# Advice on keys, unique jobs, priorities, rates and tenants: verify names the fault of each file, with the statements that take part.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

for my $case (
    ['keyed.sql', ['end=first', 'limit=1'], 'key-limit', ['SELECT j.id AS item', 'UPDATE place', 'UPDATE job', "UPDATE job SET status = 'done'"],
        'two claims take the last place of a key together: .* each end a place of its own key$'],
    ['once-only.sql', ['put=looked'], 'unique', ['SELECT 1 AS free', 'INSERT INTO job', 'UPDATE job'], 'two puts that do not see each other add two items of one key: '],
    ['urgent-head.sql', ['put=apart'], 'priority', ['UPDATE head', 'UPDATE job', 'UPDATE head', 'INSERT INTO job'],
        'order by the priority first, .* write it in the item\'s transaction$'],
    ['rated.sql', ['take=reset'], 'rate', [], 'let a claim lock one row, and then count the last T: '],
    ['tenants.sql', ['take=oldest'], 'share', ['UPDATE job', 'INSERT INTO tenant', 'INSERT INTO job'],
        'a tenant with many items is served more often, .* note the turn in the same transaction$'],
    )
{
    my ($file, $options, $guarantee, $lines, $advice) = @$case;
    my @verify = ('verify', '-d', 'sqlite:', '-q', '--budget', '15s', '-s', "$ENV{LB_SOURCE}/tests/strangers/$file", map { ('--opt', $_) } @$options);
    my ($status, $out, $err) = until_shown(sub { $_[0] == 1 }, @verify);
    is($status, 1, "$file, @$options: violated") or diag "$out$err";
    my ($said) = $out =~ /^# \S+ on sqlite breaks \Q$guarantee\E:\n((?:#   .*\n)+)/m;
    my @quoted = ($said // '') =~ /^#   \S+:\d+: (.*)/mg;
    is_deeply([map { substr $quoted[$_] // '', 0, length $lines->[$_] } 0 .. $#$lines], $lines, '... the lines') or diag $said // $out;
    like($said // '', qr/^#   The fix: $advice/m, '... and the advice') or diag $out;
}

done_testing();
