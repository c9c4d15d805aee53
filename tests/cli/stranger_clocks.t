#!/usr/bin/env perl
# A file with one time from the workers' clocks and another from the server's: `verify` lets these
# clocks differ. All at once, as most of it is waiting.
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
    like($out, qr/^#   \S+$file\.sql:(\d+): .*\n(?:#   \S+$file\.sql:(?!\1:)\d+: .*\n)?#   The fix: a time that one clock wrote is compared with another/m,
        '... in words');
    next if !defined $row->{other};
    ($status, $out) = finish($row->{other});
    is($status, 0, "$file, one clock: not accused") or diag $out;
    like($out, qr/^ok \d+ - \S+ sqlite clocks (?:ahead|behind) $guarantee$/m, '... and it was asked') if $file ne 'clocks-beat';
}
($status, undef, $err) = lockbench('run', '-s', "$folder/clocks-lock.sql", '-d', 'sqlite:', '--skewed', 'behind');
is($status, 2, 'skewed without skew: refused');
like($err, qr/skewed: needs skew/, '... in words');

done_testing();
