#!/usr/bin/env perl
# list fits the terminal.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($status, $out, $err) = lockbench('list', 'strategies', 'x');
is($status, 2, 'list takes one kind');
like($err, qr/^lockbench: unexpected argument 'x'.*\n\z/, '... says why');

SKIP: {
    skip 'no script', 1 if system('script -qc true /dev/null </dev/null >/dev/null 2>&1') != 0;
    for my $width (60, 80, 132) {
        my $text = `script -qec "stty cols $width; $ENV{LOCKBENCH} list" /dev/null </dev/null` =~ s/\r//gr;
        my @long = grep { length > $width } split /\n/, $text;
        is_deeply(\@long, [], "list on $width columns: no line is longer");
        like($text, qr/^lease-update-safe .*\b(?:lease|lock)\b/m, '... and the strategies are there');
    }
    (undef, my $piped) = lockbench('list', 'strategies');
    (undef, my $names) = lockbench('list', 'strategies', '--names');
    is(scalar(split /\n/, $piped), 1 + split(/\n/, $names), 'into a pipe: one line for each');
}
done_testing();
