#!/usr/bin/env perl
# A file with one time from the workers' clocks and another from the server's: `verify` lets these
# clocks differ. All at once, as most of it is waiting.
# Only with scripts/test --all: it verifies strangers' files one by one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($status, $out, $err);

my @todo = map {
    my ($file, $clock, $guarantee, $other) = @$_;
    my @args = ('verify', '-s', "$folder/$file.sql", '-d', 'sqlite:', '--no-explore', '-q', '--budget', '20s', '--opt');
    my @parted = (@args, "clock=$clock");
    { file => $file, clock => $clock, guarantee => $guarantee, args => \@parted, run => start(@parted),
        other => defined $other ? start(@args, "clock=$other") : undef }
} (['clocks-lock', 'mixed', 'exclusive', 'workers'], ['clocks-lock', 'stamped', 'exclusive'],
    ['clocks-queue', 'mixed', 'no-duplicate', 'workers'], ['clocks-beat', 'mixed', 'no-duplicate', 'server']);
for my $row (@todo) {
    my ($file, $clock, $guarantee) = @$row{qw(file clock guarantee)};
    my $seen = qr/^not ok \d+ - \S+ sqlite clocks (?:ahead|behind) $guarantee$/m;
    ($status, $out) = finish($row->{run});
    ($status, $out) = until_shown(sub { return $_[1] =~ $seen }, @{ $row->{args} }) if $out !~ $seen;
    like($out, $seen, "$file, $clock: what breaks is seen");
    is(() = $out =~ /^not ok .* (?!clocks (?:ahead|behind))\S+ \S+ $guarantee$/mg, 0, '... where clocks differ, and nowhere else');
    like($out, qr/^#   \S+$file\.sql:(\d+): .*\n(?:#   \S+$file\.sql:(?!\1:)\d+: .*\n)*#   The fix: a time that one clock wrote is compared with another/m,
        '... in words');
    next if !defined $row->{other};
    ($status, $out) = finish($row->{other});
    is($status, 0, "$file, one clock: not accused") or diag $out;
    like($out, qr/^ok \d+ - \S+ sqlite clocks (?:ahead|behind) $guarantee$/m, '... and it was asked') if $file ne 'clocks-beat';
}

# Explorations have clocks that are apart, too: they show at once what a run may show.
for (['clocks-lock', 'mixed', 'exclusive', 'workers'], ['clocks-lock', 'stamped', 'exclusive', 'workers'],
    ['clocks-queue', 'mixed', 'no-duplicate', 'workers'], ['clocks-beat', 'mixed', 'no-duplicate', 'server'])
{
    my ($file, $clock, $guarantee, $one) = @$_;
    my @file = ('-s', "$folder/$file.sql", '-d', 'sqlite:', '-q', '--opt');
    (undef, $out) = lockbench('verify', @file, "clock=$clock", '--plan');
    like($out, qr/^ +\d+ explore\+$_ /m, "$file, $clock: explore+$_ is planned") for 'ahead', 'behind';
    ($status, $out) = lockbench('verify', @file, "clock=$clock", '--budget', '4s');
    like($out, qr/^not ok \d+ - \S+ sqlite explore\+(?:ahead|behind) $guarantee$/m, "... and show $guarantee") or diag $out;
    my ($again) = $out =~ /^not ok .*\n(?:  .*\n)*?  reproduce: "lockbench (explore .*--also=.*)"$/m;
    ok(defined $again, '... with the command') or diag $out;
    is((lockbench(split ' ', $again // ''))[0], 1, '... that shows it again');
    ($status, $out) = lockbench('verify', @file, "clock=$one", '--budget', '4s');
    is($status, 0, "... and $one is not accused") or diag $out;
}
($status, undef, $err) = lockbench('run', '-s', "$folder/clocks-lock.sql", '-d', 'sqlite:', '--skewed', 'behind');
is($status, 2, 'skewed without skew: refused');
like($err, qr/skewed: needs skew/, '... in words');

done_testing();
