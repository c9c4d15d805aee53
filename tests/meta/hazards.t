#!/usr/bin/env perl
# docs/hazards.md: every strategy that is known to break something has a row, and every strategy,
# scenario, test and page that it names is there.
use strict;
use warnings;
use JSON::PP;
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $lockbench = $ENV{LOCKBENCH} or die "LOCKBENCH is not set\n";
open my $file, '<', "$source/docs/hazards.md" or die "docs/hazards.md: $!\n";
my @rows = grep { /^\| (?!hazard|---)/ } <$file>;
cmp_ok(scalar @rows, '>', 20, 'there are hazards');
is(scalar(grep { (() = /(?<!\\)\|/g) != 4 } @rows), 0, 'each has three columns');

my %is;
my $listed = decode_json(scalar `$lockbench list --format json`);
$is{$_->{strategy}} = 1 for @{$listed->{strategies}};
$is{$_->{scenario}} = 1 for @{$listed->{scenarios}};
for my $row (@rows) {
    my ($hazard, undef, $shown) = $row =~ /^\| (.*?) \| (.*?) \| (.*) \|$/;
    for my $name ($shown =~ /`([a-z]+(?:-[a-z]+)+)`/g) {
        ok($is{$name}, "$hazard: $name is there");
    }
    ok(-e "$source/$_", "$hazard: $_ is there") for $shown =~ m{`((?:tests|scripts)/[^`]+)`}g;
    ok(-e "$source/docs/$_", "$hazard: $_ is there") for $shown =~ /\]\(([^)]+)\)/g;
    if ($shown =~ m{`(tests/db/\w+\.c)`, "([^"]+)"}) {
        my $test = $2;
        open my $tests, '<', "$source/$1" or die;
        ok(scalar(grep { /[("]\Q$test\E[",]/ } <$tests>), "$hazard: the test \"$test\" is there");
    }
}
my $text = join '', @rows;
for my $path (glob "$source/strategies/*.c") {
    open my $strategy, '<', $path or die;
    my $code = do { local $/; <$strategy> };
    my ($name) = $code =~ /\.name = "([a-z-]+)",\n\s+\.summary/;
    next if !defined $name || $code !~ /\.breaks =/ || $name eq 'none';
    like($text, qr/`\Q$name\E[` ]/, "$name, which is known to break something, has a row");
}
done_testing();
