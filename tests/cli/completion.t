#!/usr/bin/env perl
# Completion in bash, zsh and fish: each offers the program's own words.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

plan skip_all => 'no bash' if system('bash -c true') != 0;
my $file = ($ENV{LB_SOURCE} // '.') . '/scripts/completion.bash';

# The words offered after these; the last one is being typed.
sub offered
{
    my (@words) = @_;
    my $list = join ' ', map { "'$_'" } $ENV{LOCKBENCH}, @words;
    my $script = "source '$file'; COMP_WORDS=($list); COMP_CWORD=" . @words
        . '; _lockbench; printf "%s\n" "${COMPREPLY[@]}"';
    open my $pipe, '-|', 'bash', '--norc', '-c', $script or die;
    chomp(my @offered = <$pipe>);
    return join ' ', sort grep { length } @offered;
}

is(offered('comp'), 'compare', 'a command');
like(offered(''), qr/\bcompare\b.*\blist\b.*\brun\b.*\bverify\b/, 'all commands');
is(offered('run', '--work'), '--workers', 'an option');
is(offered('run', '--database', 'sq'), 'sqlite:', 'an engine');
is(offered('run', '-S', 'mutex-'), 'mutex-hot mutex-pair mutex-spread', 'scenarios');
is(offered('compare', '-S', 'drain,mutex-h'), 'drain,mutex-hot', 'the last of a list');
is(offered('run', '--backoff', '=', 'f'), 'fixed', 'a value after =');
is(offered('show', 'skip-'), 'skip-locked skip-locked-hold', 'what can be shown');
is(offered('verify', '--faults', 'ki'), 'kill', 'a fault');
is(offered('verify', '--faults', ''), join(' ', sort 'all', split ' ', (lockbench('list', 'faults', '--names'))[1]), 'all faults');
is(offered('run', '--format', ''), join(' ', sort split ' ', (lockbench('list', 'formats', '--names'))[1]), 'all formats');
is(offered('verify', '--faults', 'kill,pa'), 'kill,partition kill,pause', 'the last of a list of faults');
is(offered('list', 'r'), 'results', 'stored results');
is(offered('list', 's'), 'scenarios strategies', 'what can be listed');
is(offered('report', "$ENV{LB_SOURCE}/tests/u"), "$ENV{LB_SOURCE}/tests/unit", 'results are directories');
my $options = offered('run', '--');
my ($status, $help) = lockbench('run', '--help', 'all');
is($options, join(' ', sort $help =~ /^  (?:-\w,|   ) (--[a-z-]+)/mg), 'every option of --help, and no other');


# The words that an option takes: those that the program names when it is given another one.
my $history = spew('h.jsonl', '');
my %asked = (
    'run --fault' => [], 'run --ids' => [], 'run --backoff' => [], 'run --isolation' => [], 'run --format' => [], 'verify --faults' => [],
    'plan --format' => ['-s', 'lock-row'], 'plan --arrivals' => ['-s', 'lock-row', '--slo', 'p99<5ms'], 'diff --format' => ['a', 'b'],
    'diff --metric' => ['a', 'b'], 'explore --steps' => ['-s', 'lock-row'], 'explore --format' => ['-s', 'lock-row'],
    'check --format' => [$history], 'check --release' => [$history], 'check --export' => [$history], 'list --format' => ['strategies'],
);
my %takes;
for my $case (sort keys %asked) {
    my ($command, $option) = split / /, $case;
    my (undef, undef, $err) = lockbench($command, @{$asked{$case}}, $option, 'nope');
    my ($words) = $err =~ /^lockbench: option \Q$option\E: .*?(?:'nope' is (?:not|neither)|list has) ?(?:one of )?(.*?)(?:, not 'nope')?$/m;
    ($words) = $err =~ /^lockbench: option \Q$option\E: .*\((.*)\)$/m if !defined $words;
    $takes{$case} = join ' ', sort grep { length } split /, | (?:or|nor|and) /, $words // '';
    isnt($takes{$case}, '', "$case: says what it takes") or diag $err;
    my $offered = offered($command, $option, '');
    is($offered, $takes{$case}, "bash: $case");
}
is(offered('explore', '--steps', 'clock,c'), 'clock,clock clock,crash clock,cut', 'the last of a list of steps');


# The other shells offer the same. zsh completes in its line editor only: its builtins are stood in for by
# functions that print.
my $folder = ($ENV{LB_SOURCE} // '.') . '/scripts';
my $stubs = spew('stubs.zsh', <<'ZSH');
compadd() {
    while [[ $1 == -* && $1 != -- ]]; do [[ $1 == -S ]] && shift; shift; done
    shift
    print -l -- "$@" | grep -- "^${words[CURRENT]}"
}
_values() { shift 3; print -l -- "$@" | grep -- "^${words[CURRENT]}" }
_files() { }
completion=$1
shift
words=("$@")
CURRENT=$#words
set --
source $completion
ZSH
my %shell = (
    zsh => sub { join ' ', map { length ? quotemeta : q('') } 'zsh', '-f', $stubs, "$folder/completion.zsh", $ENV{LOCKBENCH}, @_ },
    fish => sub {
        "fish --no-config -c " . quotemeta "function lockbench; '$ENV{LOCKBENCH}' \$argv; end; source '$folder/completion.fish'; complete -C '" . join(' ', 'lockbench', @_) . "'";
    },
);
for my $shell (sort keys %shell) {
    SKIP: {
        skip "no $shell", 1 if system("$shell -c true >/dev/null 2>&1") != 0;
        for my $case ([['comp'], 'compare'], [['run', '--work'], '--workers'], [['show', 'skip-'], 'skip-locked skip-locked-hold'],
            [['run', '-S', 'mutex-'], 'mutex-hot mutex-pair mutex-spread'], [['verify', '--faults', 'ki'], 'kill'],
            [['list', 's'], 'scenarios strategies'], map { [[split(/ /), ''], $takes{$_}] } sort keys %takes) {
            my ($words, $expected) = @$case;
            my $command = $shell{$shell}->(@$words);
            my @offered = map { s/[\t\n].*//sr } `$command 2>&1`;
            is(join(' ', sort @offered), $expected, "$shell: @$words");
        }
    }
}
done_testing();
