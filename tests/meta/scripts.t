#!/usr/bin/env perl
# Every script says in one line what is wrong with its arguments, and ends with status 2, before it does anything.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $dir = tempdir('lockbench-meta.XXXXXX', TMPDIR => 1, CLEANUP => 1);
# The arguments of these are lockbench's own, which says it: quickstart has to build it first.
my %without = map { $_ => 1 } qw(quickstart);

sub says
{
    my ($name, @args) = @_;
    # The bound is for one that does not look at its arguments and begins to work.
    system 'sh', '-c', 'out=$1; shift; exec timeout 300 "$@" </dev/null >"$out/stdout" 2>"$out/stderr"', 'sh', $dir, "$source/scripts/$name", @args;
    my $status = $? >> 8;
    open my $file, '<', "$dir/stderr" or die "$dir/stderr: $!\n";
    my @lines = <$file>;
    return ($status, @lines);
}

my @scripts = grep { -f && -x } glob "$source/scripts/*";
cmp_ok(scalar @scripts, '>', 25, 'there are scripts');
for my $name (grep { !$without{$_} } map { m{([^/]+)$} } @scripts) {
    my ($status, @lines) = says($name, '--no-such-option');
    is($status, 2, "$name --no-such-option: status 2");
    is(scalar @lines, 1, '... one line') or diag @lines;
    like($lines[0] // '', qr/--no-such-option/, '... that names it');
}

# A failure of a script is status 3: Perl's own would be the number of the system call's error, 2
# for a missing file. Caught errors continue.
for my $case (['open my $file, q(<), q(/none/such) or die qq(-e: no file\n)', 3, 'died'],
    ['eval { die qq(one\n) }; print STDERR qq(-e: caught\n)', 0, 'caught']) {
    my ($program, $want, $what) = @$case;
    my $out = `perl -I'$source/scripts/lib' -MCommand -e '$program' 2>&1`;
    is($? >> 8, $want, "$what: status");
    is($out, $want ? "-e: no file\n" : "-e: caught\n", "$what: one line");
}

# Pairs that are too few for an interval say so: five at most.
for my $case (['1.05', '1.050 (too few pairs)'], ['1.01, 1.02, 1.03, 1.04, 1.05', '1.030 (too few pairs)'],
    ['1.01, 1.02, 1.03, 1.04, 1.05, 1.06', '1.035 (1.010 to 1.060)']) {
    my ($pairs, $want) = @$case;
    is(`perl -I'$source/scripts/lib' -MPairs=ratio,ratio_text -e 'print ratio_text(ratio($pairs))'`, $want, "the ratio of $pairs");
}

# Values and words, by example.
for my $case (
    [['bench-gate', 'postgresql:', '0'], qr/^bench-gate: ROUNDS: '0' is not a number from 1;/],
    [['bench-explore', 'sqlite:'], qr/'sqlite:' is no URI of a PostgreSQL server;/],
    [['soak-relation', 'many'], qr/^soak-relation: PROGRAMS: 'many' is not a number from 1;/],
    [['soak-starved', '--runs'], qr/^soak-starved: --runs: a value is missing;/],
    [['soak-endure', '--rate', '1/s'], qr/^soak-endure: -d: a value is missing;/],
    [['soak-fuzz', '1', 'nothing'], qr/there is no reader 'nothing';/],
    [['soak-plan', 'more'], qr/unexpected argument 'more';/],
    [['soak-articles', '--runs', '0'], qr/option --runs: '0' is not a number from 1;/],
    [['soak-articles', '--runs', 'x'], qr/value "x" invalid for option runs/],
    [['servers', 'begin'], qr/^servers: unknown command 'begin';/],
    [['servers', 'start', '--dir'], qr/^servers: --dir: a value is missing;/],
    [['test', '--jobs', 'x'], qr/^test: --jobs: 'x' is not a number from 1;/],
) {
    my ($call, $text) = @$case;
    my ($status, @lines) = says(@$call);
    is($status, 2, "@$call: status 2");
    like(join('', @lines), qr/\A.*\n\z/, '... one line');
    like($lines[0] // '', $text, '... that names it');
}

# The help of those that have no options is the comment at their head.
for my $name (qw(soak-relation soak-hostile bench-gate)) {
    my ($status) = says($name, '--help');
    is($status, 0, "$name --help");
    open my $file, '<', "$dir/stdout" or die "$dir/stdout: $!\n";
    like(join('', <$file>), qr/\A[^#]*$name [^#]+\z/, '... is about it');
}
# A soak of the judge says in its last line how it ended, also if one of its programs was killed.
mkdir "$dir/$_" for qw(tests tests/unit);
for my $case (['exit 0', 0, 'no disagreement'], ['kill -ABRT $$', 4, 'check_queues.t was killed by SIGABRT: see above'],
    ['exit 2', 4, 'check_queues.t ended with exit status 2: see above']) {
    my ($end, $want, $last) = @$case;
    for my $part (qw(locks queues)) {
        open my $file, '>', "$dir/tests/unit/check_$part.t" or die "$dir: $!\n";
        print $file "#!/bin/sh\necho '# one: 7 histories, 3 legal'\n", $part eq 'queues' ? "$end\n" : '';
        close $file;
        chmod 0755, "$dir/tests/unit/check_$part.t" or die "$dir: $!\n";
    }
    my @lines = `LB_BUILD='$dir' '$source/scripts/soak-check' 7 2>&1`;
    is($? >> 8, $want, "soak-check: $end: status $want");
    is($lines[-1], "$last\n", '... the last line') or diag @lines;
}

# The end of the CI script keeps its exit status, also if its checks ended before.
my ($trap) = join('', do { open my $in, '<', "$source/.ci/run" or die "$source/.ci/run: $!\n"; <$in> }) =~ /^(trap .* EXIT)$/m;
like($trap // '', qr/checks/, 'the CI script stops its checks');
for my $want (0, 4) {
    system 'bash', '-c', "set -euo pipefail; checks=99999999; log='$dir/none'; $trap; exit $want";
    is($? >> 8, $want, "... and ends with its own status, $want");
}
done_testing();
