#!/usr/bin/env perl
# Histories of real runs, damaged: bits that turned over, zeros where a disk or a copy lost a part.
# No damaged history may be held, unless the read data equals the written data. The seed is printed;
# LB_TEST_SEED repeats it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $scratch = scratch();
my $seed    = $ENV{LB_TEST_SEED} // (time ^ $$ << 8) % 2**31;
srand $seed;
print "# seed $seed\n";

# Where something is written, with a few zeros after it.
sub places
{
    my ($bytes) = @_;
    my @places;
    while ($bytes =~ /[^\0]+/g) {
        push @places, [$-[0], $+[0] - $-[0]];
    }
    return @places;
}

sub damaged
{
    my ($bytes, @places) = @_;
    my ($from, $n) = @{ $places[rand @places] };
    my $at = int($from + rand($n + 4));
    my $size = (1, 1, 4, 8, 32, 512, 4096)[rand 7];
    if ($size == 1) {
        substr($bytes, $at, 1) = substr($bytes, $at, 1) ^ chr(1 << rand 8);
    } else {
        $at -= $at % $size if rand() < 0.5;
        substr($bytes, $at, $size) = "\0" x $size;
    }
    return ($bytes, "$size bytes at $at");
}

my %run = (
    'pthread-mutex' => ['-S', 'mutex-hot'],
    'skip-locked'   => ['-S', 'steady'],
    'lease-upsert'  => ['-S', 'mutex-hot'],
);
for my $strategy (sort keys %run) {
    my ($status, undef, $err) = lockbench('run', '-s', $strategy, '-d', 'sqlite:', @{ $run{$strategy} },
        '--duration', '60ms', '--warmup', 0, '--keep-history', '-o', "$scratch/$strategy", '--quiet');
    my ($history) = glob "$scratch/$strategy/*/history.lbh";
    ok(defined $history, "$strategy: a history was kept") or diag("status $status: $err"), next;
    my ($whole_status, $whole) = lockbench('check', $history);
    my (undef, $export) = lockbench('check', '--export', 'jsonl', $history);
    like($whole, qr/ held/, "$strategy: whole, something is held");
    my $bytes = slurp($history);
    my @places = places($bytes);
    my ($refused, $same, @wrong) = (0, 0);
    for (1 .. 60) {
        my ($text, $what) = damaged($bytes, @places);
        my $file = spew("damaged.lbh", $text);
        my ($got, $out, $told) = lockbench('check', $file);
        if ($got == 2) {
            $refused++;
            push @wrong, "$what: refused without a reason: $told" if $told !~ /damaged\.lbh(?::\d+)?: \S/;
            next;
        }
        my (undef, $read) = lockbench('check', '--export', 'jsonl', $file);
        $read eq $export ? $same++ : ($out =~ /^\S+ +held/m && push @wrong, "$what: held");
    }
    is_deeply(\@wrong, [], "$strategy: no damage is held");
    cmp_ok($refused, '>', 20, "$strategy: damage is refused ($refused; the same was read $same times)");

    # The first version of the format has no checksums, and check says so.
    my $old = $bytes;
    substr($old, 24, 1)  = "\1";
    substr($old, 72, 24) = "\0" x 24;
    for (my $chunk = 65536 ; $chunk < length $old ; $chunk += 262144) {
        substr($old, $chunk + 16, 8) = "\0" x 8;
    }
    ($status, my $out) = lockbench('check', spew("old.lbh", $old));
    is($status, $whole_status, "$strategy: the first version of the format is judged as before");
    like($out, qr/without checksums/, "$strategy: and said to be without checksums");
}

done_testing();
