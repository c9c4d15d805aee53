#!/usr/bin/env perl
# lockbench show: the statements of every strategy for every engine are a strategy file that reads
# back; the shown file behaves like the strategy; bad calls get one line.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($status, $out, $err) = lockbench('list', 'strategies', '--names');
my $shown = 0;
for my $strategy (split /\n/, $out) {
    for my $engine ('sqlite', 'postgres', 'mariadb') {
        my ($status, $sql, $err) = lockbench('show', $strategy, '-d', $engine);
        if ($status == 2 && $err =~ /^lockbench: \S+ has no statements/) {
            is($sql, '', "$strategy on $engine: nothing is shown");
            next;
        }
        is($status, 0, "show $strategy -d $engine") or diag $err;
        my $file = spew("$strategy-$engine.sql", $sql);
        ($status, undef, $err) = lockbench('lint', $file);
        is($status, 0, '... reads back') or diag $err;
        (undef, my $again) = lockbench('show', $file, '-d', $engine);
        $_ =~ s/^--\n-- For .*\n//m, $_ =~ s/^-- lockbench runs .*\n//m for $sql, $again;
        is($again, $sql, '... and is shown the same');
        $shown++;
    }
}
cmp_ok($shown, '>', 80, 'most pairs have statements');

# It is for one engine, and says so: there is no warning about another's dialect.
(undef, my $marked) = lockbench('show', 'skip-locked', '-d', 'postgres');
is(() = $marked =~ /^-- name: \S+ \[postgres\]/mg, () = $marked =~ /^-- name:/mg, 'each section has the mark of its engine');
($status, $out, $err) = lockbench('run', '-s', spew('marked.sql', $marked), '-d', 'sqlite:');
is($status, 2, '... and another engine is refused');

for my $case (['read-then-write', 1], ['lease-upsert', 0], ['unique-mutex', 0]) {
    my ($strategy, $expected) = @$case;
    (undef, my $sql) = lockbench('show', $strategy, '-d', 'sqlite');
    ($status, $out) = lockbench('explore', '-s', spew("mine-$strategy.sql", $sql), '-d', 'sqlite:');
    is($status, $expected, "$strategy, shown, behaves as before") or diag $out;
}

(undef, $out) = lockbench('show', 'skip-locked', '-d', 'postgresql://nobody@nowhere/db', '--opt', 'form=eq');
like($out, qr/WHERE id = \(SELECT id\b.*LIMIT 1\b/s, 'a URI names an engine, and an option its variant');
like($out, qr/^-- For form=eq, recurring=no\b.*, on PostgreSQL\.$/m, 'which is told');
(undef, $out) = lockbench('show', 'skip-locked');
like($out, qr/FOR UPDATE SKIP LOCKED/, 'without -d: PostgreSQL');

for my $bad (
    [[], qr/takes one thing/], [['skip-lockd'], qr/unknown strategy 'skip-lockd'.*skip-locked/],
    [['none'], qr/runs without a database/], [['row-lock', '-d', 'sqlite'], qr/no statements for SQLite/],
    [['skip-locked', '--opt', 'form'], qr/not NAME=VALUE/], [['skip-locked', '--opt', 'form=x'], qr/form/],
    [['/nonexistent.sql'], qr/nonexistent/], [['skip-locked', '-d', 'oracle:'], qr/oracle/],
    [['skip-locked', '-d', 'oracle'], qr/option --database: 'oracle' is no engine: sqlite, postgres or mariadb, or a URI$/m]) {
    my ($args, $why) = @$bad;
    ($status, $out, $err) = lockbench('show', @$args);
    isnt($status, 0, "show @$args");
    is($out, '', '... prints nothing');
    like($err, qr/^lockbench: .*$why.*\n\z/, '... but one line');
}
(undef, my $held) = lockbench('show', 'skip-locked-hold', '-d', 'postgres');
like($held, qr/^-- name: claim .* tx=hold\n-- BEGIN before it\. .*COMMIT after/m, 'a transaction that is held is explained');
like($held, qr/^-- name: free .*\n-- No statement\.$/m, '... and an empty section says so');
unlike((lockbench('show', good_lock()))[1], qr/^-- \w+: *$/m, 'what a file does not say is not shown');

done_testing();
