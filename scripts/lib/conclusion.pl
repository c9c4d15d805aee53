#!/usr/bin/env perl
# The conclusion of scripts/quickstart, from the stored JSON of its comparison: the broken strategies, known or not, the ones that held, and
# the fastest among them. One run of each shows broken promises; it does not show small differences in speed.
# Usage: conclusion.pl RESULT.json. Exit status: 1 if a protocol was broken that is not known to be; else 0.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Command qw(slurp);
use JSON::PP;

# Items, in lines of at most 80 columns; the first begins with the label.
sub paragraph
{
    my ($label, @items) = @_;
    my $line = "  $label:";
    for my $i (0 .. $#items) {
        my $item = $items[$i] . ($i < $#items ? ',' : '');
        if (length("$line $item") > 80) {
            print "$line\n";
            $line = '   ';
        }
        $line .= " $item";
    }
    print "$line\n" if @items;
    return;
}

sub per_second
{
    my ($rate) = @_;
    return $rate >= 9999.5 ? sprintf('%.1fk/s', $rate / 1000) : sprintf '%.0f/s', $rate;
}

my $result = decode_json(slurp($ARGV[0] // die "which result?\n"));
my (@engines, @names, @shown, %shape, %broken, %open, %rate, %scenarios);
for my $cell (@{$result->{cells}}) {
    my ($name, $engine, $verdict) = @$cell{qw(strategy engine verdict)};
    push @engines, $engine if !grep { $_ eq $engine } @engines;
    push @shown, $name if !grep { $_ eq $name } @shown;
    # With options of its own a cell only shows a known fault.
    my $is_variant = %{$cell->{options}};
    push @names, $name if !$is_variant && !grep { $_ eq $name } @names;
    next if $verdict eq 'skipped';
    $shape{$name} = $cell->{shape};
    my %guarantees = %{$cell->{guarantees} // {}};
    for my $guarantee (sort keys %guarantees) {
        next if $guarantees{$guarantee}{verdict} ne 'violated';
        my $kind = $guarantees{$guarantee}{expectation} eq 'caught' ? 'known' : 'new';
        $broken{$kind}{$name}{$engine}{$guarantee} = 1;
    }
    next if $is_variant;
    $open{$name}{$engine} = $verdict if $verdict ne 'held';
    $rate{$cell->{shape}}{$cell->{scenario}}{$engine}{$name} = $cell->{summary}{successes_per_s};
    $scenarios{$cell->{shape}}{$cell->{scenario}}++;
}

# "fifo-poll (postgres: exclusive fifo)"
sub broken_names
{
    my ($kind) = @_;
    my @found;
    for my $name (grep { $broken{$kind}{$_} } @shown) {
        my %of;
        push @{$of{join ' ', sort keys %{$broken{$kind}{$name}{$_}}}}, $_ for grep { $broken{$kind}{$name}{$_} } @engines;
        push @found, "$name (" . join('; ', map { join('+', @{$of{$_}}) . ": $_" } sort keys %of) . ')';
    }
    return @found;
}

print "\nIn short, from one run of each on @{[join ' and ', @engines]}:\n";
my @new = broken_names('new');
paragraph('Broken, as expected (known faults of published protocols)', broken_names('known'));
paragraph('BROKEN, AND NOT EXPECTED', @new);
paragraph('Held', grep { my $name = $_; $shape{$name} && !$open{$name} && !grep { $broken{$_}{$name} } qw(known new) } @names);
my @undecided;
for my $name (@names) {
    for my $engine (grep { my $of = $_; $open{$name}{$of} && !grep { $broken{$_}{$name}{$of} } qw(known new) } @engines) {
        push @undecided, "$name on $engine ($open{$name}{$engine})";
    }
}
paragraph('Without a verdict', @undecided);
# The scenario in which most were run.
for my $shape (sort keys %scenarios) {
    my ($scenario) = sort { $scenarios{$shape}{$b} <=> $scenarios{$shape}{$a} || $a cmp $b } keys %{$scenarios{$shape}};
    my @fastest;
    for my $engine (@engines) {
        my $rates = $rate{$shape}{$scenario}{$engine} // next;
        my ($best) = sort { $rates->{$b} <=> $rates->{$a} }
            grep { my $name = $_; !$open{$name}{$engine} && !grep { $broken{$_}{$name}{$engine} } qw(known new) } keys %$rates;
        push @fastest, "$best on $engine (" . per_second($rates->{$best}) . ')' if defined $best;
    }
    paragraph("Fastest $shape that held, in $scenario", @fastest);
}
exit(@new ? 1 : 0);
