#!/usr/bin/env perl
# The guarantee unique against a search over all orders, on random histories of one or two unique keys. The search is
# written from docs/guarantees.md: each operation takes effect at one moment between its request and its answer; two items of
# a key are unfinished in every order, or a refusal meets none in every order, exactly if check says so.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $n_histories = $ENV{LB_TEST_HISTORIES} // 250;
my $seed = $ENV{LB_TEST_SEED} // time ^ $$ << 8;
srand $seed;

# Operations with a request and an answer (undef: none): {f, item, key, from, to, refused}. Each item has a put, and perhaps a claim
# and a completion after it. Steps are taken at random, so that operations overlap.
sub random_history
{
    my (@chains, @ops, @lines);
    for my $item (1 .. 2 + int rand 3) {
        my $key = rand() < 0.8 ? 'a' : 'b';
        my $how = rand;
        my @chain = ({f => 'put', item => $item, key => $key, answer => $how < 0.25 ? 'duplicate' : $how < 0.4 ? 'info' : 'ok'});
        push @chain, {f => 'claim', item => $item, key => $key, answer => 'ok'} if $how >= 0.25 && rand() < 0.8;
        push @chain, {f => 'complete', item => $item, key => $key, answer => rand() < 0.15 ? 'info' : 'ok'} if @chain > 1 && rand() < 0.8;
        push @chains, \@chain;
    }
    my $time = 0;
    while (my @open = grep { @$_ } @chains) {
        my $chain = $open[rand @open];
        my $op = $chain->[0];
        if (!defined $op->{from}) {
            ($op->{from}, $time) = ($time, $time + 1);
            push @ops, $op;
            push @lines, [$op, 'invoke', $op->{from}];
            next if $op->{answer} ne 'info' || @$chain == 1;
        }
        # A claim may bring an item before its put was answered.
        my $next = $op->{f} eq 'put' && @$chain > 1 && !defined $chain->[1]{from} && rand() < 0.2 ? $chain->[1] : undef;
        if ($next) {
            ($next->{from}, $time) = ($time, $time + 1);
            push @ops, $next;
            push @lines, [$next, 'invoke', $next->{from}];
            next;
        }
        shift @$chain;
        next if $op->{answer} eq 'info';
        ($op->{to}, $time) = ($time, $time + 1);
        push @lines, [$op, $op->{answer}, $op->{to}];
    }
    return (\@ops, \@lines);
}

# All sets of operations that may have taken effect at some moment: each with those that were answered before one of its own was
# requested, and with the put of each item that it claims, and the claim of each item that it completes.
sub worlds
{
    my ($ops) = @_;
    my %number = map { ("$ops->[$_]{f} $ops->[$_]{item}" => $_) } 0 .. $#$ops;
    my @needs;
    for my $i (0 .. $#$ops) {
        $needs[$i] = 0;
        for my $k (0 .. $#$ops) {
            $needs[$i] |= 1 << $k if defined $ops->[$k]{to} && $ops->[$k]{to} < $ops->[$i]{from};
        }
        my $before = {claim => 'put', complete => 'claim'}->{ $ops->[$i]{f} };
        $needs[$i] |= 1 << $number{"$before $ops->[$i]{item}"} if defined $before;
    }
    return @needs;
}

sub unfinished
{
    my ($ops, $set, $key) = @_;
    my %open;
    for my $i (0 .. $#$ops) {
        my $op = $ops->[$i];
        next if !($set & 1 << $i) || $op->{key} ne $key || $op->{answer} eq 'duplicate';
        $open{ $op->{item} }++ if $op->{f} eq 'put';
        $open{ $op->{item} }-- if $op->{f} eq 'complete';
    }
    return scalar grep { $_ > 0 } values %open;
}

# (two items of a key in every order, a refusal without one in every order)
sub search
{
    my ($ops) = @_;
    my @needs = worlds($ops);
    my $all = 0;
    for my $i (0 .. $#$ops) { $all |= 1 << $i if defined $ops->[$i]{to} }
    my (%seen, %met, $is_possible);
    # Without two at a time: may everything that was answered take effect? What was claimed was put.
    my @todo = (0);
    my %reached = (0 => 1);
    while (@todo) {
        my $set = pop @todo;
        $is_possible = 1 if ($set & $all) == $all;
        for my $i (0 .. $#$ops) {
            my $next = $set | 1 << $i;
            next if $next == $set || ($needs[$i] & $set) != $needs[$i] || $reached{$next};
            next if unfinished($ops, $next, $ops->[$i]{key}) > 1;
            $reached{$next} = 1;
            push @todo, $next;
        }
    }
    # A refusal: is there a moment of it in which an item is unfinished?
    @todo = (0);
    %seen = (0 => 1);
    while (@todo) {
        my $set = pop @todo;
        for my $i (0 .. $#$ops) {
            my $next = $set | 1 << $i;
            next if $next == $set || ($needs[$i] & $set) != $needs[$i];
            $met{$i} = 1 if $ops->[$i]{answer} eq 'duplicate' && unfinished($ops, $set, $ops->[$i]{key}) > 0;
            next if $seen{$next}++;
            push @todo, $next;
        }
    }
    my $unmet = grep { $ops->[$_]{answer} eq 'duplicate' && !$met{$_} } 0 .. $#$ops;
    return (!$is_possible, $unmet);
}

sub write_history
{
    my ($name, $lines) = @_;
    my $text = '';
    my $n = 0;
    for (@$lines) {
        my ($op, $type, $time) = @$_;
        my $worker = 10 * $op->{item} + {put => 0, claim => 1, complete => 1}->{ $op->{f} };
        my %line = (process => $worker, log => $worker, time => 1000 * ($time + 1), f => $op->{f}, index => ++$n);
        $line{value} = $op->{item} if $op->{f} ne 'claim';
        $line{unique} = $op->{key} if $op->{f} eq 'put' && $type eq 'invoke';
        $line{error} = 'duplicate' if $type eq 'duplicate';
        if ($op->{f} eq 'claim' && $type eq 'ok') {
            $text .= encode_json({process => 'nemesis', log => $worker, time => $line{time}, f => 'item', type => 'info', value => $op->{item}, index => $n++}) . "\n";
            $line{index} = $n;
        }
        $text .= encode_json({%line, type => $type eq 'duplicate' ? 'fail' : $type}) . "\n";
    }
    my $meta = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"shape=queue\\nclaims=unique\\n)
        . qq(release=belief\\ncomplete=1\\nend_ns=1000000\\nunique=1\\n"}\n);
    return spew($name, $meta . $text);
}

my (@files, @wanted);
for my $i (1 .. $n_histories) {
    my ($ops, $lines) = random_history();
    redo if !grep { $_->{f} eq 'claim' } @$ops;    # nothing is judged where nothing was claimed
    push @wanted, [search($ops)];
    push @files, write_history("h$i.jsonl", $lines);
}
my %count = (held => 0, violated => 0);
my @differ;
for my $i (0 .. $#files) {
    my ($status, $out, $err) = lockbench('check', '--format', 'json', $files[$i]);
    my $verdict = eval { decode_json($out)->{guarantees}{unique}{verdict} } // "status $status: $err";
    my ($two, $none) = @{ $wanted[$i] };
    my $right = $two || $none ? 'violated' : 'held';
    $count{$right}++;
    push @differ, "$files[$i]: $verdict, not $right\n" . slurp($files[$i]) if $verdict ne $right;
}
is(scalar @differ, 0, "seed $seed: the verdicts are those of the search") or diag $differ[0];
cmp_ok($count{held}, '>', $n_histories / 20, 'many are legal');
cmp_ok($count{violated}, '>', $n_histories / 20, '... and many are not');
done_testing();
