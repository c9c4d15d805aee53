#!/usr/bin/env perl
# scripts/servers: two sets side by side, a server that is halted and resumed, one that dies, a start that
# fails half-way, and nothing left behind by any of it.
# Only with scripts/test --all: it starts and stops servers of its own, again and again.
use strict;
use warnings;
use Fcntl qw(LOCK_EX);
use File::Temp qw(tempdir);
use POSIX ();
use Test::More;

my $servers = ($ENV{LB_SOURCE} // '.') . '/scripts/servers';
my $found = grep { -x "$_/initdb" } glob('/usr/lib/postgresql/*/bin'),
    split(/:/, $ENV{LB_PG_BINDIRS} // '');
plan skip_all => 'no PostgreSQL server programs' if !$found;

# What it prints on stdout, and its exit status. State of the user's own servers is not touched.
my $top = tempdir('lockbench-meta.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0711, $top;
$ENV{XDG_STATE_HOME} = "$top/state";

sub servers
{
    my @args = map { quotemeta } @_;
    my $out = `$servers @args 2>$top/stderr </dev/null`;
    return ($out, $? >> 8);
}

sub stderr
{
    open my $file, '<', "$top/stderr" or return '';
    local $/;
    return scalar <$file>;
}

# Processes whose working directory lies under a path.
sub processes
{
    my ($path) = @_;
    return grep { (readlink "$_/cwd" // '') =~ m{^\Q$path\E/} } glob '/proc/[0-9]*';
}

my ($out, $status) = servers('start', '--fast', '--dir', "$top/a", 'postgres');
is($status, 0, 'start') or diag stderr();
my @uris = split /\n/, $out;
is(scalar @uris, $found, 'one URI per version found');
like($uris[0], qr{^postgresql://lockbench\@/lockbench\?host=%2F\S+&port=\d+$}, 'form of the URI');
like(stderr(), qr/without fsync/, '--fast says what it does');

($out, $status) = servers('start', '--fast', '--dir', "$top/a");
is($out, join('', map { "$_\n" } @uris), 'a second start keeps what runs');

my ($major) = $uris[0] =~ /%2Fpg(1\d)%2F/;
($out, $status) = servers('start', '--fast', '--dir', "$top/a", "pg$major");
is($out, "$uris[0]\n", "pg$major is the installed version");
($out, $status) = servers('start', '--fast', '--dir', "$top/a", 'pg9');
is($status, 2, 'a version that npm does not have is no kind');

($out, $status) = servers('start', '--dir', "$top/b");
is($status, 0, 'a second set beside it') or diag stderr();
isnt((split /\n/, $out)[0], $uris[0], '... is another one');
unlike(stderr(), qr/fsync/, '... with fsync');

($out, $status) = servers('status', '--dir', "$top/a");
is($status, 0, 'status of live servers');
my @row = split /\t/, (split /\n/, $out)[0];
is(scalar @row, 6, 'status has six columns');
like($row[4], qr/^\d+$/, '... the fifth is a pid');
is($row[5], 'alive', '... the sixth says alive');
SKIP: {
    skip 'not root: the servers run as the user', 1 if $> != 0;
    isnt((stat "/proc/$row[4]")[4], 0, 'the server does not run as root');
}
is((stat "$top/a/$row[0]")[2] & 0777, 0700, 'others cannot enter the folder of a server');
is((stat "$top/a/$row[0]/tcp-uri")[2] & 0777, 0600, 'nor read its password');
($out) = servers('status', '--tcp', '--dir', "$top/a");
like($out, qr{^postgresql://lockbench:[0-9a-f]{32}\@127\.0\.0\.1:\d+/lockbench$}m, 'URI over TCP');

($out, $status) = servers('halt', $row[0], '--dir', "$top/a");
is($status, 0, 'halt') or diag stderr();
($out, $status) = servers('status', '--dir', "$top/a");
is($status, 3, 'status tells by its exit status');
like($out, qr/^$row[0]\t.*\t-\tdead$/m, '... and in the row');
($out, $status) = servers('resume', $row[0], '--dir', "$top/a");
is($status, 0, 'resume') or diag stderr();
($out) = servers('status', '--dir', "$top/a");
like($out, qr/^$row[0]\t.*\Q$row[3]\E\t\d+\talive$/m, '... under the same URI');

# A watch starts again what dies by itself.
my $watch = fork() // die "fork: $!\n";
if ($watch == 0) {
    open STDOUT, '>', '/dev/null';
    open STDERR, '>', "$top/watched";
    exec $servers, 'watch', '--dir', "$top/a" or POSIX::_exit(99);
}
my $pid_of = sub { my ($status) = servers('status', '--dir', "$top/a"); return ($status =~ /^\Q$row[0]\E\t.*\t(\d+)\talive$/m)[0] };
my ($died, $again) = ($pid_of->());
kill SEGV => $died;
for (1 .. 6000) {
    $again = $pid_of->();
    last if defined $again && $again != $died;
    select undef, undef, undef, 0.1;
}
ok(defined $again && $again != $died, 'what dies is started again');
# The new process is there before the watch is done with its start.
open my $set, '<', "$top/a/.lockbench-servers" or die;
flock $set, LOCK_EX or die;
close $set;
# A server that cannot be started again is left alone after three tries.
my $said = sub { open my $watched, '<', "$top/watched" or return ''; local $/; return scalar <$watched> // '' };
my $settings = "$top/a/$row[0]/data/postgresql.auto.conf";
rename $settings, "$settings.kept" or die;
open my $broken, '>', $settings or die;
print $broken "nonsense\n";
close $broken;
kill SEGV => $again;
for (1 .. 6000) {
    last if $said->() =~ /: $row[0] does not start again, and is left as it is\n/;
    select undef, undef, undef, 0.1;
}
select undef, undef, undef, 2.5; # two more looks: for what does not come there is no event
kill TERM => $watch;
waitpid $watch, 0;
is(scalar(() = $said->() =~ /: $row[0] is dead, and is started again; the end of its log:\n/g), 2, '... and it is said, once for each death');
# After the first death a try may fail, too: a port may be taken for a moment.
my ($last) = $said->() =~ /.*: $row[0] is dead, and is started again;(.*)/s;
is(scalar(() = ($last // '') =~ /: $row[0] did not start;/g), 3, '... a server that does not start is tried three times');
is(scalar(() = $said->() =~ /: $row[0] does not start again/g), 1, '... and is left');
rename "$settings.kept", $settings or die;
(undef, $status) = servers('resume', $row[0], '--dir', "$top/a");
is($status, 0, '... until it is resumed') or diag stderr();

# stop NAME ends that server, and no other one.
(undef, $status) = servers('stop', 'nonesuch', '--dir', "$top/b");
isnt($status, 0, 'stop of a server that is not there is refused');
is((servers('status', '--dir', "$top/b"))[1], 0, '... and ends none');
SKIP: {
    ($out, $status) = servers('start', '--fast', '--dir', "$top/a", 'mariadb');
    skip 'no second server: ' . stderr(), 4 if $status != 0;
    ($out, $status) = servers('stop', 'mariadb', '--dir', "$top/a");
    is($status, 0, 'stop of one server') or diag stderr();
    ($out, $status) = servers('status', '--dir', "$top/a");
    is($status, 0, '... leaves the others alive');
    like($out, qr/^\Q$row[0]\E\t.*\talive$/m, '... which are named');
    unlike($out, qr/^mariadb\t/m, '... and it is gone');
}

for my $set ('a', 'b') {
    cmp_ok(scalar processes("$top/$set"), '>', 0, "set $set has processes");
    (undef, $status) = servers('stop', '--dir', "$top/$set");
    is($status, 0, 'stop');
    is(scalar processes("$top/$set"), 0, '... ends them all');
    ok(!-e "$top/$set", '... and removes its directory');
    is(scalar processes("$top/b"), 0, 'nothing of the other set is left') if $set eq 'b';
}

# A version whose server cannot start: initdb works, the server does not.
mkdir "$top/bin";
my ($real) = grep { -x "$_/initdb" } glob('/usr/lib/postgresql/*/bin'),
    split(/:/, $ENV{LB_PG_BINDIRS} // '');
open my $file, '>', "$top/bin/postgres" or die;
print $file "#!/bin/sh\ncase \$1 in --version) echo 'postgres (PostgreSQL) 99.1';; *) exit 1;; esac\n";
close $file;
symlink "$real/initdb", "$top/bin/initdb";
chmod 0755, "$top/bin/postgres", "$top/bin";
{
    local $ENV{LB_PG_BINDIRS} = "$top/bin";
    ($out, $status) = servers('start', '--fast', '--dir', "$top/c");
    isnt($status, 0, 'a start that fails half-way fails');
    like(stderr(), qr/pg99 did not start/, '... and names the server');
    is(scalar processes("$top/c"), 0, '... leaves no process');
    ok(!-e "$top/c", '... and no directory');
}

# A directory with foreign files is neither filled nor removed.
mkdir "$top/d";
open $file, '>', "$top/d/precious" or die;
close $file;
(undef, $status) = servers('start', '--dir', "$top/d");
is($status, 3, 'a directory of others is refused');
(undef, $status) = servers('stop', '--dir', "$top/d");
ok(-e "$top/d/precious", '... and not removed');

(undef, $status) = servers('start', 'nosuch');
is($status, 2, 'unknown kind: usage');
(undef, $status) = servers('status');
is($status, 3, 'status without servers');
(undef, $status) = servers('stop');
is($status, 0, 'stop without servers');
done_testing();
