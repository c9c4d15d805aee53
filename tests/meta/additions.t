#!/usr/bin/env perl
# A new fault, a new format and a new guarantee need one file and one line each: all are added to a copy of the
# tree, of which only files that use the lists are compiled; the rest is linked as built. They are
# then in help, messages, lists and completion, and they work.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $source = abs_path($ENV{LB_SOURCE} // '.');
my $build = abs_path($ENV{LB_BUILD} // 'build') // '';
plan skip_all => 'no build by ninja to add to' if !-e "$build/build.ninja" || system('ninja --version >/dev/null 2>&1') != 0;
plan skip_all => 'no lockbench in the build' if !-x "$build/lockbench" || abs_path($ENV{LOCKBENCH}) ne "$build/lockbench";
my $copy = scratch() . '/copy';

# The one line of each, and its file.
my %line = (
    'bench/run/scenario/fault_list.h' => qq{    FAULT(DROWSE, drowse, "drowse", 0, "the holder does nothing for a moment") \\\n},
    'bench/report/format_list.h' => qq{    FORMAT(lb_sink_shout) \\\n},
    'bench/base/guarantee_list.h' => qq{    GUARANTEE(WILLING, willing, "willing", LB_GUARANTEE_IS_FOR_LOCKS, "no worker is told to try again") \\\n},
);
my %file = ('bench/run/faults/drowse.c' => <<'C', 'bench/report/data/shout.c' => <<'C2', 'bench/check/lock/willing.c' => <<'C3');
/* The fault drowse: the holder does nothing for a moment. */
#include "fault_kind.h"
#include "worker.h"

static void inject(struct lb_worker *worker, const struct lb_request *request, const struct lb_item *items, uint32_t n)
{
    (void)request;
    (void)items;
    (void)n;
    lb_team_wait(worker->team, lb_now_ns() + 1000000, LB_PHASE_ABORT);
}

const struct lb_fault_kind lb_fault_drowse = {.inject = inject,
                                              .lock_keys = "fault=drowse fault-interval=10ms",
                                              .queue_keys = "fault=drowse fault-interval=10ms"};
C
/* The format shout: how many rows there are, loudly. */
#include "report.h"

static void end(struct lb_sink_state *state)
{
    fprintf(state->out, "%zu ROW%s!\n", state->report->n_cells, state->report->n_cells == 1 ? "" : "S");
}

const struct lb_sink lb_sink_shout = {
    .name = "shout", .summary = "how many rows, loudly", .of = LB_OF_RUNS, .file = "report.shout", .end = end};
C2
/* willing: no worker is told to try again. */
#include "guarantee_kind.h"
#include "judges.h"

static int judge(struct lb_case *c)
{
    struct lb_finding *finding = lb_finding_of(c, LB_G_WILLING);
    const struct lb_refusal *refusals = c->refusals.items;
    finding->n_tested = c->out->measures.n_holds;
    finding->n_violations = c->refusals.n;
    struct lb_witness *witness = c->refusals.n > 0 ? lb_witness_new(finding) : NULL;
    if (witness != NULL) {
        lb_witness_add(c, witness, refusals[0].log, refusals[0].event);
        lb_witness_text(witness, "%s was told to try again", lb_who(c, refusals[0].log, LB_WHOM));
    }
    return 0;
}

const struct lb_guarantee_kind lb_guarantee_willing = {.judge_lock = judge, .nothing = "nothing was asked for"};
C3

# What sees the lists, and is not the same without: the tables that are made of them.
my @compiled = qw(bench/run/scenario/fault_list.c bench/run/scenario/scenario.c bench/run/faults/fault_kinds.c bench/report/sinks.c
    bench/report/page/page_history.c bench/cli/selection/args.c bench/cli/commands/cmd_list.c bench/cli/selection/fault_scenarios.c
    bench/base/guarantee.c bench/check/guarantee_kinds.c);

for my $path (keys %line) {
    my @lines = split /^/, slurp("$source/$path");
    my ($first) = grep { $lines[$_] =~ /^#define LB_\w+_LIST\(/ } 0 .. $#lines;
    # The new line is the last one: recorded numbers keep their meaning.
    my $last = $first;
    $last++ while $lines[$last] =~ /\\$/;
    chomp $lines[$last];
    $lines[$last] .= " \\\n";
    splice @lines, $last + 1, 0, $line{$path} =~ s/ \\\n/\n/r;
    $file{$path} = join '', @lines;
}
$file{$_} = slurp("$source/$_") for @compiled;
for my $path (keys %file) {
    make_path(dirname("$copy/$path"));
    open my $out, '>', "$copy/$path" or die "$path: $!\n";
    print $out $file{$path};
    close $out or die "$path: $!\n";
}

# Each as the build compiles a neighbour, but sees the copy first.
my %command;
for my $entry (@{decode_json(slurp("$build/compile_commands.json"))}) {
    $command{$entry->{file} =~ s{^\Q$source\E/}{}r} = $entry;
}
my (@objects, $failed);
for my $path (grep { /\.c$/ } sort keys %file) {
    my ($neighbour) = grep { dirname($_) eq dirname($path) } sort keys %command;
    my $like = $command{$path} // $command{$neighbour};
    my $object = "$copy/" . basename($path) . '.o';
    my $compile = $like->{command} =~ s/\Q$like->{file}\E/$copy\/$path/gr;
    $compile =~ s/ -o \S+/ -o $object/;
    $compile =~ s/ -M[DTF]\S*(?: (?!-)\S+)?//g;
    $compile =~ s{ (?=-I)}{ -include $copy/bench/run/scenario/fault_list.h -include $copy/bench/report/format_list.h -include $copy/bench/base/guarantee_list.h };
    my $said = `cd '$like->{directory}' && $compile 2>&1`;
    is($?, 0, "$path compiles") or diag "$compile\n$said";
    push @objects, $object;
}
my ($link) = grep { m{ -o lockbench } } split /\n/, `cd '$build' && ninja -t commands lockbench`;
ok(defined $link, 'the build says how it links') or BAIL_OUT('no command that links');
$link =~ s/ -o lockbench / -o $copy\/lockbench /;
$link =~ s{ (\S+\.a) }{ @objects $1 };
my $said = `cd '$build' && $link 2>&1`;
is($?, 0, 'the program is linked, and no table stands twice') or diag "$link\n$said";

sub added
{
    my (@words) = @_;
    return finish(start_program("$copy/lockbench", @words));
}

# --- the fault ---
my ($status, $out, $err) = added('list', 'faults');
like($out, qr/^drowse +the holder does nothing for a moment$/m, 'the fault is listed');
($status, $out) = added('run', '--help', 'all');
like($out =~ s/\s+/ /gr, qr/the injected fault: none, kill.*, drowse\b/, 'run --help has it');
($status, $out) = added('verify', '--help', 'all');
like($out =~ s/\s+/ /gr, qr/under each fault: all, kill.*, drowse, skew/, 'verify --help has it');
($status, $out, $err) = added('verify', '--faults', 'drowze', '-d', 'sqlite:');
is($status, 2, 'a misspelled one is refused');
like($err, qr/unknown fault 'drowze'; did you mean drowse\?.*drowse, skew/, 'and the new one is named');
($status, $out, $err) = added('run', '-s', 'lease-update-safe', '-d', 'sqlite:', '--fault', 'drowse', '--fault-interval', '1ms', '--fault-count', '3',
    '--duration', '0', '--warmup', '0', '--format', 'json', '-q');
my $result = eval { decode_json($out) } // (diag("$status $err"), {})[1];
is($result->{cells}[0]{config}{fault}, 'drowse', 'a run has it');
cmp_ok($result->{cells}[0]{runs}[0]{faults} // 0, '>=', 3, 'and it befalls the workers') or diag $out =~ /("fault.*)/;
($status, $out) = added('verify', '-s', 'lease-update-safe', '-d', 'sqlite:', '-S', 'mutex-pair', '--faults', 'drowse', '--dry-run');
like($out, qr/mutex-pair\+drowse/, 'verify asks with it');

# --- the format ---
($status, $out) = added('list', 'formats');
like($out, qr/^shout +runs,stored results +how many rows, loudly$/m, 'the format is listed');
($status, $out) = added('run', '--help', 'all');
like($out =~ s/\s+/ /gr, qr/markdown or shout, to standard output/, 'run --help has it');
($status, $out, $err) = added('run', '-s', 'cas', '-d', 'sqlite:', '--format', 'shoot');
like($err, qr/unknown format 'shoot'; did you mean shout\? \(text,.*, shout\)/, 'a misspelled one is refused, and the new one named');
my $results = scratch() . '/results';
($status, $out, $err) = added('run', '-s', 'cas', '-d', 'sqlite:', '--count', '5', '--duration', '10m', '--warmup', '0', '--format', 'shout',
    '-q', '-o', $results);
is($out, "1 ROW!\n", 'a run is told in it') or diag $err;
my ($stored) = glob "$results/*";
($status, $out, $err) = added('show', $stored, '--format', 'shout');
is($out, "1 ROW!\n", 'a stored result, too') or diag $err;

# --- the guarantee ---
($status, $out) = added('list', 'guarantees');
like($out, qr/^willing +no worker is told to try again$/m, 'the guarantee is listed');
my $busy = scratch() . '/busy.jsonl';
my $calm = scratch() . '/calm.jsonl';
for my $case ([$busy, 'fail'], [$calm, 'ok']) {
    my ($path, $second) = @$case;
    my @events = ([0, 'invoke', 'acquire', 10], [0, 'ok', 'acquire', 20], [0, 'invoke', 'release', 30], [0, 'ok', 'release', 40],
        [1, 'invoke', 'acquire', $second eq 'ok' ? 50 : 22], [1, $second, 'acquire', $second eq 'ok' ? 60 : 25]);
    open my $file, '>', $path or die "$path: $!\n";
    printf $file qq({"process":%d,"type":"%s","f":"%s","time":%d,"object":0}\n), @$_[0 .. 3] for @events;
    close $file or die "$path: $!\n";
}
($status, $out, $err) = added('check', $busy, '--model', 'mutex', '--claims', 'wiling');
like($err, qr/unknown guarantee 'wiling' \(there are .*, willing\)/, 'a misspelled one is refused, and the new one named');
my @asked = ('--model', 'mutex', '--claims', 'exclusive,willing');
($status, $out, $err) = added('check', $busy, @asked);
is($status, 1, 'a history that breaks it is accused') or diag $out, $err;
like($out, qr/^willing +violated\b.*^  ?.*was told to try again/ms, 'with its witness');
($status, $out, $err) = added('check', $calm, @asked);
is($status, 0, 'one that keeps it is not') or diag $out, $err;
like($out, qr/^willing +held\b/m, 'and it is said');
my $sql = scratch() . '/polite.sql';
open my $polite, '>', $sql or die "$sql: $!\n";
print $polite <<'SQL';
-- strategy: polite
-- shape: lock
-- claims: exclusive, owner-release, willing
-- name: setup
CREATE TABLE polite (name varchar(64) PRIMARY KEY, worker varchar(64));
-- name: resource
INSERT INTO polite (name) VALUES (:resource);
-- name: acquire
UPDATE polite SET worker = :worker WHERE name = :resource AND worker IS NULL;
-- name: release
UPDATE polite SET worker = NULL WHERE name = :resource AND worker = :worker;
-- name: teardown
DROP TABLE polite;
SQL
close $polite or die "$sql: $!\n";
for my $case (['text', qr/willing/], ['tap', qr/^(not )?ok .*willing/m], ['json', qr/"willing": *\{\s*"verdict":/], ['junit', qr/name="willing"/],
    ['markdown', qr/willing/]) {
    my ($format, $like) = @$case;
    ($status, $out, $err) = added('run', '-s', $sql, '-d', 'sqlite:', '--count', '5', '--duration', '10m', '--warmup', '0', '-q', '--format', $format);
    like($out, $like, "a run says it in $format") or diag $status, $err;
}

# --- completion ---
SKIP: {
    skip 'no bash', 2 if system('bash -c true') != 0;
    for my $case (['--faults', 'dro', 'drowse'], ['--format', 'sho', 'shout']) {
        my ($option, $word, $expected) = @$case;
        my $list = "COMP_WORDS=('$copy/lockbench' verify $option $word); COMP_CWORD=3";
        my $offered = `bash --norc -c "source '$source/scripts/completion.bash'; $list; _lockbench; echo \\\${COMPREPLY[*]}"`;
        is($offered, "$expected\n", "completion offers $expected");
    }
}
done_testing();
