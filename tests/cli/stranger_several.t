#!/usr/bin/env perl
# One worker with several locks, or several items, in hand at once; and items that come again after a delay.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($status, $out, $err);

sub planned
{
    my ($file) = @_;
    my (undef, $plan) = lockbench('verify', '-s', $file, '-d', 'sqlite:', '--plan');
    return $plan;
}

my $plan = planned("$folder/two-locks.sql");
like($plan, qr/^ +\d+ explore\+two locks /m, 'two locks of each worker are planned');
like($plan, qr/^ +\d+ mutex-hot .*\n +\d+ mutex-spread /m, '... and several locks next to the crowd');
like(planned("$folder/two-items.sql"), qr/^ +\d+ explore\+two\+crash /m, 'two items of a worker that dies are planned');

my @items = ('--workers', '1', '--items', '2', '--batch', '2', '--steps', 'crash');
for my $uri (grep { defined } 'sqlite:', $postgres) {
    my ($engine) = $uri =~ /^(\w+)/;
    for (['two-locks', 'exclusive', 'release=own', '--resources', '2'],
        ['two-locks', 'exclusive', 'release=number', '--resources', '2'],
        ['two-items', 'recovery', 'done=item', @items], ['two-items', 'recovery', 'done=worker', @items])
    {
        my ($name, $guarantee, $option, @with) = @$_;
        my $wanted = $option =~ /own|item/ ? 'held' : 'violated';
        ($status, $out, $err) = lockbench('explore', '-s', "$folder/$name.sql", '-d', $uri, '--opt', $option, @with, '-q');
        is($status, $wanted eq 'held' ? 0 : 1, "$engine, $name, $option: status") or diag $out, $err;
        like($out, qr/^ +$guarantee +$wanted$/m, "... $guarantee is $wanted");
    }
}
($status, $out) = lockbench('explore', '-s', "$folder/two-locks.sql", '-d', 'sqlite:', '-q', '--resources', '5');
is($status, 2, 'more resources than there may be: refused');
(my $text = slurp("$folder/two-locks.sql")) =~ s/^(-- name: acquire)$/$1 tx=hold/m or die 'no acquire';
($status, undef, $err) = lockbench('explore', '-s', spew('held.sql', $text), '-d', 'sqlite:', '-q', '--resources', '2');
is($status, 2, 'a lock that is a transaction: refused');
like($err, qr/two-locks holds its lock by a transaction, and can hold no second one beside it/, '... in words');

# A retried item is due after a short delay, whatever the lease: the scenario is as short as it is planned.
$text = slurp("$folder/retried.sql");
$text =~ s/:delay_ms/(CASE WHEN :delay_ms > 1000 THEN 3600000 ELSE :delay_ms END)/g;
($status, $out, $err) = lockbench('verify', '-s', spew('retried.sql', $text), '-d', 'sqlite:', '-S', 'give-back', '--backlog', '20', '-q');
unlike($out, qr/^not ok/m, 'a long delay would lose the items');
like($out, qr/^ok \d+ - \S+ sqlite give-back no-loss$/m, '... a short one does not') or diag $out, $err;

done_testing();
