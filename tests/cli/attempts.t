#!/usr/bin/env perl
# The guarantee attempts: no item is claimed more often than the file says. The strategy of tests/deploys/attempts.sql
# counts at the claim, at the end, or not at all.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my @file = ('-s', "$ENV{LB_SOURCE}/tests/deploys/attempts.sql");
my @often = ('-S', 'give-back', '--free', '0.7', '--backlog', 300);

my ($status, $out, $err) = lockbench('run', @file, @often);
is($status, 0, 'counted at the claim: held') or diag "$out$err";
($status, $out, $err) = lockbench('run', @file, @often, '--opt', 'counted=never');
is($status, 1, 'never counted: violated') or diag "$out$err";
like($out =~ s/\s+/ /gr, qr/attempts, \d+ times in \d+: item \d+ was claimed \d+ times, .* the file allows 3/s, '... with the numbers');

# A worker that dies before the end is not counted at the end.
my @deaths = ('--steps', 'crash,clock', '--rescuers', 1, '--opt', 'most=1');
for my $case (['at-claim', 0, 'held'], ['at-end', 1, 'violated']) {
    my ($counted, $wanted, $verdict) = @$case;
    ($status, $out, $err) = lockbench('explore', @file, @deaths, '--opt', "counted=$counted");
    is($status, $wanted, "a dead worker, counted $counted") or diag "$out$err";
    like($out, qr/^  attempts +$verdict$/m, "... $verdict");
}

my $unsaid = spew('unsaid.sql', slurp($file[1]) =~ s/^-- attempts: most\n//mr);
($status, $out, $err) = lockbench('run', '-s', $unsaid);
is($status, 2, 'a claim without a number is refused');
like($err, qr/unsaid\.sql:\d+: claims attempts, and does not state how many .*-- attempts: N/, '... with the line to write');

# --- histories ---
my $meta = 'shape=queue\nclaims=attempts\nrelease=belief\ndrained=1\ncomplete=1\nend_ns=1000000\n';
sub judged
{
    my ($more, @operations) = @_;
    my ($index, $time) = (0, 0);
    my $event = sub {
        my ($type, $f, $process, $rest) = @_;
        return sprintf '{"type":"%s","f":"%s","process":%s,"time":%d,"index":%d%s,"log":%d}', $type, $f,
            $process =~ /^\d/ ? $process : '"nemesis"', $time += 1000, $index++, $rest, $process =~ /^\d/ ? $process : 0;
    };
    my $head = $event->('info', 'meta', 'x', qq(,"value":"$meta$more","events":%d));
    my @lines = map { $event->($_, 'put', 1, ',"value":7,"arg":1') } qw(invoke ok);
    for (@operations) {
        my ($f, $end, $process) = (@$_, 0);
        push @lines, $event->('invoke', $f, $process, $f eq 'claim' ? ',"value":0' : ',"value":7');
        push @lines, $event->('info', 'item', 'x', ',"value":7') if $f eq 'claim' && $end eq 'ok';
        push @lines, $event->($end, $f, $process, $f eq 'claim' ? ',"value":1,"arg":1' : ',"value":7,"effective":true') if $end;
    }
    my ($status, $out, $err) = lockbench('check', spew('one.jsonl', sprintf("$head\n", scalar @lines) . join("\n", @lines) . "\n"));
    return ($status, "$out$err");
}
my @claim = ['claim', 'ok'];
my @free = ['free', 'ok'];
my @done = ['complete', 'ok'];
for my $case (
    ['two claims of two', 0, 'attempts=2\n', @claim, @free, @claim, @done],
    ['three claims of two', 1, 'attempts=2\n', @claim, @free, @claim, @free, @claim, @done],
    ['the third was not answered', 0, 'attempts=2\n', @claim, @free, @claim, @free, ['claim', '']],
    ['an operator cleared the error', 0, 'attempts=1\n', @claim, ['error', 'ok'], ['clear-error', 'ok'], @claim],
    ['and it was claimed twice after that', 1, 'attempts=1\n', @claim, ['error', 'ok'], ['clear-error', 'ok'], @claim, @free, @claim],
    ['a clear-error that may come later', 0, 'attempts=1\n', @claim, ['error', 'ok'], ['clear-error', 'info', 1], @claim],
    ['no number', 5, '', @claim, @free, @claim],
    )
{
    my ($what, $wanted, @history) = @$case;
    my ($status, $said) = judged(@history);
    is($status, $wanted, $what) or diag $said;
}

# --- the built-in queue, as a file ---
{
    my ($status, $out) = lockbench('show', 'lease-attempts', '-d', 'sqlite:', '--opt', 'most=2');
    like($out, qr/^-- option: most = 2\n-- attempts: most$/m, 'show: the option, and that it limits the attempts');
    my $shown = spew('shown.sql', $out);
    ($status, $out, my $err) = lockbench('run', '-s', $shown, @often, '-q');
    is($status, 0, 'what show prints is held') or diag "$out$err";
    like($out, qr/attempts/, '... and attempts is judged');
}

done_testing();
