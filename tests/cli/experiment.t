#!/usr/bin/env perl
# lockbench experiment: a file's sections are run as the commands that they represent; an error in
# it is reported with its line before anything is run.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $scratch = scratch();
my ($lock, $door) = (good_lock(), open_door());
my $file = spew('mine.ini', <<"INI");
# A comment.
[global]
strategy = $lock
count = 20
warmup = 0
format = json

[sweep]   ; two cells, twice
workers = 1,2
repeat = 2
costs = yes

[broken]
command = run
strategy = $door
scenario = mutex-hot
workers = 4
hold = 50ms
keep = no
format = json:$scratch/broken.json
format = text
INI
my ($status, $out, $err) = lockbench('experiment', $file, '--seed', '77');
is($status, 1, 'the worst section decides') or diag $err;
my ($json, $text) = $out =~ /\A(\{.*^\})\n\n(.*)\z/ms;
$json = decode_json($json);
is_deeply([map { [$_->{strategy}, $_->{config}{workers}, $_->{config}{count}, scalar @{$_->{runs}}] } @{$json->{cells}}],
    [['good-lock', 1, 20, 2], ['good-lock', 2, 20, 2]], 'a section: its own keys, and those of [global]');
is($json->{seed}, 77, '... and the options of the command line');
like($text, qr/^VIOLATED open-door on sqlite, mutex-hot$/m, 'the next section, with a key of its own for one of [global]');
is(decode_json(slurp("$scratch/broken.json"))->{command}, 'run', '... its command, and a key that is given twice');
is(() = $err =~ /^lockbench: \[(?:sweep\] compare|broken\] run)$/mg, 2, 'stderr says where it is');

($status, $out, $err) = lockbench('experiment', $file, 'sweep', '--repeat', '1', '--format', "csv:$scratch/a.csv", '-q');
is($status, 0, 'one section');
is(scalar(split /\r\n/, slurp("$scratch/a.csv")), 3, '... and the last of an option counts');
is($err, '', '... quietly');
($status, $out) = lockbench('experiment', $file, '--dry-run');
is($status, 0, '--dry-run');
($json, $text) = $out =~ /\A(\{.*^\})\n\n(.*)\z/ms;
is_deeply([map { [@{$_}{qw(scenario workers runs count)}] } @{ decode_json($json)->{cells} }], [['mutex-hot[workers=1]', 1, 2, 20], ['mutex-hot[workers=2]', 2, 2, 20]],
    '... of every section, in its format');
like($text, qr/^open-door +sqlite +mutex-hot +\d+ +1 /ms, '... of every section');
($status, $out) = lockbench('experiment', "$ENV{LB_SOURCE}/examples/experiment.ini", 'locks', 'queues', '--dry-run');
is($status, 0, "the project's example");
like($out, qr/^6 cells, 18 runs, which take about 40 s\n.*^3 cells, 15 runs/ms, '... is as it says');

for my $bad (
    ["[a]\nstrategy = $lock\nworkers = x\n", qr/bad\.ini:3: \[a\] option --workers: 'x' is not a count/],
    ["[a]\nstrategy = $lock\n[b]\nstrategy = $lock\nwrkers = 1\n", qr/bad\.ini:5: \[b\] unknown option --wrkers for compare; did you mean --workers or --writers\?/],
    ["[a]\ncommand = comprae\n", qr/bad\.ini:2: command: 'comprae' is not one of an experiment; did you mean compare/],
    ["[a]\ncommand = report\n", qr/bad\.ini:2: command: 'report' is not one of an experiment/],
    ["[a]\ncosts = maybe\n", qr/bad\.ini:2: \[a\] costs: yes or no, not 'maybe'/],
    ["[a]\nworkers = 1\n[a]\nworkers = 2\n", qr/bad\.ini:3: \[a\] is there a second time/],
    ["workers = 1\n", qr/bad\.ini:1: workers stands before the first section/],
    ["[global]\nworkers = 1\n", qr/bad\.ini: has no section besides \[global\]/],
    ["[a]\nworkers\n", qr/bad\.ini:2: neither a comment nor `key = value`/],
    ["[a]\nsave = x\n[b]\nsave = x\n", qr/bad\.ini: \[a\] and \[b\] both save x/],
    ["[a]\nformat = csv:x.csv\n[b]\nformat = json:x.csv\n", qr/bad\.ini: \[a\] and \[b\] both write x\.csv/],
    ["[]\nworkers = 1\n", qr/bad\.ini:1: a section without a name/]) {
    ($status, $out, $err) = lockbench('experiment', spew('bad.ini', $bad->[0]));
    is($status, 2, ($bad->[0] =~ s/\n/ /gr) . ': exit status');
    is($out, '', '... nothing is run');
    like($err, qr/\Alockbench: .*$bad->[1].*\n\z/, '... and one line says why');
}
for my $bad ([[], qr/experiment takes a file first/], [['none.ini'], qr/none\.ini: No such file/], [['--workers', '3'], qr/takes a file first/],
    [[$file, 'swep'], qr/has no section \[swep\]; did you mean sweep\?/], [[$file, 'global'], qr/no section \[global\] to run/],
    [[$file, 'sweep', '--wrkers', '3'], qr/\[sweep\]: unknown option --wrkers/]) {
    ($status, $out, $err) = lockbench('experiment', @{$bad->[0]});
    is($status, 2, "experiment @{$bad->[0]}: exit status");
    like($err, qr/\Alockbench: .*$bad->[1].*\n\z/, '... and why');
}
done_testing();
