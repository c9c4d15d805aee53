#!/usr/bin/env perl
# Waits without an end, or for a clock, with nothing in the way: of an item that no claim can mark, of one that was given
# back, and of a lock that is free, or that only a dead waiter is in line for.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($status, $out, $err);

# Broken files, each with the question that shows the fault, and right files that differ a little.
my @broken = (['chosen-again', 'no-loss', 'explore', ['look=any']], ['one-line', 'progress', 'explore\+own lock', ['ahead=all']],
    ['clocks-back', 'no-loss', 'explore\+ahead', ['back=worker']]);
my @right = (['chosen-again', 'look=waiting'], ['chosen-again', 'look=head'], ['one-line', 'ahead=own'], ['one-line', 'ahead=lone'], ['clocks-back', 'back=server'],
    ['clocks-back', 'back=server', 'put=stamped']);

# All at once, as much of it is waiting.
sub begin
{
    my ($file, @options) = @_;
    return start('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '-q', '--budget', '4s', map { ('--opt', $_) } @options);
}
my @found = map { begin($_->[0], @{ $_->[3] }) } @broken;
my @passed = map { begin(@$_) } @right;

for (@broken) {
    my ($file, $guarantee, $question, $options) = @$_;
    ($status, $out, $err) = finish(shift @found);
    like($out, qr/^not ok \d+ - \S+ sqlite $question $guarantee$/m, "$file, @$options: $guarantee by $question") or diag $out, $err;
    my ($again) = $out =~ /^not ok \d+ - \S+ sqlite $question $guarantee\n(?:  .*\n)*?  reproduce: "lockbench (explore .*)"$/m;
    ok(defined $again, '... with the command') or diag $out;
    is((lockbench(split ' ', $again // ''))[0], 1, '... that shows it again');
}
for (@right) {
    my ($file, @options) = @$_;
    ($status, $out, $err) = finish(shift @passed);
    unlike($out, qr/^not ok/m, "$file, @options: not accused") or diag $out, $err;
    like($out, qr/^ok \d+ - \S+ sqlite \S+ (?:no-loss|progress)$/m, '... and it was tested');
    like($out, qr/^ok \d+ - \S+ sqlite explore\+own lock progress$/m, '... locks do not wait for each other') if $file eq 'one-line';
    unlike($out, qr/^ok \d+ - \S+ sqlite explore\+own lock (?!progress)/m, '... and nothing else was tested there');
    like($out, qr/^ok \d+ - \S+ sqlite explore\+ahead no-loss$/m, '... what is given back is there') if "$file @options" eq 'clocks-back back=server';
}

# A refused acquire joins a line. Its waiter dies, and the holder comes again: a schedule with one switch.
my @waiter = ('--rounds', '2', '--preemptions', '1', '--steps', 'clock,crash');
for (['swept=holder', 1, 'violated'], ['swept=all', 0, 'no violation found']) {
    my ($option, $wanted, $verdict) = @$_;
    ($status, $out, $err) = lockbench('explore', '-s', "$folder/polled-line.sql", '-d', 'sqlite:', '-q', '--opt', $option, @waiter);
    is($status, $wanted, "polled-line, $option: exit status") or diag $out, $err;
    like($out, qr/^ +recovery +$verdict$/m, "... recovery: $verdict");
    ($status, $out) = lockbench('verify', '-s', "$folder/polled-line.sql", '--plan', '--opt', $option);
    like($out, qr/explore\+dead waiter .*a refused acquire may leave rows/m, '... and verify asks for it') or diag $out;
}

# A random choice is another one the next time: nothing is lost.
($status, $out) = lockbench('explore', '-s', "$folder/chosen-again.sql", '-d', 'sqlite:', '-q', '--opt', 'look=chance', '--time', '5s');
like($out, qr/^ +no-loss +no violation found$/m, 'chosen by lot: not accused') or diag $out;

# The clocks are apart, and each item waits for its producer's: that is late, and not lost.
($status, $out) = lockbench('explore', '-s', "$folder/clocks-back.sql", '-d', 'sqlite:', '-q', '--opt', 'put=stamped', '--also', 'ahead');
like($out, qr/^ +no-loss +not tested: items wait for the time that another clock wrote$/m, 'put at another time: not tested') or diag $out;

SKIP: {
    skip 'no postgres server', 6 if !defined $postgres;
    # A hold that is a transaction: each worker keeps its own.
    for (['parent=share', 'ok'], ['parent=update', 'not ok']) {
        my ($option, $wanted) = @$_;
        ($status, $out, $err) = lockbench('verify', '-s', "$folder/parent-row.sql", '-d', $postgres, '-q', '--budget', '4s', '--opt', $option);
        like($out, qr/^\Q$wanted\E \d+ - \S+ postgres explore\+own lock progress$/m, "postgres, $option: $wanted") or diag $out, $err;
    }
    for (['look=waiting', 0, 'held'], ['look=any', 1, 'violated']) {
        my ($option, $wanted, $verdict) = @$_;
        ($status, $out, $err) = lockbench('explore', '-s', "$folder/chosen-again.sql", '-d', $postgres, '-q', '--opt', $option);
        is($status, $wanted, "postgres, $option: exit status") or diag $out, $err;
        like($out, qr/^ +no-loss +$verdict$/m, "... no-loss is $verdict");
    }
}

# Each worker keeps its own lock: two workers cannot share one, or acquire again.
for ([], ['--resources', '2', '--workers', '3'], ['--resources', '2', '--rounds', '2']) {
    ($status, undef, $err) = lockbench('explore', '-s', "$folder/one-line.sql", '-d', 'sqlite:', '-q', '--also', 'apart', @$_);
    is($status, 2, "apart with @$_: refused");
    like($err, qr/apart needs one round, and as many --resources as --workers/, '... in words');
}
($status, undef, $err) = lockbench('explore', '-s', "$folder/chosen-again.sql", '-d', 'sqlite:', '-q', '--resources', '2', '--also', 'apart');
is($status, 2, 'a queue has no resources: refused') or diag $err;

done_testing();
