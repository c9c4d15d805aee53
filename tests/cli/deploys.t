#!/usr/bin/env perl
# Two versions of a strategy on one set of tables: --with of explore, run and verify. Each pair of tests/deploys has a
# version that breaks a guarantee beside the old one, though each holds alone, and a repaired version that does not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/deploys";
my @uris = ('sqlite:', grep { /^(postgres|mariadb)/ } split /\n/, $ENV{LB_TEST_URIS} // '');
my @pairs = (['state', 'no-duplicate'], ['key', 'exclusive'], ['token', 'owner-release', '--steps', 'clock'],
    ['claimed', 'no-duplicate', qw(--rescuers 1 --steps clock --frees 1 --items 1)]);

# --- explore ---
for my $uri (@uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    for my $pair (@pairs) {
        my ($name, $guarantee, @steps) = @$pair;
        next if $name eq 'claimed' && $uri ne 'sqlite:'; # a server takes minutes for all of its schedules
        my @old = ('--with', "$folder/$name-old.sql");
        for my $alone (grep { $uri eq 'sqlite:' } "$name-old", "$name-new") {
            my ($status, $out, $err) = lockbench('explore', '-s', "$folder/$alone.sql", @steps);
            is($status, 0, "$alone holds alone") or diag "$out$err";
        }
        my ($status, $out, $err) = lockbench('explore', '-s', "$folder/$name-new.sql", @old, '-d', $uri, @steps);
        is($status, 1, "$name on $engine: the versions together do not hold") or diag "$out$err";
        like($out, qr/^  \Q$guarantee\E +violated$/m, "... $guarantee");
        like($out =~ s/\s+/ /gr, qr/\(workers with odd numbers run \S+\Q$name-old.sql\E\)/, '... the witness names the version');
        my ($again) = $out =~ /^  again: lockbench (explore .+?)$/m;
        like($again, qr/ --with \S+\Q$name-old.sql\E /, '... and so does the command');
        ($status, $out, $err) = lockbench('explore', '-s', "$folder/$name-new-repaired.sql", @old, '-d', $uri, @steps);
        is($status, 0, "$name-repaired on $engine holds") or diag "$out$err";
        like($out, qr/^  complete: .*^  \Q$guarantee\E +held$/ms, '... in every schedule');
    }
}

# The other way round: the new version ends what the old one has. Its repair is that of the pair token.
for my $uri (@uris) {
    my @late = ('-s', "$folder/late-version.sql", '-d', $uri, '--steps', 'clock');
    my ($status, $out, $err) = lockbench('explore', @late, '--with', "$folder/token-old.sql");
    is($status, 1, "late-version on $uri: the versions together do not hold") or diag "$out$err";
    like($out =~ s/\s+/ /gr, qr/owner-release is violated: worker \d's complete of item \d+ .* worker \d owned it \(workers with odd numbers/,
        '... the new version ends what the old one has');
    ($status, $out, $err) = lockbench('explore', @late);
    is($status, 0, '... and the new version alone holds') or diag "$out$err";
}

# --- run and verify ---
my @state = ('-s', "$folder/state-new.sql", '--with', "$folder/state-old.sql");
my @load = ('-S', 'drain', '--backlog', 300);
my ($status, $out, $err) = try_until(sub { $_[0] == 1 }, sub { lockbench('run', @state, @load) });
is($status, 1, 'run: every second worker runs the version before') or diag "$out$err";
like($out, qr/no-duplicate, \d+ times?/, '... two versions claim one item');
like($out, qr/again: lockbench run -s \S+ --with \S+state-old\.sql /, '... the command has both');
my @repaired = ('-s', "$folder/state-new-repaired.sql", '--with', "$folder/state-old.sql");
($status, $out, $err) = lockbench('run', @repaired, @load);
is($status, 0, 'run: the repaired version holds') or diag "$out$err";
($status, $out, $err) = lockbench('run', @repaired, @load, '--processes', 4);
is($status, 0, '... also in processes') or diag "$out$err";
($status, $out, $err) = lockbench('verify', @state, '--budget', '3s');
is($status, 1, 'verify: violated') or diag "$out$err";
like($out, qr/^# jobs on sqlite breaks no-duplicate:$/m, '... in words');
unlike($out, qr/The fix:/, '... without advice: it is not known which version is wrong');

# --- what is put before the migration is there after it ---
my $lost = spew('lost.sql', slurp("$folder/state-new.sql") =~ s/(ALTER TABLE job ADD COLUMN owner varchar\(40\);)/$1\nDELETE FROM job;/r);
($status, $out, $err) = lockbench('explore', '-s', $lost, '--with', "$folder/state-old.sql");
like($out, qr/^  no-loss +violated$/m, 'a migration that drops jobs violates no-loss') or diag "$out$err";

# --- bad input: one line, status 2 or 3, nothing left ---
sub refused
{
    my ($wanted, $pattern, $what, @arguments) = @_;
    my ($status, $out, $err) = lockbench(@arguments);
    is($status, $wanted, "$what: status") or diag "$out$err";
    like($err, $pattern, '... and the reason');
}
my $lease = spew('lease.sql', slurp("$folder/key-old.sql") =~ s/^(-- rows: own\n)/$1-- option: ttl_ms = 1000\n-- lease: ttl_ms\n/mr);
my $owner = spew('owner.sql', slurp("$folder/key-old.sql") =~ s/exclusive, owner-release/owner-release/r);
my $other = spew('other.sql', slurp("$folder/key-old.sql") =~ s/exclusive, owner-release/exclusive/r);
my $shared = spew('shared.sql', slurp("$folder/key-old.sql") =~ s/rows: own/rows: shared/r);
my @key = ('-s', "$folder/key-new.sql");
refused(2, qr/one is a lock, and the other a queue/, 'shapes', 'run', @key, '--with', "$folder/state-old.sql");
refused(2, qr/they differ in -- lease:/, 'leases', 'run', @key, '--with', $lease);
my $serial = spew('serial.sql', slurp("$folder/key-old.sql") =~ s/^(-- rows: own\n)/$1-- isolation: serializable\n/mr);
refused(2, qr/they differ in -- isolation:/, 'isolation levels', 'explore', @key, '--with', $serial);
refused(2, qr/there is no guarantee that both claim/, 'claims', 'run', '-s', $owner, '--with', $other);
refused(2, qr/they differ in -- rows:/, 'facts', 'explore', @key, '--with', $shared);
refused(2, qr/takes one strategy file with -s/, 'a built-in', 'run', '-s', 'cas', '--with', $owner);
refused(2, qr/takes one strategy file with -s/, 'two files', 'verify', @key, '-s', $owner, '--with', $owner);
refused(2, qr/nowhere\.sql/, 'a missing file', 'run', @key, '--with', 'nowhere.sql');
refused(2, qr/--spec/, 'a spec', 'explore', @key, '--with', $owner, '--spec', '-');
refused(3, qr/duplicate column name/, 'a migration that fails', 'explore', '-s', "$folder/state-new.sql", '--with',
    "$folder/state-new.sql");
($status, $out, $err) = lockbench('run', @key, '--with', "$folder/key-old.sql", '--pool', 2);
like("$out$err", qr/without --pool/, 'a pool is refused with the reason');
isnt($status, 0, '... and is not a pass');

done_testing();
