#!/usr/bin/env perl
# The table of strategies in README.md is what `lockbench list` says, no more and no less, in the
# same order; the scripts and files that it names exist. LB_UPDATE=1 writes the table anew.
use strict;
use warnings;
use JSON::PP;
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $lockbench = $ENV{LOCKBENCH} // 'build/dev/lockbench';
plan skip_all => "no program at $lockbench" if !-x $lockbench;

open my $file, '<', "$source/README.md" or die "README.md: $!";
my $readme = do { local $/; <$file> };

my $listed = decode_json(scalar `$lockbench list strategies --format json`);
my $rows = ref $listed eq 'HASH' ? $listed->{strategies} : $listed;
cmp_ok(scalar @$rows, '>', 0, 'strategies are listed');

# | `name` | shape | engines | summary |
sub row
{
    my ($s) = @_;
    (my $engines = $s->{engines}) =~ s/,/, /g;
    my $mark = $s->{kind} eq 'control' ? ' (control)' : '';
    return "| `$s->{strategy}`$mark | $s->{shape} | $engines | $s->{summary} |";
}
my @expected = map { row($_) } @$rows;
my $row = qr/^\| `[a-z-]+`(?: \(control\))? \| (?:lock|queue) .*\|$/m;
if ($ENV{LB_UPDATE}) {
    my $table = join "\n", @expected;
    $readme =~ s/(?:$row\n)+/$table\n/;
    open my $out, '>', "$source/README.md" or die "README.md: $!";
    print $out $readme;
    close $out or die "README.md: $!";
}
my @found = $readme =~ /($row)/g;
is_deeply(\@found, \@expected, 'the table of strategies is that of lockbench list')
    or diag "the table should be:\n" . join "\n", @expected;

for my $script ($readme =~ m{\b(scripts/[a-z-]+)}g) {
    ok(-x "$source/$script", "$script exists");
}
for my $path ($readme =~ m{\]\(([^):]+)\)}g) {
    ok(-e "$source/$path", "link to $path");
}
done_testing();
