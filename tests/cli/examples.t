#!/usr/bin/env perl
# Every command of the guides in examples/ runs: on SQLite, with short runs, a search only begun. What it finds or how fast
# it is does not matter here (statuses 1, 4, 5); a wrong option, name or file does.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Guides;
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my $short = '--duration 30ms --warmup 0ms';

# What the guides call lockbench: the real one, asked for less.
spew('lockbench', <<"SH");
#!/bin/sh
case \$1 in
compare | verify | run) set -- "\$@" $short ;;
plan) set -- "\$@" $short --repeat 1 ;;
esac
case "\$*" in
*--slo*) timeout -s INT 3 "$ENV{LOCKBENCH}" "\$@" </dev/null ;; # a search takes its time
*) "$ENV{LOCKBENCH}" "\$@" </dev/null ;;
esac
status=\$?
echo "status \$status of \$*" >&2
case \$status in 0 | 1 | 4 | 5 | 124) exit 0 ;; *) exit \$status ;; esac
SH
chmod 0755, scratch() . '/lockbench';
$ENV{PATH} = scratch() . ":$ENV{PATH}";
$ENV{DB} = 'sqlite:';

my @guides = glob "$source/examples/*.md";
cmp_ok(scalar @guides, '>=', 3, 'there are guides');
for my $guide (@guides) {
    my ($name) = $guide =~ m{([^/]+)\.md$};
    my @blocks = shell_blocks(slurp($guide));
    cmp_ok(scalar @blocks, '>', 1, "$name: has commands");
    my $dir = scratch() . "/$name";
    mkdir $dir;
    symlink "$source/examples", "$dir/examples";
    for my $block (@blocks) {
        my $script = spew("$name.sh", "set -e\ncd $dir\n$block");
        my $said = `bash $script 2>&1`;
        is($?, 0, "$name: " . ($block =~ /^(.*)$/m)[0]) or diag $said;
    }
}
done_testing();
