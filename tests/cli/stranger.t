#!/usr/bin/env perl
# A protocol that lockbench has never seen: plain `verify -s FILE -d URI` finds what is wrong with it, and nothing
# where nothing is. The files in tests/strangers are written as users bring them; truth.tsv says what is known.
# Only with scripts/test --all: one verify after the other; the plan itself is tested by the other stranger tests.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my ($postgres) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my ($mariadb) = grep { /^mariadb/ } split /\n/, $ENV{LB_TEST_URIS} // '';
my %uri = (postgres => $postgres, mariadb => $mariadb, sqlite => 'sqlite:');

my @todo = map { [split /\t/] } grep { !/^file\t/ } split /\n/, slurp("$folder/truth.tsv");
# Correct files take the longest, as they get all tests: most of them only in a soak. The first
# tests show most defects; some need the whole budget, and these begin first. Of several files with
# one defect, one is tested.
my %needs_all = map { ("$_.sql" => 1) } qw(rescue-listed pruned-hidden shedlock-dbtime lease-late);
if (!$ENV{LB_TEST_SOAK}) {
    my $spared = qr/^(?:visib|operator|looked|heart|oban|pruned-alive|copy-skip-locked-nofence|retried|insert|grouped|at-most|semaphore|prolonged|takeover|gate|own-rows|clocks|fences|orders|in-line|stuck|position|greedy|drawn|failed-late|nacked|group-lease|rw-lease|give-up|dead-waiter|families|janitor|delayed|parted-moves|two-)/;
    @todo = grep { $_->[0] !~ $spared && ($_->[3] ne 'right' || $_->[0] =~ /^(?:copy|pgmq)/) } @todo;
    @todo = ((grep { $needs_all{ $_->[0] } } @todo), (grep { !$needs_all{ $_->[0] } } @todo));
}
# Which of the rest are under way: most of it is waiting.
sub fill
{
    for my $row (grep { defined $uri{ $_->{engine} } } @todo[0 .. ($#todo < 7 ? $#todo : 7)]) {
        $row->{run} //= start(@{ $row->{args} });
    }
    return;
}

# A broken file is accused by the guarantee that it breaks, unless the machine stood still at the time: then it is asked
# again. An accusation of a right one stands.
@todo = map {
    my ($file, $engine, $options, $truth, $guarantees) = @$_;
    my @args = ('verify', '-s', "$folder/$file", $options eq '-' ? () : split(/ /, $options), '-d', $uri{$engine} // '', '-q');
    push @args, '--budget', '20s' if !$ENV{LB_TEST_SOAK} && !$needs_all{$file};
    my $named = join '|', split /,/, $guarantees;
    { what => "$file $options", engine => $engine, truth => $truth, args => \@args,
        is_named => qr/^not ok \d+ - \S+ \S+ .* (?:$named)$/m }
} @todo;
while (@todo) {
    fill();
    my $row = shift @todo;
    my ($what, $truth, $is_named) = @$row{qw(what truth is_named)};
  SKIP: {
        skip "$what: no $row->{engine} server", 2 if !defined $row->{run};
        my ($status, $out, $err) = finish($row->{run});
        ($status, $out, $err) = until_shown(sub { return $_[1] =~ $is_named }, @{ $row->{args} })
            if $truth eq 'broken' && $out !~ $is_named;
        is($status, { right => 0, broken => 1, refused => 2 }->{$truth}, "$what: $truth") or diag $out, $err;
        if ($truth eq 'broken') {
            like($out, $is_named, "$what: by the right guarantee");
        } else {
            unlike($out, qr/^not ok/m, "$what: nothing is accused");
        }
    }
}

done_testing();
