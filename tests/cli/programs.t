#!/usr/bin/env perl
# A wrong program makes lockbench print one line with the problem and its place, with the last line
# on the program's standard error, use a named exit status, and leave no process. Each mistake is
# made by an otherwise correct program.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

# A lock that grants to every worker and reports it; "%s" replaces its answer to an acquire.
my $hello = '{"hello":1,"strategy":"wrong","shape":"lock","claims":["exclusive"],"engines":["sqlite"]}';
my $mark = 'lockbench-program-' . $$;

sub program
{
    my ($name, %does) = @_;
    my $first = $does{first} // "echo '$hello'";
    my $acquire = $does{acquire} // q[echo "{\"id\":$id,\"ok\":true}"];
    my $path = spew($name, <<"SH");
#!/bin/sh
# $mark
$first
while read -r line; do
    id=\$(printf '%s' "\$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
    case \$line in
    *'"do":"acquire"'*) $acquire ;;
    *) echo "{\\"id\\":\$id,\\"ok\\":true}" ;;
    esac
done
SH
    chmod 0755, $path;
    return $path;
}

# Processes whose command line names our programs.
sub left
{
    my @found;
    for my $file (glob '/proc/[0-9]*/cmdline') {
        my $text = slurp($file) =~ tr/\0/ /r;
        my ($pid) = $file =~ m{/proc/(\d+)/};
        push @found, "$pid $text" if index($text, scratch()) >= 0 && $pid != $$ && $text =~ m{/program-};
    }
    return @found;
}

# A shell may take its time; the last of two options counts.
my @patient = ('--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');

sub fails
{
    my ($what, $path, $want_status, $want, @options) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $path, '-d', 'sqlite:', '-q', '--duration', '10m', '--workers', '2', @patient, @options);
    is($status, $want_status, "$what: status") or diag "$out\n$err";
    my @lines = grep { /\S/ } split /\n/, $err;
    is(scalar @lines, 1, "$what: one line") or diag $err;
    like($err, $want, "$what: says so");
    is_deeply([left()], [], "$what: no process is left");
}

# The control: without a mistake it runs, and its lack of exclusion is found.
my ($status, $out, $err) =
    lockbench('run', '-s', program('program-none'), '-d', 'sqlite:', '-q', '--duration', '10m', '--count', '10',
    '--warmup', '0', @patient);
is($status, 1, 'a program without a mistake is run, and one that grants to all is found out') or diag $err;
like($out, qr/wrong\s+sqlite\s+VIOLATED/, 'by name');
is_deeply([left()], [], 'no process is left');

# The start.
# Its output so far is reported; on a busy machine it may take longer until there is some.
sub enough
{
    my ($path, $option, $says) = @_;
    for my $ms (300, 3000, 30000, 300000) {
        my (undef, undef, $err) = lockbench('run', '-s', $path, '-d', 'sqlite:', '-q', '--workers', '2', @patient, '--opt', "$option=$ms");
        return $ms if $err =~ $says || $ms == 300000;
    }
}
my $slow = program('program-slow', first => 'echo warming up >&2; sleep 1000');
my $start_ms = enough($slow, 'start_ms', qr/warming up/);
fails('slow to start', $slow, 3, qr/no first line within $start_ms ms.*warming up/, '--opt', "start_ms=$start_ms");
fails('ends at once', program('program-ends', first => 'echo "no such module" >&2; exit 7'), 3, qr/ended with status 7.*no such module/);
fails('prints rubbish', program('program-rubbish', first => 'echo Welcome!'), 2, qr/no JSON.*Welcome!/);
fails('prints another thing', program('program-list', first => 'echo [1]'), 2, qr/no JSON object: \[1\]/);
my $shebang = spew('program-noshell', "#!/no/such/interpreter\n");
chmod 0755, $shebang;
fails('cannot be run', $shebang, 2, qr/cannot be run: No such file/);
for my $case (
    ['an unknown key', '"shape":"lock"', '"shape":"lock","sahred":true', qr/unknown key "sahred"; did you mean shared or share\?/],
    ['another version', '"hello":1', '"hello":2', qr/"hello" must be 1/],
    ['no shape', '"lock"', '"look"', qr/"shape" must be "lock" or "queue"/],
    ['an unknown claim', '"exclusive"', '"exklusive"', qr/no guarantee of this name: "exklusive"/],
    ['an unknown engine', '"sqlite"', '"oracle"', qr/not one of sqlite, postgres, mariadb: "oracle"/],
    ['a built-in name', '"wrong"', '"skip-locked"', qr/built-in strategy of this name: "skip-locked"/],
    ['an unknown operation', '"shape"', '"operations":["acquire","release","steal"],"shape"', qr/no operation of its shape: "steal"/],
    ['no release', '"shape"', '"operations":["acquire"],"shape"', qr/"operations" lacks "release"/],
    ['batches of a lock', '"shape"', '"batches":["renew"],"shape"', qr/"batches" are of a queue only/],
    ['another mode', '"shape"', '"mode":"poll","shape"', qr/"mode" must be "pull" or "push", and not "poll"/],
  )
{
    my ($what, $from, $to, $want) = @$case;
    my $line = $hello =~ s/\Q$from\E/$to/r;
    fails("first line: $what", program('program-hello', first => "echo '$line'"), 2, $want);
}
fails('another engine', program('program-engine', first => "echo '" . ($hello =~ s/"sqlite"/"postgres"/r) . "'"),
    2, qr/wrong is for postgres, and not for SQLite/);

# At work.
fails('dies', program('program-dies', acquire => 'echo "out of luck" >&2; exit 9'), 3, qr/worker w\d, acquire: .*status 9.*out of luck/);
fails('is killed', program('program-killed', acquire => 'kill -9 $$'), 3, qr/worker w\d, acquire: .*signal 9/);
my $mute = program('program-mute', acquire => 'echo thinking >&2; sleep 1000');
my $answer_ms = enough($mute, 'answer_ms', qr/acquire: .*thinking/);
fails('never answers', $mute, 3, qr/worker w\d, acquire: no answer within $answer_ms ms.*thinking/, '--opt', "answer_ms=$answer_ms");
fails('answers rubbish', program('program-chatty', acquire => 'echo "Traceback (most recent call last):"'),
    2, qr/worker w\d, acquire: its line is no JSON.*Traceback/);
fails('answers twice', program('program-twice', acquire => q[echo "{\"id\":$id,\"ok\":true}"; echo "{\"id\":$id,\"ok\":true}"]),
    2, qr/worker w\d, \w+: it has answered request \d+ twice/);
fails('answers something else', program('program-ahead', acquire => q[echo "{\"id\":99999,\"ok\":true}"]), 2, qr/has the id 99999/);
fails('answers without an id', program('program-noid', acquire => q[echo '{"ok":true}']), 2, qr/has no id/);
fails('says two things', program('program-both', acquire => q[echo "{\"id\":$id,\"ok\":true,\"busy\":true}"]), 2, qr/must have one of/);
fails('has a token that is none', program('program-token', acquire => q[echo "{\"id\":$id,\"ok\":true,\"token\":\"x\"}"]), 2, qr/"token" must be/);
fails('closes its output', program('program-closes', acquire => 'exec >&-; sleep 1000'), 3, qr/closed its standard output/);
fails('starts others', program('program-parent', acquire => "sleep 1000 & echo gone >&2; exit 3"), 3, qr/status 3.*gone/);
my $sleeping = grep { slurp($_) eq "sleep\0001000\0" } glob '/proc/[0-9]*/cmdline';
is($sleeping, 0, 'what it has started is gone as well');
fails('leaves a daemon behind', program('program-daemon', acquire => 'setsid sh -c "echo \$\$ >>' . scratch() . '/daemons; exec sleep 86399" >/dev/null 2>&1 </dev/null & until [ -s ' . scratch() . '/daemons ]; do sleep 0.01; done; exit 9'),
    3, qr/ended with status 9/);
my @daemons = grep { !-s "/proc/$_/cmdline" ? 0 : slurp("/proc/$_/cmdline") =~ /86399/ } split /\n/, slurp(scratch() . '/daemons');
ok(-s scratch() . '/daemons', 'it had one');
is("@daemons", '', '... which is gone');
fails('nothing is answered before the end', program('program-silent', acquire => 'sleep 1000'), 3, qr/nothing was ever granted: \d+ requests had no answer when the run ended/,
    '--duration', '1s', '--warmup', '0');
fails('cannot set up', program('program-setup', acquire => 'true', first => "echo '$hello'; read -r a; echo '{\"id\":1,\"error\":\"no disk\"}'"),
    3, qr/open: .*no disk/);

# Much output on standard error stops no program.
($status, $out, $err) = lockbench('run', '-s', program('program-loud', acquire => q[head -c 300000 /dev/zero | tr '\0' 'x' >&2; echo "{\"id\":$id,\"busy\":true}"]),
    '-d', 'sqlite:', '-q', '--duration', '500ms', '--warmup', '0', '--workers', '2', @patient);
is($status, 5, 'much on standard error stops no program, which grants nothing') or diag $err;
is_deeply([left()], [], 'no process is left');

# Impossible requests for a program are refused, in one line.
my $good = program('program-good');
for my $case (
    [2, qr/is a program/, 'explore', '-s', $good, '-d', 'sqlite:'],
    [2, qr/is a program/, 'show', $good],
    [2, qr/fault cut cannot be done to a program/, 'run', '-s', $good, '-d', 'sqlite:', '--fault', 'cut'],
    [2, qr/isolation cannot be set/, 'run', '-s', $good, '-d', 'sqlite:', '--isolation', 'serializable'],
    [2, qr/answer_ms must be from/, 'run', '-s', $good, '-d', 'sqlite:', '--opt', 'answer_ms=soon'],
    [2, qr/start_ms must be from/, 'run', '-s', $good, '-d', 'sqlite:', '--opt', 'start_ms=0'],
  )
{
    my ($want_status, $want, @args) = @$case;
    ($status, $out, $err) = lockbench(@args);
    is($status, $want_status, "@args[0, -2, -1]: status") or diag $out;
    like("$out$err", $want, "@args[0, -2, -1]: says why");
}
($status, $out) = lockbench('lint', $good);
is($status, 0, 'lint of a program');
like($out, qr/^wrong: a program, a lock, for sqlite; it claims exclusive$/m, 'shows what it understood');

# verify's plan depends on the first line.
sub plan_of
{
    my ($keys) = @_;
    my $claim = $keys =~ /lock/ ? 'exclusive' : 'no-loss';
    my $path = program('program-plan', first => qq(echo '{"hello":1,"strategy":"planned","claims":["$claim"],"engines":["sqlite"],$keys}'));
    ($status, $out) = lockbench('verify', '--plan', '-s', $path, '-d', 'sqlite:', @patient);
    return "$status " . join ' ', $out =~ /^ +\d+ (\S+)/mg;
}
my $operations = '"operations":["put","claim","complete"';
for my $case (
    ['"shape":"lock"', 'mutex-hot dead-holder'],
    ['"shape":"lock","lease":true', 'mutex-hot overrun dead-holder mutex-hot+pause'],
    ['"shape":"queue"', 'drain'],
    ['"shape":"queue","lease":true', 'drain queue-overrun drain+pause drain+kill'],
    ['"shape":"queue","heartbeats":true', 'drain drain+pause drain+kill'],
    ['"shape":"queue","heartbeats":true,"lease_unit_ms":10000', 'drain drain+pause'],
    ['"shape":"queue","mode":"push"', 'drain queue-overrun'],
    [qq("shape":"queue",$operations,"recover"]), 'drain queue-rescue drain+kill'],
  )
{
    my ($keys, $want) = @$case;
    is(plan_of($keys), "0 $want", "the plan of $keys");
}
unlike($out, qr/^ *lease/m, '... which says nothing of a lease that does not exist');
plan_of('"shape":"queue","heartbeats":true,"lease_unit_ms":10000');
like($out, qr/units of 10000 ms$/m, '... and in which unit');
like($out, qr/ - drain\+kill +left out: does not fit into 60 s: --budget 10m asks it too$/m, '... and what is left out');

# Interrupted in the middle of an answer.
my $run = start('run', '-s', program('program-waits', acquire => 'echo here >&2; touch ' . scratch() . '/asked; sleep 1000'), '-d', 'sqlite:', '-q', '--duration', '1h', @patient);
wait_for(sub { return -e scratch() . '/asked' });
kill 'INT', $run->{pid};
select undef, undef, undef, 0.2;
kill 'INT', $run->{pid};
($status, $out, $err) = finish($run);
is($status, 130, 'interrupted while a program thinks') or diag $err;
is_deeply([left()], [], 'no process is left');
done_testing();
