#!/usr/bin/env perl
# The guarantee unique: at most one unfinished item of a unique key, and no put is refused without one. The
# strategy of tests/strangers/once-only.sql asks a unique index, or looks first.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $file = "$ENV{LB_SOURCE}/tests/strangers/once-only.sql";
my @run = ('run', '-s', $file, '-S', 'steady', '--producers', 4, '--put-interval', 0, '--unique', 0.9, '--hold', 0,
    '--duration', '10m', '--warmup', 0, '--count', 400);

my ($status, $out, $err) = lockbench(@run, '--format', 'json');
is($status, 0, 'a unique index: held') or diag "$out$err";
my $cell = decode_json($out)->{cells}[0];
is($cell->{guarantees}{unique}{verdict}, 'held', '... as the verdict says');
cmp_ok($cell->{runs}[0]{operations}{put}{answers}{duplicate} // 0, '>', 0, '... and puts were refused');
my $violated = grep { (lockbench(@run, '--opt', 'put=looked', '--seed', $_))[0] == 1 } 1 .. 3;
cmp_ok($violated, '>', 0, 'a look before the insert: violated');
($status, undef, $err) = lockbench(@run, '--put-batch', 5);
is($status, 2, 'a put of several items, one of which may be refused: refused') or diag $err;
like($err, qr/put-batch: once-only refuses single items \(:unique_key\)/, '... in words');
($status, $out) = lockbench('explore', '-s', $file);
like($out, qr/^  unique +not tested/m, 'explore puts no two items of a key, and says that it did not test it') or diag $out;

my $text = slurp($file);
my $alike = spew('alike.sql', $text =~ s/ON job \(once\)/ON job (length(once))/r);
($status, $out, $err) = lockbench('explore', '-s', $alike);
is($status, 1, 'an index that takes different keys for one: the refusal of an item that was put first is a violation') or diag "$out$err";
like($out, qr/unique is violated: the put of item 2 .* was refused as a duplicate/, '... in words');
($status, $out, $err) = lockbench('verify', '-s', $alike, '--budget', '20s', '-q');
is($status, 1, '... also for verify') or diag "$out$err";
for my $case (
    ['until.sql', $text =~ s/^-- unique: until-done\n//mr, qr/until\.sql:\d+: claims unique, and does not state how long .*-- unique: until-done/],
    ['word.sql', $text =~ s/^-- unique: until-done/-- unique: for-ever/mr, qr/word\.sql:\d+: unique: "for-ever" is neither until-done, nor until-claimed/],
    ['key.sql', $text =~ s/:unique_key/:payload/gr, qr/key\.sql:\d+: claims unique, and section put does not use :unique_key/],
    ) {
    my ($name, $changed, $wanted) = @$case;
    ($status, undef, $err) = lockbench('run', '-s', spew($name, $changed), '-S', 'drain');
    is($status, 2, "$name: refused");
    like($err, $wanted, '... in words');
}

# --- histories of others: "put ITEM KEY ANSWER", "take ITEM", "complete ITEM" ---
my $until = 1;

sub judged
{
    my ($drained, @operations) = @_;
    my ($index, $time, $text, $n) = (0, 0, '', 0);
    my $line = sub {
        $n++;
        $text .= encode_json({index => ++$index, time => $time += 1000, @_}) . "\n";
    };
    for (@operations) {
        my ($f, $item, $key, $answer) = split;
        my $worker = $f eq 'put' ? 100 + $n : 0 + $item;    # a putter each
        my @what = (f => $f eq 'take' ? 'claim' : $f, process => $worker, log => $worker);
        my @value = $f eq 'take' ? () : (value => 0 + $item);
        $line->(type => 'invoke', @what, @value, $f eq 'put' && $key ne '-' ? (unique => $key) : ());
        $line->(type => 'info', f => 'item', process => 'nemesis', log => 0 + $item, value => 0 + $item) if $f eq 'take';
        $answer //= 'ok';
        $line->(type => $answer eq 'duplicate' ? 'fail' : $answer, @what, $f eq 'take' ? () : @value, $answer eq 'duplicate' ? (error => 'duplicate') : ());
    }
    my $meta = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"shape=queue\\nclaims=unique\\n)
        . qq(release=belief\\ndrained=$drained\\ncomplete=1\\nend_ns=1000000\\nunique=$until\\n"}\n);
    my ($status, $out, $err) = lockbench('check', spew('history.jsonl', $meta . $text));
    return ($status, $out . $err);
}
for my $case (
    ['one after the other', 1, 0, qr/held/, 'put 1 a', 'take 1', 'complete 1', 'put 2 a', 'take 2', 'complete 2'],
    ['a refusal beside an unfinished item', 1, 0, qr/held/, 'put 1 a', 'put 2 a duplicate', 'take 1', 'complete 1'],
    ['two at a time', 1, 1, qr/item 2 of the\s+same unique key "a"/, 'put 1 a', 'put 2 a', 'take 1', 'complete 1', 'take 2', 'complete 2'],
    ['two at a time, one of which is in hand', 1, 1, qr/item 2 of the\s+same unique key/, 'put 1 a', 'take 1', 'put 2 a', 'complete 1', 'take 2'],
    ['a refusal after the end', 1, 1, qr/refused as a\s+duplicate of the unique key "a"/, 'put 1 a', 'take 1', 'complete 1', 'put 2 a duplicate'],
    ['a refusal for another key', 1, 1, qr/refused as a\s+duplicate of the unique key "b"/, 'put 1 a', 'put 2 b duplicate', 'take 1', 'complete 1'],
    ['a refusal beside an unanswered put, which is claimed', 1, 0, qr/held/, 'put 1 a info', 'put 2 a duplicate', 'take 1', 'complete 1'],
    ['... which is never claimed', 1, 1, qr/put\s+of\s+item\s+1\s+was\s+not\s+answered,\s+and\s+it\s+was\s+never\s+claimed/, 'put 1 a info', 'put 2 a duplicate', 'put 3 b', 'take 3'],
    ['... in a queue that was not drained', 0, 0, qr/held/, 'put 1 a info', 'put 2 a duplicate', 'put 3 b', 'take 3'],
    ['a key that is not known', 1, 0, qr/not tested: the history does not say the unique key of each item/, 'put 1 -', 'put 2 a', 'take 2'],
    ['... and may be that of a refusal', 1, 0, qr/not tested: the history does not say the unique key of each item/, 'put 1 -', 'put 2 a duplicate', 'take 1'],
    ['a put that was not answered and is tried again', 1, 0, qr/held/, 'put 1 a info', 'put 1 a duplicate', 'take 1', 'complete 1'],
    ) {
    my ($name, $drained, $wanted, $words, @operations) = @$case;
    my ($got, $said) = judged($drained, @operations);
    ok($wanted == 1 ? $got == 1 : $got != 1 && $got != 2, $name) or diag "$got: $said";
    like($said, $words, '... in words');
}

# Is a key free behind an error, or a claim? Until 3: it is, as the file clears no errors; until 4: as none comes back.
for my $case ([1, 'error', 0], [3, 'error', 1], [2, 'take', 0], [4, 'take', 1], [3, 'take', 0]) {
    ($until, my $end, my $wanted) = @$case;
    my @ends = $end eq 'error' ? ('take 1', 'error 1') : ('take 1');
    my ($got, $said) = judged(1, 'put 1 a', @ends, 'put 2 a duplicate');
    is($got == 1 ? 1 : 0, $wanted, "a refusal behind: $end, until $until") or diag "$got: $said";
}

# --- files: keys of items that are in hand, or failed, and keys within a class ---
my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my @hand = ('-S', 'steady', '--producers', 6, '--put-interval', '4ms', '--unique', 0.9, '--hold', 'exp:2ms', '--duration', '2s', '-q');
for (['reserved', 'error=frees', 0, '--error', 0.2], ['reserved', 'error=keeps', 1, '--error', 0.2],
    ['debounced', 'index=waiting', 0], ['debounced', 'index=unfinished', 1])
{
    my ($name, $option, $wanted, @more) = @$_;
    my @command = ('run', '-s', "$folder/$name.sql", '-d', 'sqlite:', '--opt', $option, @hand, @more);
    ($status, $out, $err) = $wanted ? until_shown(sub { return $_[0] == 1 }, @command) : lockbench(@command);
    is($status, $wanted, "$name, $option: exit status") or diag $out, $err;
    like($out, qr/^\s+unique\b.*: the put of item \d+ .*refused/ms, '... by the refusals') if $wanted;
}
($status, $out) = lockbench('verify', '-s', "$folder/debounced.sql", '-d', 'sqlite:', '-S', 'drain', '--classes', 2, '--format', 'tap', '-q');
is($status, 0, 'a key that is unique in each class: not accused') or diag $out;
unlike($out, qr/drain unique/, '... as it is not judged there');
($status, $out) = lockbench('verify', '-s', "$folder/reserved.sql", '-d', 'sqlite:', '--plan');
like($out, qr/^ +\d+ unique in hand /m, 'it is planned');
done_testing();
