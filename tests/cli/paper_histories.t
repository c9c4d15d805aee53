#!/usr/bin/env perl
# The small histories of tests/histories/paper.txt, and their description in docs/guarantees.md.
# They were written from that page alone: its examples, unit of time and options, verdicts,
# operations.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %words = (true => JSON::PP::true, false => JSON::PP::false, null => JSON::PP::null);
my @on_invoke = qw(iarg itok value object shared); # iarg, itok: arg and token of the invoke
my %is_both = map { $_ => 1 } qw(value object shared);

# "WORKER OPERATION FROM-TO [fail[:WORD]] [info] [KEY=VALUE ...]", or "n NOTE AT ...": as lines with their times.
sub lines_of
{
    my ($text, $unit) = @_;
    my ($worker, $f, $span, @rest) = split ' ', $text;
    my ($from, $to) = map { int($_ * $unit) } split /-/, $span, 2;
    my %has = map { /^(\w+)=(.*)$/ ? ($1 => $2) : () } @rest;
    my ($type, $error) = ('ok', undef);
    for (@rest) {
        ($type, $error) = ($1, $3) if /^(fail|info)(:(.+))?$/;
    }
    my $log = delete $has{log} // $worker;
    my @items = split /,/, delete $has{item} // '';
    my %nobody = (type => 'info', process => 'nemesis', log => 0 + $log);
    return [$from, { %nobody, f => $f, time => $from, arg => 0 + $has{arg} }] if $worker eq 'n';
    my $lease = delete $has{lease};
    my %common = (f => $f, process => 0 + $worker, log => 0 + $log);
    my %invoke = (%common, type => 'invoke', time => $from);
    my %end = (%common, type => $type, time => $to, defined $error ? (error => $error) : ());
    for my $key (keys %has) {
        my $value = exists $words{ $has{$key} } ? $words{ $has{$key} } : 0 + $has{$key};
        (my $name = $key) =~ s/^i(arg|tok)$/$1 eq 'tok' ? 'token' : 'arg'/e;
        $invoke{$name} = $value if grep { $_ eq $key } @on_invoke;
        $end{$name}    = $value if $name eq $key;
    }
    return [$from, \%invoke] if !defined $to;
    my @notes = map { { %nobody, f => 'item', time => $to, value => 0 + $_, $lease ? (arg => 0 + $lease) : () } } @items;
    ($invoke{arg}, $end{arg}, $end{value}) = ($invoke{arg} // @items, $end{arg} // @items, 0 + @items) if @items;
    return ([$from, \%invoke], map { [$to, $_] } @notes, \%end);
}

my %unit = (ns => 1, ms => 1_000_000);
for my $case (split /^= /m, slurp("$FindBin::Bin/../histories/paper.txt")) {
    next if $case !~ /\S/;
    my ($shows, $how, $wants, @operations) = split /\n/, $case;
    my ($unit, $kind, $options) = $how =~ /^(\w+)(?: (groups|cut))?: (.*)$/ or BAIL_OUT("no options: $case");
    my @lines = map { lines_of($_, $unit{$unit} // $unit) } grep { /\S/ } @operations;
    my @order = sort { $lines[$a][0] <=> $lines[$b][0] || $a <=> $b } 0 .. $#lines;
    my $text = join '', map { encode_json($lines[$_][1]) . "\n" } @order;
    if ($kind) {
        my %shape = (groups => 'queue', cut => $options =~ /exclusive/ ? 'lock' : 'queue');
        my $meta = "shape=$shape{$kind}\nresources=2\ndrained=0\ncomplete=1\n" . ($kind eq 'groups' ? "groups=2\n" : '');
        my $n = @lines + ($kind eq 'cut' ? 5 : 0); # the last five are missing
        my %first = (type => 'info', f => 'meta', process => 'nemesis', time => 0, value => $meta, events => $n);
        $text = encode_json(\%first) . "\n$text";
    }
    my $file = spew('history.jsonl', $text);
    my ($status, $out, $err) = lockbench('check', $file, '--json', split ' ', $options);
    my $found = eval { decode_json($out) } or diag $err;
    for my $want (split /, /, $wants) {
        my ($guarantee, $verdict) = split ' ', $want, 2;
        is($found->{guarantees}{$guarantee}{verdict}, $verdict, "$shows: $guarantee $verdict") or diag $out, $text;
    }
}

done_testing();
