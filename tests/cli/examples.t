#!/usr/bin/env perl
# Every command of the guides in examples/ runs: on SQLite, with short runs, a search only begun. What it finds or how fast
# it is does not matter here (statuses 1, 4, 5); a wrong option, name or file does. The output that the guides show has
# the tables and the keys that the program prints today.
# Only with scripts/test --all: it repeats the commands of the guides.
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
verify) case "\$*" in *--plan*) ;; *) set -- "\$@" $short ;; esac ;;
compare | run) set -- "\$@" $short ;;
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

# Output that does not depend on the measurements: the heads of tables (words and no figure, two
# blanks or a bar between them), and the keys of TAP's blocks.
sub shapes
{
    my ($text) = @_;
    my @found;
    for my $line (split /\n/, $text) {
        push @found, "$1:" if $line =~ /^  (\w+): ["\d]/;
        $line =~ s/^# //;
        my $words = () = $line =~ /(?:  |\| )[a-z95% <]/g;
        push @found, join ' ', split ' ', $line =~ s/[|]//gr if $words >= 3 && $line =~ /^(?:\| )?(?:strategy|workers|trial)\b/;
    }
    return @found;
}

my $sources = join '', map { slurp($_) } glob "$source/bench/{report,cli}/{*/,}*.c";
my @guides = glob "$source/examples/*.md";
cmp_ok(scalar @guides, '>=', 3, 'there are guides');
for my $guide (@guides) {
    my ($name) = $guide =~ m{([^/]+)\.md$};
    my @blocks = shell_blocks(slurp($guide));
    cmp_ok(scalar @blocks, '>', 1, "$name: has commands");
    my $dir = scratch() . "/$name";
    mkdir $dir;
    # As in a clone, where a reader stands.
    symlink "$source/$_", "$dir/$_" for qw(examples README.md);
    mkdir "$dir/results";
    symlink "$source/results/$_", "$dir/results/$_" for qw(README.md reference);
    my %printed;
    for my $block (@blocks) {
        my $script = spew("$name.sh", "set -e\ncd $dir\n$block");
        my $said = `bash $script 2>&1`;
        is($?, 0, "$name: " . ($block =~ /^(.*)$/m)[0]) or diag $said;
        $printed{$_} = 1 for shapes($said);
    }
    my @shown = map { shapes($_) } slurp($guide) =~ /^```text\n(.*?)^```$/msg;
    cmp_ok(scalar @shown, '>', 1, "$name: shows tables");
    for my $shape (do { my %seen; grep { !$seen{$_}++ } @shown }) {
        # Output that short runs do not reach: deaths, a trial, a plan's explorations. At least the
        # program contains the words.
        if ($shape =~ /^(?:explored:|strategy engine scenario deaths .*|trial .*)$/) {
            my @words = grep { length > 3 } split /[ :]/, $shape =~ s/ p\d+<.*| by hand//r;
            is(join(' ', grep { index($sources, qq{"$_"}) < 0 } @words), '', "$name: words of today: $shape");
            next;
        }
        ok($printed{$shape}, "$name: printed today: $shape") or diag join "\n", sort keys %printed;
    }
}
done_testing();
