#!/usr/bin/env perl
# Several classes of task in one queue's table: each item goes to a worker of its own class, under every strategy that
# knows classes; a claim that does not ask for the class is caught.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my %uri = (sqlite => 'sqlite:');
for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
    $uri{postgres} //= $uri if $uri =~ /^postgres/;
    $uri{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
}

sub result_of
{
    my ($status, $out, $err) = @_;
    my $json = eval { decode_json($out) };
    diag "exit status $status\n$out$err" if !defined $json;
    return ($json // {})->{cells}[0] // {};
}

my @classes = ('-S', 'task-classes', '--backlog', '60', '--format', 'json', '--quiet');
my @asked = map {
    my $engine = $_;
    map { { title => "$_, $engine", run => start('run', '-s', $_, '-d', $uri{$engine}, @classes) } } 'nowait', 'skip-locked',
        'merge-table-lock'
} sort keys %uri;
for my $asked (@asked) {
    my $cell = result_of(finish($asked->{run}));
    my $proof = $cell->{runs}[0]{proof} // {};
    is("$proof->{name} $proof->{verdict}", 'classes held', "$asked->{title}: each task to its own class");
    is($cell->{runs}[0]{items}, 60, "$asked->{title}: all tasks");
    is($cell->{guarantees}{$_}{verdict}, 'held', "$asked->{title}: $_") for 'no-duplicate', 'no-loss';
}

# Producers put for one class after the other.
my $is_more = sub { return $_[1] =~ /"items": ?(\d+)/ && $1 > 60 };
my $cell = result_of(until_shown($is_more, 'run', '-s', 'skip-locked', '-d', 'sqlite:', @classes, '--producers', '2', '--put-interval', '2ms',
    '--no-drain', '--duration', '400ms'));
is($cell->{runs}[0]{proof}{verdict}, 'held', 'with producers: each task to its own class');
cmp_ok($cell->{runs}[0]{items}, '>', 60, 'with producers: theirs too');

# A claim that does not ask for the class.
my $queue = good_queue();
my $text = slurp($queue);
$text =~ s/payload text,/payload text, class text,/;
$text =~ s/\(id, payload\) SELECT id, :payload/(id, payload, class) SELECT id, :payload, :class/;
my $careless = spew('careless.sql', $text =~ s/good-queue/careless/r);
$cell = result_of(lockbench('run', '-s', $careless, '-d', 'sqlite:', @classes));
is($cell->{runs}[0]{proof}{verdict}, 'violated', 'a claim that does not ask for the class');
like($cell->{runs}[0]{proof}{text}, qr/^\d+ times an item was handed to a worker of another class; the last was item \d+ of class\d$/,
    'which item');
my $careful = spew('careful.sql', $text =~ s/good-queue/careful/r =~ s/state = 'new' ORDER/state = 'new' AND class = :class ORDER/r);
$cell = result_of(lockbench('run', '-s', $careful, '-d', 'sqlite:', @classes));
is($cell->{runs}[0]{proof}{verdict}, 'held', 'one that does');
my $forgotten = spew('forgotten.sql', $text =~ s/good-queue/forgotten/r =~ s/state = 'new' ORDER/state = 'new' AND :class <> '' ORDER/r);
for ([$careless, 0, qr/^# careless on sqlite: no violation .*; left out: .*two classes/m],
    [$forgotten, 1, qr/^# forgotten on sqlite breaks classes:\n#   \d+ times .*\n#   shown by: lockbench run -s .*\n(?:#.*\n)*# forgotten on sqlite: 1 guarantee broken/m],
    [$careful, 0, qr/^ok \d+ - careful sqlite two classes classes$/m]) {
    my ($file, $wanted, $line) = @$_;
    my ($status, $out) = lockbench('verify', '-s', $file, '-d', 'sqlite:', '--quiet');
    is($status, $wanted, 'verify asks by itself') or diag $out;
    like($out, $line, '... with two classes');
}

for my $case (['pthread-queue', [], qr/classes: pthread-queue knows no class/], [$queue, [], qr/classes: good-queue knows no class/],
    ['nowait', ['--classes', '9'], qr/classes: at most one for each worker: 8/],
    ['nowait', ['--recover', '10ms'], qr/classes: not with rounds, recover/]) {
    my ($strategy, $more, $wanted) = @$case;
    my ($status, $out, $err) = lockbench('run', '-s', $strategy, '-d', 'sqlite:', '-S', 'task-classes', @$more, '--quiet');
    isnt($status, 0, 'refused');
    like("$out$err", $wanted, "refused: $wanted");
}
done_testing();
