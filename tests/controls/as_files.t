#!/usr/bin/env perl
# Each broken control as a user would bring it: its statements in a file, without what its descriptor knows. Plain
# `verify -s FILE -d URI` catches it; the repaired twin, so written out, passes.
# Only with scripts/test --all: it repeats the controls as users' files.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

plan skip_all => "takes minutes of both cores: LB_TEST_SOAK=1 asks for it" if !$ENV{LB_TEST_SOAK};

# Options that the statements speak of; the first value is the default, as in the descriptors.
my %options = (
    'advisory-no-recheck' => 'walk = statement | cursor',
    'fifo-poll-safe' => 'stale_ms = 0', 'fifo-poll' => 'stale_ms = 0',
    map { $_ => 'recurring = no | yes' } qw(gatekeeper lease-queue cas listen-notify),
);
my (undef, $list) = lockbench('list', 'strategies', '--format', 'json');
my @known = @{ decode_json($list)->{strategies} };
my %known = map { $_->{strategy} => $_ } @known;
my @controls = map { $_->{strategy} } grep { $_->{kind} eq 'control' } @known;
my %uri = (sqlite => 'sqlite:');
($uri{postgres}) = grep { /^postgres/ } split /\n/, $ENV{LB_TEST_URIS} // '';

# The file of a strategy on an engine; undef: it has none there, or takes options that are not listed above.
sub write_out
{
    my ($name, $engine) = @_;
    my $sql = slurp("$ENV{LB_SOURCE}/sql/$name/$engine.sql");
    return if $sql eq '';
    my $option = defined $options{$name} ? "-- option: $options{$name}\n" : '';
    my %has = map { $_ => 1 } $option =~ /option: (\w+)/g;
    return if grep { !$has{$_} } $sql =~ /^-- name: .* when (\w+)/mg;
    (my $claims = $known{$name}{claims}) =~ s/,/, /g;
    return spew("$name-$engine.sql",
        "-- strategy: $name\n-- shape: $known{$name}{shape}\n-- claims: $claims\n$option\n$sql");
}

my @todo;
for my $engine (grep { defined $uri{$_} } sort keys %uri) {
    my %twins = map { $_ => 1 } grep { defined && $known{$_} } map { $known{$_}{twin} } @controls;
    for my $name (@controls, sort keys %twins) {
        my $file = write_out($name, $engine) or next;
        push @todo, { name => $name, engine => $engine, file => $file, wanted => $twins{$name} ? 0 : 1 };
    }
}
# What one writer cannot break, or only numbers that commit in another order.
my %spared = map { $_ => 1 } ('sqlite count-gate', 'sqlite naive-claim', 'sqlite autocommit-skip', 'sqlite merge-unlocked', 'sqlite fifo-poll');
@todo = grep { !$spared{"$_->{engine} $_->{name}"} } @todo;
# What reads on a replica needs one.
@todo = grep { slurp($_->{file}) !~ /^-- on: replica/m || ($uri{$_->{engine}} // '') =~ m{//[^/]*,} } @todo;
# In pieces: LB_TEST_ONLY is a pattern for "engine name".
my $only = $ENV{LB_TEST_ONLY} // '';
@todo = grep { "$_->{engine} $_->{name}" =~ /$only/ } @todo;

while (my @few = splice @todo, 0, 4) { # four at a time: most of it is waiting
    $_->{run} = start('verify', '-s', $_->{file}, '-d', $uri{$_->{engine}}, '-q') for @few;
    for my $one (@few) {
        my ($status, $out, $err) = finish($one->{run});
        is($status, $one->{wanted}, "$one->{name} on $one->{engine}: " . ($one->{wanted} ? 'caught' : 'passes'))
            or diag join("\n", grep { /^not ok|^#/ } split /\n/, $out), $err;
    }
}
done_testing();
