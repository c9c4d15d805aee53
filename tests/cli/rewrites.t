#!/usr/bin/env perl
# Files that say the same in other words: comments, case, brackets, operands, names. The verdict of `explore` stays, and a question does
# not become "held". scripts/soak-rewrite does the same with each change and each file.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Rewrite qw(changes differences mixed rewrite);
use Test::More;

my $seed = $ENV{LB_TEST_SEED} // 43;
$seed = int rand 1_000_000 if $seed eq 'new';
srand $seed;
note "seed: $seed";

sub result_of
{
    my ($text, @steps) = @_;
    my ($status, $out, $err) = lockbench('explore', '-s', spew('file.sql', $text), '-d', 'sqlite:', '-q', '--format', 'json', @steps);
    return eval { decode_json($out) } // { verdicts => {}, why => $err };
}

# --- the changes themselves ---
my $file = <<'SQL';
-- strategy: x
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE t (name varchar(9), owner varchar(9), tries int NOT NULL DEFAULT 0);
-- name: acquire
UPDATE t SET owner = :worker, tries = tries + 1 WHERE name = :resource AND (owner IS NULL OR tries < 3) AND tries = 0 AND name <> 'a AND b'; -- it's
-- name: teardown
DROP TABLE t;
SQL
my %wanted = (
    'operands of = swapped' => q{WHERE :resource = name AND (owner IS NULL OR tries < 3) AND 0 = tries AND name <> 'a AND b'},
    'NOT (a >= b) for a < b' => q{WHERE name = :resource AND (owner IS NULL OR NOT (tries >= 3)) AND tries = 0 AND name <> 'a AND b'},
    'NOT (a = b) for a <> b' => q{AND tries = 0 AND NOT (name = 'a AND b')},
    'IN for =' => q{WHERE name IN (:resource) AND (owner IS NULL OR tries < 3) AND tries IN (0) AND},
    'x < 1 for x = 0' => q{AND tries < 1 AND},
    'conditions swapped' => q{WHERE name <> 'a AND b' AND tries = 0 AND (owner IS NULL OR tries < 3) AND name = :resource;},
    'assignments swapped' => q{SET tries = tries + 1, owner = :worker WHERE},
    'brackets around conditions' => q{WHERE (name = :resource AND (owner IS NULL OR tries < 3) AND tries = 0 AND name <> 'a AND b');},
    'aliases' => 'UPDATE t AS lb_1 SET owner',
    'name of the database' => 'UPDATE main.t SET owner',
    'quoted names' => q{UPDATE "t" SET "owner" = :worker, "tries" = "tries" + 1 WHERE "name" = :resource},
);
for my $change (sort keys %wanted) {
    like(rewrite($file, $change, 'sqlite'), qr/\Q$wanted{$change}\E/, $change);
}
is(rewrite($file, 'dollar quotes', 'sqlite'), undef, 'dollar quotes are of PostgreSQL');
like(rewrite($file, 'dollar quotes', 'postgres'), qr/<> \$it\$a AND b\$it\$; -- it's/, '... and of texts only');
my $locking = $file =~ s/^UPDATE/LOCK TABLES t WRITE;\nUPDATE/mr;
isnt(rewrite($locking, 'aliases', 'sqlite'), undef, 'aliases');
is(rewrite($locking, 'aliases', 'mariadb'), undef, '... but LOCK TABLES of MariaDB locks names');
cmp_ok(scalar changes(), '>', 40, 'the number of changes');

# --- a sample: each file with a mix of changes ---
my @files = (map({ ["tests/pairs/$_.sql"] } qw(lossy-eq lossy-lt)), ['tests/pairs/rel-plain.sql', '--steps', 'clock'],
    ['tests/strangers/own-rows.sql'], ['tests/strangers/fixed-lease.sql', '--steps', 'clock'], ['examples/semaphore.sql', '--steps', 'crash']);
for (@files) {
    my ($path, @steps) = @$_;
    my $text = slurp("$ENV{LB_SOURCE}/$path");
    my $was = result_of($text, @steps);
    ok($was->{complete} // ($was->{verdicts}{'no-loss'} // '') eq 'violated', "$path is explored") or diag $was->{why} // '';
    my ($new, @applied) = mixed($text, 'sqlite', grep { rand() < 1 / 3 } changes());
    my $is = result_of($new, @steps);
    my @wrong = $is->{why} // grep { $_->[0] eq 'changed' } differences($was, $is);
    is(scalar @wrong, 0, "$path: the same verdicts") or diag "@applied: ", map({ ref $_ ? "@$_; " : $_ } @wrong), "\n$new";
}

# --- a question stays one where the names are in quotes ---
my $lt = slurp("$ENV{LB_SOURCE}/tests/pairs/lossy-lt.sql");
for my $change ('quoted names', 'names in other quotes') {
    is(result_of(rewrite($lt, $change, 'sqlite'))->{verdicts}{'no-loss'}, 'not tested', "$change: the question stays");
}
# --- a waiter in line that is refused and dies was in line when its try began: no schedule with another order is left out ---
my ($in_line) = mixed(slurp("$ENV{LB_SOURCE}/tests/strangers/in-line.sql"), 'sqlite', 'brackets around parameters', 'NOT (a >= b) for a < b');
my $line = result_of($in_line, '--opt', 'number=chance', '--steps', 'clock,crash', '--audit', '50%');
is($line->{why}, undef, 'a line, with crashes: the audit agrees');

done_testing();
