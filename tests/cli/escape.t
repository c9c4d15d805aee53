#!/usr/bin/env perl
# What others wrote (a server's message, names of files and scenarios, a stored result) through every sink:
# nothing of it controls a terminal, or is a formula, a directive or markup.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $esc = "\e[31mRED\e]0;title\a\x{7f}\xc2\x9b5m\xe2\x80\xae";
my @short = ('--duration', '100ms', '--warmup', '0', '--quiet', '--workers', '2');
# Bytes that control: C0 but line breaks, DEL, C1, the direction of writing.
my $controls = qr/[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]/;
my $cr = qr/\r(?=\n)/; # RFC 4180

# --- a server's message: SQLite repeats the name of a table that is not there ---
my $hostile = spew('hostile.sql', <<"SQL");
-- strategy: hostile
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE hostile (name text);
-- name: acquire
SELECT name FROM "$esc # <b>|`=1+1`";
-- name: release
SELECT 1;
-- name: teardown
DROP TABLE hostile;
SQL
# --- a scenario and its file ---
my $scenario = spew("=1+1 $esc<b>|x.ini", "[scenario]\nshape = lock\nworkers = 2\nduration = 100ms\n");
for my $format (qw(text jsonl csv markdown tap junit json)) {
    for my $case (['a server\'s message', '-s', $hostile, '-d', 'sqlite:'], ['a scenario\'s name', '-s', 'pthread-mutex', '-S', $scenario]) {
        my ($name, @args) = @$case;
        my ($status, $out, $err) = lockbench('run', @args, $name =~ /server/ ? @short : ('--quiet', '--warmup', '0'), '--format', $format);
        next if $status == 2 && $err =~ /--format/;
        $out =~ s/$cr//g;
        cmp_ok(length($out) + length($err), '>', 20, "$format: $name: something is said");
        unlike("$out$err", $controls, "$format: $name: nothing controls the terminal");
        unlike($out, qr/(?:^|,)"?=1/m, "csv: $name: no formula") if $format eq 'csv';
        unlike($out, qr/(?<!\\)<b>/, "markdown: $name: no markup") if $format eq 'markdown';
        unlike($out, qr/<b>/, "junit: $name: no markup") if $format eq 'junit';
        unlike($out, qr/^(?:not )?ok.* # (?!SKIP|TODO)/m, "tap: $name: no directive") if $format eq 'tap';
    }
}

# --- a scenario's name in the table of claims of several sizes ---
my $sizes = spew("=1+1 $esc<b>|y.ini", "[scenario]\nshape = queue\nworkers = 1\nbacklog = 20\nhold = 0\nduration = 10m\nwarmup = 0\ndrain = yes\n");
for my $format (qw(text markdown)) {
    my ($status, $out, $err) = lockbench('compare', '-s', 'skip-locked', '-d', 'sqlite:', '-S', $sizes, '--batch', '1,2', '--repeat', '1', '--quiet', '--format', $format);
    my ($table) = $out =~ /By items per claim\n(.*?)^in hand: /ms;
    is(scalar(() = ($table // '') =~ /up to [12] wait for recover/g), 2, "$format: claims of several sizes") or diag "$out$err";
    unlike($out, $controls, "$format: claims of several sizes: nothing controls the terminal");
    unlike($out, qr/(?<!\\)<b>/, 'markdown: claims of several sizes: no markup') if $format eq 'markdown';
}

# --- a file's name in a message ---
for my $args (['run', '-s', "./$esc.sql"], ['check', "$esc"], ['diff', "$esc", "$esc"], ['report', "$esc"], ['run', '-S', "./$esc"],
    [$esc], ['run', '-d', "${esc}://x"], ['run', "--$esc"], ['list', $esc]) {
    my ($status, $out, $err) = lockbench(@$args);
    is($status, 2, "$args->[0]: a hostile argument") if @$args > 1;
    unlike("$out$err", $controls, "@{[$args->[0] =~ s/\W/_/gr]}: a hostile argument is not repeated raw");
    is(scalar(() = $err =~ /\n/g), 1, 'one line');
}

# --- a name that is right, and a file's text, in what a command prints of its work ---
my $folder = scratch() . '/named';
mkdir $folder;
chdir $folder or die;
my $name = "$esc\n\xff\xc2 'x";
sub named { my ($end, $text) = @_; open my $file, '>', "$name.$end" or die; print $file $text; return "./$name.$end" }
my $sql = named('sql', <<"SQL");
-- strategy: named
-- $esc: 1
-- shape: lock
-- claims: exclusive
-- name: setup
CREATE TABLE named (name text);
-- name: acquire
INSERT INTO named VALUES ('a') /* $esc \xff */;
-- name: release
DELETE FROM named /* $esc */;
SQL
my $history = named('jsonl', qq({"process": 0, "type": "invoke", "f": "acquire", "time": 1}\n{"process": 0, "type": "ok", "f": "acquire", "time": 2}\n));
my @named = ([0, 'run', '-s', 'pthread-mutex', @short, '-o', "./$name.out"], [0, 'check', '--model', 'mutex', $history], [0, 'lint', $sql],
    [1, 'explore', '-s', $sql, '-d', 'sqlite:', '--time', '20s'], [0, 'verify', '-s', $sql, '-d', 'sqlite:', '--plan'],
    [1, 'verify', '-s', $sql, '-d', 'sqlite:', '-S', 'mutex-hot', '--duration', '100ms', '--warmup', '0']);
for my $case (@named) {
    my ($wanted, @args) = @$case;
    my ($status, $out, $err) = lockbench(@args);
    is($status, $wanted, "$args[0]: of a hostile name") or diag $err;
    unlike("$out$err", $controls, "$args[0]: a hostile name is not printed raw");
    cmp_ok(utf8::decode(my $copy = "$out$err"), '==', 1, "$args[0]: what is printed is UTF-8");
}
my ($stored) = do { opendir my $entries, "./$name.out" or die; grep { !/^[.]/ } readdir $entries };
my ($code, $said, $complaint) = lockbench('report', "./$name.out/$stored", '-o', "./$name.html");
is($code, 0, 'report: of a hostile name') or diag $complaint;
unlike($said, $controls, 'report: a hostile name is not printed raw');
chdir '/';

# --- a stored result ---
my $dir = scratch() . '/stored';
lockbench('run', '-s', 'pthread-mutex', '--duration', '100ms', '--warmup', '0', '--quiet', '-o', $dir);
my ($result) = glob "$dir/*/run.json";
my $json = decode_json(slurp($result));
$_->{strategy} = "\e[31m=1+1<b>|x" for @{$json->{cells}};
mkdir scratch() . '/poisoned';
spew('poisoned/run.json', encode_json($json));
for my $format (qw(text markdown json)) {
    my ($status, $out, $err) = lockbench('diff', scratch() . '/poisoned', scratch() . '/poisoned', '--format', $format);
    cmp_ok(length($out) + length($err), '>', 20, "diff, $format: something is said");
    unlike("$out$err", $controls, "diff, $format: a stored result");
    unlike($out, qr/(?<!\\)<b>/, 'diff, markdown: no markup') if $format eq 'markdown';
}
my ($status, $out, $err) = lockbench('report', scratch() . '/poisoned', '-o', '-');
unlike($out, qr/1\+1<b>/, 'report: no markup') if $status == 0;
unlike("$out$err", $controls, 'report: a stored result');
done_testing();
