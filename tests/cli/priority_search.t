#!/usr/bin/env perl
# The guarantee priority against a search over all orders, on random histories. The search is written from
# docs/guarantees.md: each operation takes effect at one moment between its request and its answer, a claim takes no item
# while a more urgent one waits, and a claim of unknown outcome may have taken any one item, then or never.
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

# Operations {f, item, rank, from, to, answer}: puts and claims of items, requested and answered at random times. A claim
# without an item was not answered (info).
sub random_history
{
    my (@chains, @ops, @lines);
    my $n_items = 2 + int rand 5;
    for my $item (1 .. $n_items) {
        my $put = {f => 'put', item => $item, priority => int rand 3, answer => rand() < 0.1 ? 'info' : 'ok'};
        my @chain = ($put);
        push @chain, {f => 'claim', item => $item, priority => $put->{priority}, answer => 'ok'} if rand() < 0.85;
        push @chains, \@chain;
    }
    push @chains, [{f => 'claim', answer => 'info'}] if rand() < 0.2;
    my $time = 0;
    while (my @open = grep { @$_ } @chains) {
        my $chain = $open[rand @open];
        my $op = $chain->[0];
        if (!defined $op->{from}) {
            ($op->{from}, $time) = ($time, $time + int rand 2);
            push @ops, $op;
            push @lines, [$op, 'invoke', $op->{from}];
            next if $op->{answer} ne 'info';
        }
        # A claim may bring an item before its put was answered.
        my $next = $op->{f} eq 'put' && @$chain > 1 && !defined $chain->[1]{from} && rand() < 0.3 ? $chain->[1] : undef;
        if ($next) {
            ($next->{from}, $time) = ($time, $time + int rand 2);
            push @ops, $next;
            push @lines, [$next, 'invoke', $next->{from}];
            next;
        }
        shift @$chain;
        next if $op->{answer} eq 'info';
        ($op->{to}, $time) = ($time, $time + int rand 2);
        push @lines, [$op, 'ok', $op->{to}];
    }
    return (\@ops, \@lines);
}

# Is there an order of all that was answered in which no claim passes a more urgent item? A claim of unknown outcome may take an item,
# for good or until it is claimed for certain: such an item does not wait. States are sets of operations, and the item taken so.
sub is_possible
{
    my ($ops, $sign, $is_excused) = @_;
    my %put;
    my ($all, $unknown) = (0, undef);
    for my $i (0 .. $#$ops) {
        $put{ $ops->[$i]{item} } = $i if $ops->[$i]{f} eq 'put';
        $all |= 1 << $i if defined $ops->[$i]{to};
        $unknown = $i if !defined $ops->[$i]{item};
    }
    my @needs = map {
        my $op = $_;
        my $needs = 0;
        for my $k (0 .. $#$ops) { $needs |= 1 << $k if defined $ops->[$k]{to} && $ops->[$k]{to} < $op->{from} }
        $needs |= 1 << $put{ $op->{item} } if $op->{f} eq 'claim' && defined $op->{item};
        $needs;
    } @$ops;
    my %claim_of;
    for my $i (0 .. $#$ops) { $claim_of{ $ops->[$i]{item} } = $i if $ops->[$i]{f} eq 'claim' && defined $ops->[$i]{item} }
    my @todo = ([0, 0]);
    my %seen = ('0 0' => 1);
    while (my $state = pop @todo) {
        my ($set, $lent) = @$state;
        return 1 if ($set & $all) == $all;
        for my $i (0 .. $#$ops) {
            my $op = $ops->[$i];
            my $next = $set | 1 << $i;
            next if $next == $set || ($needs[$i] & $set) != $needs[$i];
            my @waiting = grep { $set & 1 << $put{$_} && !(defined $claim_of{$_} && $set & 1 << $claim_of{$_}) && $_ != $lent } keys %put;
            my @choices = ($lent);
            if ($op->{f} eq 'claim' && defined $op->{item}) {
                next if grep { $_ != $op->{item} && $sign * $ops->[$put{$_}]{priority} > $sign * $op->{priority} } @waiting;
            } elsif ($op->{f} eq 'claim') {
                next if !$is_excused;
                @choices = @waiting;
            }
            for my $choice (@choices) {
                push @todo, [$next, $choice] if !$seen{"$next $choice"}++;
            }
        }
    }
    return 0;
}

sub write_history
{
    my ($name, $lines, $sign) = @_;
    my ($text, $n, $log) = ('', 0, 0);
    my %logs;
    for (@$lines) {
        my ($op, $type, $time) = @$_;
        my $worker = $logs{$op} //= ++$log;
        my %line = (process => $worker, log => $worker, time => 1000 * ($time + 1), f => $op->{f});
        $line{value} = $op->{item} if $op->{f} eq 'put';
        $line{priority} = $op->{priority} if $op->{f} eq 'put' && $type eq 'invoke';
        if ($op->{f} eq 'claim' && $type eq 'ok') {
            $text .= encode_json({process => 'nemesis', log => $worker, time => $line{time}, f => 'item', type => 'info', value => $op->{item}, index => ++$n}) . "\n";
        }
        $text .= encode_json({%line, type => $type, index => ++$n}) . "\n";
    }
    my $way = $sign > 0 ? 1 : 2;
    my $meta = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"shape=queue\\nclaims=priority\\n)
        . qq(release=belief\\ncomplete=1\\nend_ns=1000000\\npriority=$way\\n"}\n);
    return spew($name, $meta . $text);
}

my (%count, @differ);
for my $i (1 .. $n_histories) {
    my ($ops, $lines) = random_history();
    redo if !grep { $_->{f} eq 'claim' && defined $_->{item} } @$ops;    # nothing is judged where nothing was claimed
    my $sign = rand() < 0.5 ? 1 : -1;
    my $file = write_history("h$i.jsonl", $lines, $sign);
    my ($status, $out, $err) = lockbench('check', '--format', 'json', $file);
    my $finding = eval { decode_json($out)->{guarantees}{priority} } // {};
    my $verdict = $finding->{verdict} // "status $status: $err";
    my $is_possible = is_possible($ops, $sign, 1);
    my $is_certain = is_possible($ops, $sign, 0);
    # A violation that an unknown claim may excuse is not tested. A violation in every order must be one without it, and with it, too.
    my $is_wrong = $verdict eq 'violated' ? $is_possible : $verdict eq 'held' ? !$is_certain : $verdict ne 'not tested';
    my $has_unknown = grep { !defined $_->{item} } @$ops;
    $is_wrong ||= !$has_unknown && !$is_possible && $verdict ne 'violated';
    $count{$verdict}++;
    $count{'unknown and violated'}++ if $has_unknown && $verdict eq 'violated';
    push @differ, "$file: $verdict, but possible: $is_possible, without excuse: $is_certain\n" . slurp($file) if $is_wrong;
    unlink $file;
}
is(scalar @differ, 0, "seed $seed: the verdicts are those of the search") or diag $differ[0];
cmp_ok($count{held} // 0, '>', $n_histories / 20, 'many are legal');
cmp_ok($count{violated} // 0, '>', $n_histories / 20, '... and many are not');
cmp_ok($count{'unknown and violated'} // 0, '>', 0, '... some of them beside a claim of unknown outcome') if $n_histories >= 1000;
diag join ', ', map { "$_: $count{$_}" } sort keys %count if $ENV{LB_TEST_HISTORIES};
done_testing();
