#!/usr/bin/env perl
# Every kind of bad input: one clear line on stderr, nothing on stdout, the right exit status. And the
# help that tells how it should have been.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $lock = good_lock();
my $scenario = spew('bad.ini', "# Question: bad?\nworkers = 3\nwrokers = 4\n");
my $once = spew('bound.jsonl', qq({"process":0,"type":"invoke","f":"acquire","time":0}\n));
my $broken = spew('broken.sql', "-- strategy: broken\n-- shape: lock\n-- name: acquire\nSELECT 1;\n");

my @cases = (
    # arguments, exit status, the line's text
    [['rnu'], 2, qr/unknown command 'rnu'; did you mean run\?/],
    [['xyzzy'], 2, qr/unknown command 'xyzzy'; see lockbench --help/],
    [['run'], 2, qr/run needs -s STRATEGY/],
    [['run', '-s', 'no-such-thing'], 2, qr/unknown strategy 'no-such-thing'/],
    [['run', '-s', $lock, '--wrkers', '3'], 2, qr/unknown option --wrkers.*did you mean --workers or --writers\?/],
    [['run', '-s', $lock, '-x'], 2, qr/unknown option -x/],
    [['run', '-s', $lock, '--workers'], 2, qr/option --workers: missing argument/],
    [['run', '-s', $lock, '--workers', 'x'], 2, qr/option --workers: 'x' is not a count/],
    [['run', '-s', $lock, '--workers', '99999999999999999999'], 2, qr/option --workers: '9+' is too large: at most 100000\n/],
    [['run', '-s', $lock, '--resources', '9999999999'], 2, qr/option --resources: '9+' is too large: at most 1000000000\n/],
    [['run', '-s', $lock, '--duration', '99999999999h'], 2, qr/option --duration: '9+h' is too large: at most 2562047h\n/],
    [['run', '-s', $lock, '-T', '9999999999999999'], 2, qr/option --duration: '9+s' is too large: at most 2562047h\n/],
    [['run', '-s', $lock, '-P', '9999999999999999'], 2, qr/option --progress: '9+' is too large: below 1000000 s\n/],
    [['run', '-s', $lock, '-R', '9999999999999'], 2, qr{option --rate: '9+/s': a rate is at most 1000000000/s;}],
    [['compare', '-s', $lock, '--budget', '99999999999h'], 2, qr/option --budget: '9+h' is too large: at most 2562047h\n/],
    [['run', '-s', 'table-lock', '--overrun', '0.5', '--ttl', '300ms'], 2, qr/option --overrun: has no effect on table-lock: it is for leases/],
    [['run', '-s', 'lease-upsert', '--overrun', '0.5'], 2, qr/option --overrun: no lease ends within the run: give a --ttl below --duration/],
    [['run', '-s', 'cas', '-S', 'drain', '--groups', '3'], 2, qr/option --groups: has no effect on cas: it is for queues that put their items with :group/],
    [['compare', '-s', "$lock,table-lock", '--renew', '1s'], 2, qr/option --renew: has no effect on any of these strategies: it is for strategies with a section renew/],
    [['run', '-s', $lock, '--ttl', '99999999999h'], 2, qr/option --ttl: '9+h' is too large: at most 24h\n/],
    [['explore', '-s', $lock, '--ttl', '99999999999h'], 2, qr/option --ttl: '9+h' is too large: at most 2562047h\n/],
    [['check', '--model', 'mutex', '--progress-bound', '99999999999h', $once], 2, qr/option --progress-bound: '9+h' is too large: at most 2562047h\n/],
    [['run', '-s', $lock, '--workers', '0'], 2, qr/workers: at least 1/],
    [['run', '-s', $lock, '--hold', '10'], 2, qr/option --hold: '10' is not a time with its unit/],
    [['run', '-s', $lock, '--shared', '2'], 2, qr/option --shared: '2' is not a share/],
    [['run', '-s', $lock, '--isolation', 'x'], 2, qr/--isolation: 'x' is not default, read-/],
    [['run', '-s', $lock, '--backlog', '3'], 2, qr/--backlog: has a meaning for queues only/],
    [['run', '-s', $lock, '--zipf', '1'], 2, qr/--zipf: needs --resources above 1/],
    [['run', '-s', $lock, '--rate', '9/s', '--think', '1ms'], 2, qr/--think: not in an open loop/],
    [['run', '-s', $lock, '--max-pending', '5'], 2, qr/--max-pending: needs --rate/],
    (map { [['compare', '-s', $lock, "--fault-$_->[0]", $_->[1]], 2, qr/--fault-$_->[0]: needs --fault: which one\?/] }
        ['interval', '5ms'], ['length', '5ms'], ['count', '5']),
    [['run', '-s', 'skip-locked', '-S', 'drain', '--put-interval', '5ms'], 2, qr/--put-interval: of producers, and there are none/],
    [['run', '-s', $lock, '--no-pipeline'], 2, qr/--no-pipeline: has a meaning for queues only/],
    [['run', '-s', $lock, '--pipeline=yes'], 2, qr/--pipeline=yes: option does not take an argument/],
    [['run', '-s', $lock, '--skewed', 'sideways'], 2, qr/option --skewed: 'sideways' is not half, ahead or behind/],
    [['run', '-s', $lock, '--skewed', 'ahead'], 2, qr/skewed: needs skew/],
    [['run', '-s', $lock, '--seed', '-1'], 2, qr/option --seed/],
    [['run', '-s', $lock, '--repeat', '0'], 2, qr/option --repeat/],
    [['run', '-s', $lock, '--keep-history'], 2, qr/--keep-history: needs -o/],
    [['run', '-s', $lock, '--format', 'jsn'], 2, qr/unknown format 'jsn'; did you mean json/],
    [['run', '-s', $lock, '--opt', 'fomr=plain'], 2, qr/has an option 'fomr'; did you mean form\?/],
    [['run', '-s', $lock, '--opt', 'form=x'], 2, qr/form.*"x"/],
    [['run', '-s', $lock, '--opt', 'form'], 2, qr/'form' is not NAME=VALUE/],
    [['run', '-s', $lock, '--sql-dir', scratch() . '/no-such'], 2, qr{/no-such is not a directory}],
    [['run', '-s', $lock, 'more'], 2, qr/unexpected argument 'more'/],
    [['run', '-s', "$lock,$lock"], 2, qr/run takes one strategy/],
    [['run', '-s', 'all'], 2, qr/run takes one strategy/],
    [['compare', '-s', "$lock,"], 2, qr/has an empty name/],
    [['run', '-s', './no-such.sql'], 2, qr{\./no-such\.sql: No such file}],
    [['run', '-s', $broken], 2, qr/broken\.sql:\d+: /],
    [['run', '-s', $lock, '-S', 'mutx-hot'], 2, qr/unknown scenario 'mutx-hot'; did you mean mutex-hot/],
    [['run', '-s', $lock, '-S', './no-such.ini'], 2, qr{\./no-such\.ini: No such file}],
    [['run', '-s', $lock, '-S', $scenario], 2, qr/bad\.ini:3: unknown key 'wrokers'; did you mean workers/],
    [['run', '-s', $lock, '-S', 'drain'], 2, qr/good-lock is a lock, and no scenario given is for locks/],
    [['run', '-s', $lock, '--capacity', '3'], 2, qr/good-lock admits one holder per resource/],
    [['run', '-s', $lock, '-d', 'oracle:x'], 2, qr/no engine takes a target like "oracle/],
    [['run', '-s', $lock, '-d', 'sqlite:' . scratch() . '/no/such/dir/x.db'], 3, qr{/no/such/dir/x\.db}],
    [['run', '-s', $lock, '-d', 'postgresql://u:secret@127.0.0.1:1/x'], 3, qr/cannot connect/],
    [['run', '-s', $lock, '-o', '/proc/no-such'], 3, qr{/proc/no-such}],
    [['list', 'stratgies'], 2, qr/cannot list 'stratgies'; did you mean strategies/],
    [['list', '--format', 'tap'], 2, qr/unknown format 'tap' \(text, json\)/],
);
for my $case (@cases) {
    my ($args, $wanted, $pattern) = @$case;
    my $name = join ' ', map { s{.*/(?=\w+-?\w+\.(?:sql|ini))}{}r } @$args;
    my ($status, $out, $err) = lockbench(@$args);
    is($status, $wanted, "$name: exit status");
    like($err, $pattern, "$name: message");
    like($err, qr/\Alockbench: [^\n]+[^.\n]\n\z/, "$name: one line, no full stop");
    is($out, '', "$name: nothing on stdout");
    unlike($err, qr/secret/, "$name: no password") if grep { /secret/ } @$args;
}

my ($status, $out, $err) = lockbench();
is($status, 2, 'no command: exit status');
like($err, qr/^Usage: lockbench COMMAND/, 'no command: the usage on stderr');
is($out, '', 'no command: nothing on stdout');

($status, $out, $err) = lockbench('--version');
is($status, 0, '--version');
like($out, qr/\Alockbench \d+\.\d+\.\d+\n\z/, 'the version');

# A terminal of 80x24 shows it at once, with the shell's prompt below.
sub fits
{
    my ($help, $name) = @_;
    cmp_ok(scalar split(/\n/, $help), '<', 24, "$name: fewer than 24 lines");
    unlike($help, qr/^.{81}/m, "$name: at most 80 columns");
}

for my $args (['--help'], ['help']) {
    ($status, $out, $err) = lockbench(@$args);
    is($status, 0, "@$args");
    like($out, qr/^  compare /m, "@$args names the commands");
}
fits($out, '--help');
my @commands = $out =~ /^  ([a-z]+) +[A-Z]/mg;
cmp_ok(scalar @commands, '>=', 4, 'there are commands');
for my $command (@commands) {
    ($status, $out, $err) = lockbench($command, '--help');
    is("$status$err", '0', "$command --help");
    like($out, qr/\AUsage: lockbench $command /, "$command --help: its usage");
    is((lockbench('help', $command))[1], $out, "help $command is the same");
    fits($out, "$command --help");
    my (undef, $all) = lockbench($command, '--help', 'all');
    is((lockbench('help', $command, 'all'))[1], $all, "help $command all is the same");
    unlike($all, qr/^.{81}/m, "$command --help all: no line is longer than 80 columns");
    my $options = qr/^  (?:-\w,|   ) (--[a-z-]+)/m;
    my %has = map { $_ => 1 } $all =~ /$options/g;
    is_deeply([grep { !$has{$_} } $out =~ /$options/g], [], "$command --help all has every option of --help");
}

($status, $out, $err) = lockbench('list');
is("$status$err", '0', 'list');
like($out, qr/^$_\b/m, "list has $_") for qw(strategy scenario engine guarantee mutex-hot sqlite exclusive);
my ($names_status, $names) = lockbench('list', 'scenarios', '--names');
is($names_status, 0, 'list --names');
my @files = map { m{([^/]+)\.ini$} } glob(($ENV{LB_SOURCE} // '.') . '/scenarios/*.ini');
is_deeply([sort split /\n/, $names], [sort @files], 'every scenario file is listed, by name');

done_testing();
