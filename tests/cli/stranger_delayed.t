#!/usr/bin/env perl
# Items that put makes due some time later: an item that is not due yet is not lost, and a lost item
# is found if none waits.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/delayed.sql";
my @hour = ('--opt', 'quiet_ms=3600000');
my ($status, $out, $err) = lockbench('explore', '-s', $file, '-d', 'sqlite:', @hour, '-q');
unlike($out, qr/violated/, 'explore: what is due in an hour is not lost');
is($status, 5, '... and nothing is held') or diag $out, $err;

my @drain = ('verify', '-d', 'sqlite:', '-S', 'drain', '--backlog', '20', '-q');
($status, $out, $err) = lockbench(@drain, '-s', $file, @hour);
unlike($out, qr/^not ok/m, 'a run: nor there');
like($out, qr/^ok \d+ - delayed sqlite drain no-loss # SKIP some items were not claimed, and may be due later, as the file says/m,
    '... and why it is not tested');

# By what no option says, and no line of the file states: the line is told, and what to write.
(my $text = slurp($file)) =~ s/^-- due: .*\n//m or die 'no directive';
$text =~ s/:now \+ :quiet_ms/:now + 3600000/ or die 'no delay';
my $fixed = spew('delayed.sql', $text);
($status, $out, $err) = lockbench(@drain, '-s', $fixed);
unlike($out, qr/^not ok/m, 'a delay that no option sets: nothing is lost');
like($out, qr/^ok \d+ - delayed sqlite drain no-loss # SKIP line \d+: an item may be due later: write "-- due: later" or /m, '... the file is asked');
is($status, 5, '... with the exit status of a question');
($status, $out, $err) = lockbench('explore', '-s', $fixed, '-d', 'sqlite:', '-q');
is($status, 5, '... nor explored: exit status');
like($out, qr/^ +no-loss +not tested: line \d+: an item may be due later: write/m, '... and the question');

# Without a delay all is asked. A time at which items are dropped is none at which they are due.
($status, $out) = lockbench('explore', '-s', $file, '-d', 'sqlite:', '--opt', 'quiet_ms=0', '-q');
like($out, qr/^ +no-loss +held$/m, 'due at once: held');
my @newer = ('--opt', 'claim=newer', '--opt', 'quiet_ms=0');
($status, $out) = until_shown(sub { return $_[1] =~ /^not ok \d+ - delayed sqlite give-back no-loss$/m },
    'verify', '-d', 'sqlite:', '-S', 'give-back', '-q', '-s', $file, @newer);
like($out, qr/^not ok \d+ - delayed sqlite give-back no-loss$/m, '... and what does not come again is lost');
$text =~ s/due_ms <= :now ORDER BY due_ms/due_ms < 0 AND due_ms > :now ORDER BY due_ms/ or die 'no claim';
($status, $out) = lockbench(@drain, '-s', spew('dropped.sql', $text));
like($out, qr/^not ok \d+ - delayed sqlite drain no-loss$/m, 'a time after which items are dropped excuses nobody');

# An item that a worker gives back is due at once, also by a clock that was moved: MariaDB's is set for each statement.
my ($mariadb) = grep { /^mariadb/ } split /\n/, $ENV{LB_TEST_URIS} // '';
SKIP: {
    skip 'no MariaDB', 2 if !defined $mariadb;
    ($status, $out, $err) = lockbench('explore', '-s', "$ENV{LB_SOURCE}/tests/strangers/at-once.sql", '-d', $mariadb, '--rescuers', 1,
        '--preemptions', 1, '--frees', 1, '--steps', 'clock', '--items', 1, '--replay', 't2222000000111111');
    like($out, qr/claimed 1.*gave back 1.*claimed 1.*gave back 1/s, 'MariaDB, the clock moved: two workers give an item back')
        or diag $out, $err;
    unlike($out, qr/violated/, '... and it is not lost');
}

done_testing();
