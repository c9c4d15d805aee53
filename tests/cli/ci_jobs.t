#!/usr/bin/env perl
# The jobs of examples/ci: their own commands, on SQLite with short runs, in a repository with a lock that is right, and
# with one that is not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Guides;
use Lockbench;
use TAP::Parser;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";

# What the jobs call lockbench: the real one, asked for less.
spew('lockbench', <<"SH");
#!/bin/sh
case \$1 in
verify)
    case "\$*" in
    *--faults*) set -- "\$@" -S mutex-hot --duration 0 --fault-count 1 --warmup 0 ;; # the dead do not come to so many
    *) set -- "\$@" -S mutex-hot --duration 10m --count 40 --warmup 0 ;;
    esac ;;
compare)
    case "\$*" in
    *next=*) set -- "\$@" --repeat 2 ;; # too few to tell two servers apart
    *) set -- "\$@" --repeat 3 ;;
    esac
    set -- "\$@" --duration 10m --count 40 --warmup 0 ;;
esac
exec "$ENV{LOCKBENCH}" "\$@" </dev/null
SH
chmod 0755, scratch() . '/lockbench';
local @ENV{qw(PATH DB NOW NEXT GITHUB_ACTIONS LIMIT GIT_CONFIG_GLOBAL)} =
    (scratch() . ":$ENV{PATH}", ('sqlite:') x 3, 'true', '900%', '/dev/null');

# A repository with a lock, and the commit before the last.
sub repository
{
    my ($name, $lock) = @_;
    my $dir = scratch() . "/$name";
    my $git = "git -C $dir -c user.name=x -c user.email=x\@example.org";
    system("mkdir $dir && cp $lock $dir/lock.sql && git -C $dir init -q && $git add -A && $git commit -qm a") == 0 or die;
    return ($dir, `git -C $dir rev-parse HEAD` =~ s/\n//r);
}

# The commands of a job, by the names of its steps (GitHub), or in their order (GitLab).
my ($github, $gitlab) = map { slurp("$source/examples/ci/$_") } 'github-actions.yml', 'gitlab-ci.yml';
my %step = map { @$_ } github_steps($github);
is_deeply([sort keys %step], ['Build lockbench', 'Does it keep its promises?', 'Is it slower than before?', 'Report'],
    'github: the steps') or diag explain \%step;
my @gitlab = gitlab_commands($gitlab, 'script');
is(scalar @gitlab, 3, 'gitlab: the commands') or diag explain \@gitlab;

sub step
{
    my ($dir, $base, $text) = @_;
    $text =~ s/\$\{\{ github\.event\.pull_request\.base\.sha \}\}/$base/g;
    local @ENV{qw(LOCK GITHUB_STEP_SUMMARY CI_MERGE_REQUEST_DIFF_BASE_SHA)} = ('lock.sql', "$dir/summary.md", $base);
    my $file = spew('step.sh', "cd $dir\n$text");
    my $said = `bash --noprofile --norc -eo pipefail $file 2>&1`;
    return ($? >> 8, $said);
}

my @right = repository('right', good_lock());
for my $name ('Does it keep its promises?', 'Is it slower than before?', 'Report') {
    my ($status, $said) = step(@right, $step{$name});
    is($status, 0, "github: $name") or diag $said;
}
like(slurp("$right[0]/verify.tap"), qr/^ok 1 - good-lock sqlite .*^1\.\.\d+$/ms, 'github: the lines are kept');
for my $file ('verify.tap', 'faults.tap') {
    my $parser = TAP::Parser->new({tap => slurp("$right[0]/$file")});
    $parser->run;
    is_deeply([$parser->parse_errors], [], "github: $file is one document");
    cmp_ok($parser->tests_run, '>', 0, '... with tests');
}
like(slurp("$right[0]/summary.md"), qr/\| before \|/, 'github: the comparison is in the summary');
like(slurp("$right[0]/lock.html"), qr/<html/, 'github: the page');
my @wrong = repository('wrong', open_door());
my ($status, $said) = step(@wrong, $step{'Does it keep its promises?'});
is($status, 1, 'github: a lock that is open fails the job') or diag $said;
like($said, qr/^::error file=lock\.sql::open-door sqlite mutex-hot exclusive: /m, 'github: with an annotation at its file');
like(slurp("$wrong[0]/verify.tap"), qr/^not ok 1 - open-door/m, 'github: and the lines are kept');
($status, $said) = step(@wrong, $step{Report});
is($status, 0, 'github: there is a report all the same') or diag $said;
like(slurp("$wrong[0]/lock.html"), qr/open-door/, 'github: with the lock in it');

system 'rm', '-rf', map { "$right[0]/$_" } qw(verify compare before.sql);
for my $n (0 .. 2) {
    ($status, $said) = step(@right, $gitlab[$n]);
    is($status, 0, 'gitlab: command ' . ($n + 1)) or diag $said;
}
like(slurp("$right[0]/$_.xml"), qr/<testsuites [^>]*failures="0"/, "gitlab: the report of its tests: $_") for qw(verify faults);
($status) = step(@wrong, $gitlab[0]);
is($status, 1, 'gitlab: a lock that is open fails the job');

# A request that repairs the lock: the old file is no measure.
spew("wrong/lock.sql", slurp(good_lock()));
for my $text ($step{'Is it slower than before?'}, $gitlab[2]) {
    system 'rm', '-rf', "$wrong[0]/compare";
    ($status, $said) = step(@wrong, $text);
    is($status, 0, 'a lock that is repaired passes') or diag $said;
    ok(!-e "$wrong[0]/compare", '... and is not compared with the broken one');
}
spew("wrong/lock.sql", slurp(open_door()));

# The job for the next version of the server.
my %next = map { @$_ } github_steps(slurp("$source/examples/ci/next-server.yml"));
is_deeply([sort keys %next], ['Build lockbench', 'Does it hold on the next server?', 'Is the next server as good?'], 'next server, github: the steps');
is($next{'Build lockbench'}, $step{'Build lockbench'}, '... it is built alike');
my @next = gitlab_commands(slurp("$source/examples/ci/next-server.gitlab-ci.yml"), 'script');
is(scalar @next, 3, 'next server, gitlab: the commands') or diag explain \@next;
system 'rm', '-rf', map { ("$right[0]/$_", "$wrong[0]/$_") } qw(verify compare summary.md);
# An undecided comparison (status 5) is no failure.
for my $text ($next{'Is the next server as good?'}, $next[2]) {
    ($status, $said) = step(@right, $text);
    is($status, 0, 'next server: a comparison of the two') or diag $said;
    ($status, $said) = step(@wrong, $text);
    is($status, 1, '... which fails where the lock is broken') or diag $said;
}
like(slurp("$right[0]/summary.md") =~ s/\s+/ /gr, qr/next \(SQLite [\d.]+\) against now \([\d.]+\)/, '... with its sentence in the summary');
($status, $said) = step(@right, $next{'Does it hold on the next server?'});
is($status, 0, 'next server: the lock holds') or diag $said;
like(slurp("$right[0]/next.tap"), qr/^ok 1 - good-lock sqlite /m, '... in its lines');
for my $text ($next{'Does it hold on the next server?'}, $next[0]) {
    ($status, $said) = step(@wrong, $text);
    is($status, 1, 'next server: a lock that is open fails the job') or diag $said;
}
done_testing();
