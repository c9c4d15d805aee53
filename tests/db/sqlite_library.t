#!/usr/bin/env perl
# -d sqlite:?library=PATH: another SQLite than the linked one does the work, also beside it in one process; a path that leads to none
# is one line. The newest SQLite is built by scripts/sqlite-library; where npm cannot be reached, the linked library itself is loaded.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $lock = good_lock();
my @few = ('-S', 'mutex-pair', '--workers', 2, '--duration', '100ms', '-q');

for my $case (
    ['/no/such.so', 3, qr{^lockbench: sqlite: cannot load the library: /no/such\.so: cannot open shared object file: No such file or directory$}],
    [$lock, 3, qr{^lockbench: sqlite: cannot load the library: \S+: (?:invalid ELF header|file too short)$}],
    ['libm.so.6', 3, qr{^lockbench: sqlite: libm\.so\.6 is a library, but not SQLite$}],
    ['', 2, qr{^lockbench: option -d: sqlite: library needs the path of a shared library$}])
{
    my ($path, $expected, $message) = @$case;
    my ($status, $out, $err) = lockbench('run', '-s', $lock, '-d', "sqlite:?library=$path", @few);
    is($status, $expected, "library=$path: exit status") or diag $out;
    like($err, $message, '... with the reason');
    is(() = $err =~ /\n/g, 1, '... in one line');
}

sub version
{
    my ($uri) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $lock, '-d', $uri, @few, '--format', 'json');
    is($status, 0, "run on $uri") or diag $out, $err;
    return (map { $_->{runs}[0]{server_settings}{version} } @{ decode_json($out)->{cells} })[0];
}

# The linked library by its name: a second copy of the table of functions, of the same version.
my $linked = version('sqlite:');
my ($name) = `ldd $ENV{LOCKBENCH}` =~ /^\s*(libsqlite3\.so\S*)/m;
is(version("sqlite:?library=$name"), $linked, 'the linked library can be named') if defined $name;

my $newest = `$ENV{LB_SOURCE}/scripts/sqlite-library 2>&1`;
SKIP: {
    skip "the newest SQLite: $newest", 1 if $? != 0;
    chomp $newest;
    ($newest) = $newest =~ /^(sqlite:\S+)$/m;
    my ($library) = $newest =~ /library=(.*)/;
    # The version in the file. The newest is not older than the linked one.
    my ($built) = map { /^(3\.\d+\.\d+)$/ } split /\n/, `strings -n 5 $library`;
    my $version = version($newest);
    isnt($version, $linked, "$version is not the linked $linked");
    cmp_ok(sprintf('%d%03d%03d', split /\./, $version), '>', sprintf('%d%03d%03d', split /\./, $linked), '... but a newer one');
    is($version, $built, '... as the file has it') if defined $built;

    # Both in one process, round by round: each has its own file, and its own functions.
    my ($status, $out, $err) = lockbench('compare', '-s', $lock, '-S', 'mutex-hot', '-d', 'old=sqlite:', '-d', "new=$newest", '--duration', '100ms', '--repeat', 3, '-q');
    ok($status == 0 || $status >= 4, 'compare both') or diag $out, $err;    # 4, 5: one may be slower
    like($out, qr/new \(SQLite \Q$version\E\) against old \(\Q$linked\E\), good-lock: same verdicts/, '... names the versions');

    # Functions of ours in that library: the clock that explore moves, in leases that end.
    ($status, $out, $err) = lockbench('explore', '-s', 'lease-version', '-d', $newest, '--steps', 'clock', '--max-schedules', 200);
    my ($status_linked, $out_linked) = lockbench('explore', '-s', 'lease-version', '-d', 'sqlite:', '--steps', 'clock', '--max-schedules', 200);
    is($status, $status_linked, 'explore a clock') or diag $out, $err;
    my @explored = map { /(\d+ schedules run, .*)/ } $out, $out_linked;
    is($explored[0], $explored[1], '... with the same schedules');

    # A program opens the file with a SQLite of its own: it is refused, and not measured under the library's name.
    my $hello = '{"hello":1,"strategy":"own","shape":"lock","claims":["exclusive"],"engines":["sqlite"]}';
    my $program = spew('program', "#!/bin/sh\necho '$hello'\nwhile read -r line; do echo '{\"ok\":true}'; done\n");
    chmod 0755, $program;
    ($status, $out, $err) = lockbench('run', '-s', $program, '-d', $newest, '-S', 'mutex-hot', '--duration', '100ms', '-q');
    is($status, 2, 'a program') or diag $out;
    like($err, qr/sqlite: library is for strategies of SQL: a program opens the file with the SQLite that it has itself/, '... is refused');

    # A file of the user's own.
    my $file = scratch() . '/own.db';
    is(version("sqlite:$file?library=$library&journal=delete"), $version, 'with a path and other settings');
    ok(!-e $file, '... which is removed');
}

done_testing;
