#!/usr/bin/env perl
# Protocols by an author who did not know the judge, on which it was wrong or silent once. The explorations
# are complete, so chance has no part in them. Where a row has a repair, the repaired file holds.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $dir = "$FindBin::Bin/attacks";
my %status = (held => 0, violated => 1);

# file, guarantee, verdict, what it shows, options, and the repair: a text, and another in its place
my @cases = (
    ['tickets-restart', 'fifo', 'held', 'the numbers of an empty line may start again', [qw(--rounds 2)]],
    ['permits-by-now', 'permits', 'held', 'permits are asked for by the same clock as all else',
        [qw(--renewals 1 --steps clock --workers 1)]],
    ['stuck-beside-trigger', 'progress', 'violated', 'a release that frees nothing, beside a trigger', [],
        "SET owner = 'free'" => 'SET owner = NULL'],
    ['one-blocks-all', 'progress', 'violated', 'one lock keeps workers from all others, beside a view', [qw(--also apart --resources 2)],
        'WHERE owner IS NOT NULL' => 'WHERE name = :resource AND owner IS NOT NULL'],
    ['priority-as-text', 'priority', 'violated', 'of two texts, 9 comes after 10', [qw(--workers 1 --items 24)],
        'prio TEXT' => 'prio INTEGER'],
    ['token-restarts', 'owner-release', 'violated', 'a token that starts again behind an error',
        [qw(--rounds 2 --also errors --steps clock --items 1)], "'failed', token = 0" => "'failed'"],
    ['unique-too-long', 'unique', 'violated', 'a put that is refused beside a claim that nothing gave back', [qw(--producers 1)],
        "IN ('ready', 'taken')" => "= 'ready'"],
);
for my $case (@cases) {
    my ($name, $guarantee, $verdict, $shows, $options, $wrong, $right) = @$case;
    my @explore = ('explore', '-d', 'sqlite:', '--claims', $guarantee, @$options);
    my ($status, $out, $err) = lockbench(@explore, '-s', "$dir/$name.sql");
    is($status, $status{$verdict}, "$name: $verdict") or diag $out, $err;
    like($out, qr/^ +$guarantee +$verdict/m, "$name: $guarantee is $verdict: $shows");
    next if !defined $wrong;
    my $text = slurp("$dir/$name.sql");
    my $n = $text =~ s/\Q$wrong\E/$right/g;
    ok($n, "$name: there is something to repair");
    ($status, $out, $err) = lockbench(@explore, '-s', spew("$name-repaired.sql", $text));
    is($status, 0, "$name, repaired: held") or diag $out, $err;
}

# The plan of verify asks what shows these.
for my $name ('priority-as-text', 'token-restarts') {
    my ($status, $out) = lockbench('verify', '-s', "$dir/$name.sql", '-d', 'sqlite:', '--plan');
    like($out, $name eq 'token-restarts' ? qr/explore\+error\+operator/ : qr/priorities/, "$name: the plan has the question");
}

# A statement that never ran since its BEGIN was refused.
my (undef, $refused) = lockbench('explore', '-s', "$dir/refused-begin.sql", '-d', 'sqlite:', '--replay', '00001100101');
like($refused, qr/\| BEGIN\n.*\| -> busy$/m, 'a refused BEGIN has its answer');

done_testing();
