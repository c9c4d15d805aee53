#!/usr/bin/env perl
# Stored results: show prints one in every format as the run printed it, list results names them, and list
# fits the terminal.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $dir = scratch() . '/kept';
my %format = (text => 'txt', csv => 'csv', markdown => 'md', junit => 'xml', json => 'json');
my @formats = map { ('--format', "$_:" . scratch() . "/said.$format{$_}") } sort keys %format;
my ($status, $out, $err) = lockbench('compare', '-s', good_lock() . ',' . open_door(), '-S', 'mutex-hot', '--workers', '4', '--hold', '10ms', '--count', '20',
    '--repeat', '2', '--warmup', '0', '-o', $dir, '--save', 'main', '-q', @formats);
is($status, 1, 'a result of a lock that holds and one that does not') or diag $err;
for my $format (sort keys %format) {
    ($status, $out) = lockbench('show', "$dir/main", '--format', $format);
    is($status, 0, "show --format $format");
    my $said = slurp(scratch() . "/said.$format{$format}") =~ s/\n+stored in .*\n\z/\n/r;
    cmp_ok(length $said, '>', 500, '... something was said');
    is($out, $said, '... the same as was said then');
}
(undef, $out) = lockbench('show', "$dir/main/");
like($out, qr/^VIOLATED open-door on sqlite, mutex-hot$/m, 'text, if no format is given');
is((lockbench('show', 'good-lock'))[0], 2, 'a name that nobody knows');

mkdir "$dir/older" or die;
spew('kept/older/run.json', slurp("$dir/main/run.json"));
mkdir "$dir/damaged" or die;
spew('kept/damaged/run.json', '{"schema": 1');
mkdir "$dir/.half" or die;
spew('kept/.half/run.json', '{}');
spew('kept/main/report.txt', "title\e]0;x\a\nnext\r\n");
(undef, $out) = lockbench('show', "$dir/main");
is($out, "title?]0;x?\nnext\r\n", 'what controls a terminal is not printed');
for my $bad ([['older', '--format', 'csv'], qr/has no report\.csv: .*lockbench report/],
    [['older', '--format', 'cvs'], qr/unknown format 'cvs'; did you mean csv\? \(of a stored result: text, json, csv, junit, markdown\)/],
    [['older', '-d', 'sqlite'], qr/option -d: is for a strategy/], [['older', '--opt', 'a=b'], qr/option --opt: is for a strategy/]) {
    my ($args, $why) = @$bad;
    ($status, $out, $err) = lockbench('show', "$dir/$args->[0]", @$args[1 .. $#$args]);
    is($status, 2, "show @$args");
    is($out, '', '... prints nothing');
    like($err, qr/^lockbench: .*$why.*\n\z/, '... but one line');
}
spew('kept/damaged/report.txt', "all is well\n");
for my $case (['text', "all is well\n", qr/; the output is from the report\.txt beside it/], ['json', '{"schema": 1', qr//]) {
    ($status, $out, $err) = lockbench('show', "$dir/damaged", '--format', $case->[0]);
    is($status, 2, "show --format $case->[0] beside a damaged run.json: exit status");
    is($out, $case->[1], '... what there is');
    like($err, qr{^lockbench: \S*/damaged/run\.json:1: this is no result of lockbench: [^\n]+$case->[2]\n\z}, '... and a line that names the damaged file');
}
($status, undef, $err) = lockbench('show', 'cas', '--format', 'csv');
like($err, qr/^lockbench: option --format: is for stored results, and cas is none\n\z/, 'a strategy has one format');

($status, $out) = lockbench('list', 'results', $dir);
is($status, 0, 'list results');
like($out, qr/^main +\d{4}-\S+Z +compare +2 +4 +1 violated +good-lock,open-door$/m, '... one line each');
like($out, qr/^damaged +cannot be read +\Q$dir\E\/damaged\/run\.json:1: /m, '... what is damaged, too, with the reason');
unlike($out, qr/half/, '... but not what is being written');
(undef, $out) = lockbench('list', 'results', $dir, '--names');
is($out, "damaged\nmain\nolder\n", '... by their names');
(undef, $out) = lockbench('list', 'results', $dir, '--format', 'json');
is(decode_json($out)->{results}[1]{runs}, 4, '... as JSON');
for my $bad ([['results', scratch() . '/nowhere'], qr/nowhere: no such directory/], [['results', $dir, '-s', 'cas'], qr/option -s/],
    [['results', $dir, '--format', 'csv'], qr/option --format/], [['strategies', 'x'], qr/unexpected argument 'x'/]) {
    ($status, $out, $err) = lockbench('list', @{$bad->[0]});
    is($status, 2, "list @{$bad->[0]}");
    like($err, qr/^lockbench: .*$bad->[1].*\n\z/, '... says why');
}

SKIP: {
    skip 'no script', 1 if system('script -qc true /dev/null </dev/null >/dev/null 2>&1') != 0;
    for my $width (60, 80, 132) {
        my $text = `script -qec "stty cols $width; $ENV{LOCKBENCH} list" /dev/null </dev/null` =~ s/\r//gr;
        my @long = grep { length > $width } split /\n/, $text;
        is_deeply(\@long, [], "list on $width columns: no line is longer");
        like($text, qr/^lease-update-safe .*\b(?:lease|lock)\b/m, '... and the strategies are there');
    }
    (undef, my $piped) = lockbench('list', 'strategies');
    (undef, my $names) = lockbench('list', 'strategies', '--names');
    is(scalar(split /\n/, $piped), 1 + split(/\n/, $names), 'into a pipe: one line for each');
}
done_testing();
