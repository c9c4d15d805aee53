#!/usr/bin/env perl
# docs/articles/: every page is in the list, tells what was changed from the source in the words of the program, and
# every strategy, scenario, option and test that it names is there.
use strict;
use warnings;
use JSON::PP;
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $lockbench = $ENV{LOCKBENCH} or die "LOCKBENCH is not set\n";

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}

my $listed = decode_json(scalar `$lockbench list --format json`);
my %is = map { $_ => 1 } map({ $_->{strategy} } @{$listed->{strategies}}), map { $_->{scenario} } @{$listed->{scenarios}};
my %strategy = map { $_->{strategy} => decode_json(scalar `$lockbench list -s $_->{strategy} --format json`)->{strategies}[0] }
    @{$listed->{strategies}};
for my $name (sort keys %strategy) {
    is(ref $strategy{$name}{changed}, 'ARRAY', "$name says what of its source was changed, even if nothing was")
        if $strategy{$name}{origin} ne '';
}

my $index = slurp("$source/docs/articles/README.md");
my @pages = grep { !/README/ } glob "$source/docs/articles/*.md";
is(scalar @pages, 5, 'five articles');
for my $path (@pages) {
    my ($page) = $path =~ m{([^/]+)$};
    my $text = slurp($path);
    like($index, qr/\]\(\Q$page\E\)/, "$page is in the list");
    like($text, qr/^    \$ lockbench (?:run|explore) /m, "$page has a command and its output");
    like($text, qr/^## $_$/m, "$page: $_") for 'What to use today', 'Changed from the source';
    my ($changed) = $text =~ /^## Changed from the source\n(.*)/ms;
    my @of = $changed =~ /^`([a-z-]+)`:$/mg;
    cmp_ok(scalar @of, '>', 0, "$page: of whom");
    for my $name (@of) {
        my ($lines) = $changed =~ /^`\Q$name\E`:\n\n((?:- .*\n)*)/m;
        is($lines, join('', map { "- $_\n" } @{$strategy{$name}{changed}}), "$page: what was changed in $name is what the program says");
    }
    my ($table) = $text =~ /^(\| in the .*?)\n\n/ms;
    for my $words ($table =~ /`([^`]+)`/g) {
        ok($is{$words}, "$page: $words is there") if $words =~ /^[a-z]+(?:-[a-z]+)+$/ && $words !~ /^(?:no-|owner-|exclusive)/;
        my ($name, $option, $value) = $words =~ /^([a-z-]+) --opt (\w+)=(\S+)/ or next;
        my ($known) = grep { $_->{name} eq $option } @{$strategy{$name}{options} // []};
        ok(defined $known && grep({ tr/ /-/r eq $value } @{$known->{choices} // []}), "$page: $words is there");
    }
    ok(-e "$source/$_", "$page: $_ is there") for $text =~ m{`(tests/[^`]+)`}g;
}
done_testing();
