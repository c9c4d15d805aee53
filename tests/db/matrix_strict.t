#!/usr/bin/env perl
# scripts/matrix-strict: of the strategies whose verdicts differ in a matrix, those that one server alone breaks are shown, with
# a schedule on both; a difference that neither server confirms is called chance. With mariadb-strict in LB_TEST_VERSIONS,
# the real one: gatekeeper-early.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my %named = map { split /\t/ } split /\n/, $ENV{LB_TEST_VERSIONS} // '';
my ($usual) = grep { /^mariadb:/ } split /\n/, $ENV{LB_TEST_URIS} // '';
plan skip_all => 'no MariaDB' if !defined $usual;
my $script = ($ENV{LB_SOURCE} // '.') . '/scripts/matrix-strict';

# A matrix of the rows: strategy, and its cells without and with the setting.
sub matrix
{
    my $rows = join '', map { "| `$_->[0]` | $_->[1] | held | $_->[2] |\n" } @_;
    return spew('matrix.md', <<"TEXT");
# Verdicts

## Queues

| strategy | MariaDB 10.11.1<br>repeatable read (default) | SQLite 3.40.1<br>serializable (default) | MariaDB 10.11.1 (strict)<br>repeatable read (default) |
| --- | --- | --- | --- |
$rows
1. `gatekeeper-early`, no-duplicate: a known break.
2. `gatekeeper-early`, MariaDB 10.11.1 (strict), repeatable read (default), no-duplicate: **known to be broken, but not caught** in 9 tested.
3. `gatekeeper-early`, no-duplicate: known to be broken elsewhere (a known break), and not seen here.
TEXT
}

sub told
{
    my ($strict, $file) = @_;
    my $text = `'$script' --time 20s '$usual' '$strict' <'$file' 2>&1`;
    return ($? >> 8, $text);
}

my ($status, $text) = told($usual, matrix(['cas', 'held', 'held'], ['skip-locked', 'SKIP [9]', 'held'], ['gatekeeper-early', 'violated [1]', 'not caught [2]']));
is($status, 0, 'the same server twice') or diag $text;
like($text, qr/^2 strategies run on both\. The verdicts of 1 are the same: `cas`\.$/m, 'a strategy that is skipped is not counted');
like($text, qr/^### `gatekeeper-early`: violated no-duplicate with OFF, not caught no-duplicate with ON$/m, 'the difference, with its guarantee');
like($text, qr/^No schedule breaks it on one of the two servers alone/m, '... which is chance: both break');
(undef, $text) = told($usual, matrix(['gatekeeper-early', 'violated [1]', 'violated [3]']));
like($text, qr/violated no-duplicate with OFF, violated no-duplicate \(not seen\) with ON$/m, 'a break that was not seen differs from one that was');
($status, $text) = told($usual, spew('none.md', "# Verdicts\n"));
is($status, 3, 'a matrix without the two columns');

SKIP: {
    my $strict = $named{'mariadb-strict'};
    skip 'no mariadb-strict', 3 if !defined $strict;
    ($status, $text) = told($strict, matrix(['gatekeeper-early', 'violated [1]', 'not caught [2]']));
    like($text, qr/^    lockbench explore -s gatekeeper-early -d URI --replay [01]+$/m, 'the schedule') or diag $text;
    like($text, qr/^OFF: no-duplicate is violated: item \d.* 1 row/ms, 'broken with OFF');
    like($text, qr/^ON: no violation\.\n.*goes on: conflict/ms, 'refused by error 1020 with ON');
}
done_testing();
