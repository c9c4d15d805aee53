#!/usr/bin/env perl
# The guarantee priority: no item is claimed while a more urgent one waits. The strategy of tests/strangers/urgent.sql
# orders by the priority, or forgets it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/urgent.sql";
my @run = ('run', '-s', $file, '-S', 'drain', '--backlog', 100, '--hold', '1ms', '--priority', '0:0.5,-1:0.2,9:0.3');

my ($status, $out, $err) = lockbench(@run, '--format', 'json');
is($status, 0, 'the highest first: held') or diag "$out$err";
my $finding = decode_json($out)->{cells}[0]{guarantees}{priority};
is($finding->{verdict}, 'held', '... as the verdict says');
cmp_ok($finding->{tested}, '>', 0, '... and there was a choice');
($status, $out) = lockbench(@run, '--opt', 'order=id');
is($status, 1, 'the oldest first: violated');
like($out, qr/priority, .*item\s+\d+\s+of\s+priority\s+(-1|0)\s+was\s+claimed\s+by\s.*while\s+item\s+\d+\s+of\s+priority\s+\d\s+waited/s,
    '... with the items');
($status, $out) = lockbench(@run[0 .. $#run - 1], '5:1', '--opt', 'order=id');
is($status, 0, 'one priority: no violation');
like($out, qr/not tested/i, '... and nothing that was tested') or diag $out;
my $text = slurp($file);
my $lowest = spew('lowest.sql', $text =~ s/highest-first/lowest-first/r =~ s/\bDESC\b//gr);
for my $case ([$file, 'the highest'], [$lowest, 'the lowest']) {
    my ($name, $what) = @$case;
    ($status, $out) = lockbench('explore', '-s', $name);
    like($out, qr/^  priority +held/m, "explore puts items of several priorities: $what first") or diag $out;
    ($status, $out) = lockbench('explore', '-s', $name, '--opt', 'order=id');
    like($out, qr/^  priority +violated/m, '... and finds the forgotten one') or diag $out;
}
for my $case (
    ['none.sql', $text =~ s/^-- priority: highest-first\n//mr, qr/none\.sql:\d+: claims priority, and does not state which .*-- priority: highest-first/],
    ['word.sql', $text =~ s/highest-first/big-first/r, qr/word\.sql:\d+: priority: "big-first" is neither highest-first, nor lowest-first/],
    ['put.sql', $text =~ s/:priority,/1,/r, qr/put\.sql:\d+: claims priority, and section put does not use :priority/],
    ) {
    my ($name, $changed, $wanted) = @$case;
    ($status, undef, $err) = lockbench('run', '-s', spew($name, $changed), '-S', 'drain');
    is($status, 2, "$name: refused");
    like($err, $wanted, '... in words');
}

# --- histories of others: "put ITEM PRIORITY", "ask ITEM", "take ITEM" (its answer; both, if it was not asked), "fail ITEM",
# "lose ITEM" (the answer is not known) ---
sub judged
{
    my ($meta, @operations) = @_;
    my ($index, $time, $text, $n) = (0, 0, '', 0);
    my %asked;
    my $line = sub {
        $n++;
        $text .= encode_json({index => ++$index, time => $time += 1000, @_}) . "\n";
    };
    for (@operations) {
        my ($f, $item, $priority, $due) = split;
        my $worker = $f eq 'put' ? 0 : 0 + $item;
        my @what = (f => $f eq 'put' ? 'put' : 'claim', process => $worker, log => $worker);
        my @value = $f eq 'put' ? (value => 0 + $item) : ();
        $line->(type => 'invoke', @what, @value, $f ne 'put' || $priority eq '-' ? () : (priority => 0 + $priority), defined $due ? (due => 0 + $due) : ())
            if !$asked{$item} || $f eq 'put';
        $asked{$item} = $f eq 'ask';
        next if $f eq 'ask';
        $line->(type => 'info', f => 'item', process => 'nemesis', log => 0 + $item, value => 0 + $item) if $f eq 'take';
        $line->(type => $f eq 'fail' ? 'fail' : $f eq 'lose' ? 'info' : 'ok', @what, $f eq 'fail' ? (error => 'conflict') : $f eq 'put' ? @value : ());
    }
    $meta = join '', map { "$_\\n" } 'shape=queue', $meta =~ /claims/ ? () : 'claims=priority', 'release=belief', 'complete=1', 'end_ns=1000000', split ' ', $meta;
    my $head = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"$meta"}\n);
    my ($status, $out, $err) = lockbench('check', spew('history.jsonl', $head . $text));
    return ($status, $out . $err);
}
my $highest = 'priority=1';
for my $case (
    ['in order', $highest, 0, qr/held/, 'put 1 9', 'put 2 1', 'take 1', 'take 2'],
    ['out of order', $highest, 1, qr/item\s+2\s+of\s+priority\s+1\s.*item\s+1\s+of\s+priority\s+9\s+waited/s, 'put 1 9', 'put 2 1', 'take 2', 'take 1'],
    ['... where the lowest come first', 'priority=2', 0, qr/held/, 'put 1 9', 'put 2 1', 'take 2', 'take 1'],
    ['the urgent one is never claimed', $highest, 1, qr/it\s+never\s+was\s+claimed/, 'put 1 9', 'put 2 1', 'take 2'],
    ['negative numbers are less', $highest, 1, qr/priority\s+-5\s/, 'put 1 0', 'put 2 -5', 'take 2', 'take 1'],
    ['the urgent one is put later', $highest, 0, qr/not tested/, 'put 2 1', 'take 2', 'put 1 9', 'take 1'],
    ['the urgent one is put meanwhile', $highest, 0, qr/not tested/, 'put 2 1', 'ask 2', 'put 1 9', 'take 2', 'take 1'],
    ['the urgent one is being claimed', $highest, 0, qr/held/, 'put 3 0', 'put 1 9', 'put 2 1', 'ask 1', 'take 2', 'take 1', 'take 3'],
    ['... but that claim fails', $highest, 1, qr/item\s+1\s+of\s+priority\s+9\s+waited/, 'put 1 9', 'put 2 1', 'ask 1', 'take 2', 'fail 1'],
    ['... or its outcome is unknown', $highest, 0, qr/not tested: a\s+claim\s+of\s+unknown\s+outcome/, 'put 1 9', 'put 2 1', 'ask 1', 'take 2', 'lose 1'],
    ['a claim was lost only after the violation', $highest, 1, qr/waited/, 'put 1 9', 'put 2 1', 'take 2', 'ask 1', 'lose 1'],
    ['two that wait one after the other', $highest, 1, qr/at\s+each\s+moment\s+between\s+some\s+more\s+urgent/,
        'put 1 9', 'put 3 1', 'ask 3', 'put 2 9', 'take 1', 'take 3', 'take 2'],
    ['... with a moment between', $highest, 0, qr/not tested/, 'put 1 9', 'put 3 1', 'ask 3', 'take 1', 'put 2 9', 'take 3', 'take 2'],
    ['an urgent one that is due later', $highest, 0, qr/not tested/, 'put 1 9 5000', 'put 2 1 0', 'take 2', 'take 1'],
    ['one of unknown priority', $highest, 0, qr/not tested: the\s+history\s+does\s+not\s+say\s+the\s+priority\s+of\s+each/, 'put 1 -', 'put 2 1', 'put 3 0', 'take 1', 'take 2', 'take 3'],
    ['no priorities', $highest, 0, qr/not tested: the\s+history\s+does\s+not\s+say\s+the\s+priorities/, 'put 1 -', 'put 2 -', 'take 2'],
    ['an unknown order', '', 0, qr/not tested: it\s+is\s+not\s+known\s+which\s+priority\s+is\s+urgent/, 'put 1 9', 'put 2 1', 'take 2', 'take 1'],
    ['items that wait for their group', 'priority=1 claims=priority,group-exclusive groups=2', 0, qr/priority +not tested: more\s+urgent\s+items\s+may\s+wait/,
        'put 1 9', 'put 2 1', 'take 2', 'take 1'],
    ) {
    my ($name, $meta, $wanted, $words, @operations) = @$case;
    my ($got, $said) = judged($meta, @operations);
    is($got == 1 ? 1 : 0, $wanted, $name) or diag $said;
    like($said, $words, '... in words') or diag $said;
}
done_testing();
