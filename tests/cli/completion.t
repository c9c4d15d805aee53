#!/usr/bin/env perl
# Bash completion: what it offers is what the program has.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

plan skip_all => 'no bash' if system('bash -c true') != 0;
my $file = ($ENV{LB_SOURCE} // '.') . '/scripts/completion.bash';

# What is offered after these words; the last one is being typed.
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
is(offered('list', 's'), 'scenarios strategies', 'what can be listed');
is(offered('report', "$ENV{LB_SOURCE}/tests/u"), "$ENV{LB_SOURCE}/tests/unit", 'results are directories');
my $options = offered('run', '--');
my ($status, $help) = lockbench('run', '--help');
is($options, join(' ', sort $help =~ /^  (?:-\w,|   ) (--[a-z-]+)/mg), 'every option of --help, and no other');

done_testing();
