#!/usr/bin/env perl
# Waits of items by tenant and by priority, and how much of its fair share each tenant was served: in every output, and on random
# histories against a count of each claim by the definition of docs/glossary.md.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use List::Util qw(max sum);
use Lockbench;
use Test::More;

my $seed = $ENV{LB_TEST_SEED} // time ^ $$ << 8;
srand $seed;

# --- random histories ---
# Items [tenant, priority, put, claimed or undef, requested]; a few tenants, so that each has a row.
sub write_history
{
    my ($name, @items) = @_;
    my @lines;
    for my $i (0 .. $#items) {
        my ($tenant, $priority, $put, $claimed, $requested) = @{ $items[$i] };
        push @lines, [$put, {f => 'put', type => 'invoke', log => 2 * $i, value => $i, tenant => $tenant, priority => $priority}], [$put, {f => 'put', type => 'ok', log => 2 * $i, value => $i}];
        push @lines, [$requested // $claimed, {f => 'claim', type => 'invoke', log => 2 * $i + 1}], [$claimed, {f => 'item', type => 'info', log => 2 * $i + 1, value => $i}],
            [$claimed, {f => 'claim', type => 'ok', log => 2 * $i + 1}] if defined $claimed;
    }
    my $n = @lines;
    my $text = qq({"type":"info","f":"meta","process":"nemesis","time":0,"index":0,"events":$n,"value":"shape=queue\\nclaims=no-loss\\n)
        . qq(release=belief\\ncomplete=1\\ndrained=0\\nend_ns=1000000\\n"}\n);
    my $index = 0;
    for (sort { $a->[0] <=> $b->[0] } @lines) {
        my ($time, $line) = @$_;
        $text .= encode_json({%$line, index => ++$index, time => 1000 * $time, process => $line->{f} eq 'item' ? 'nemesis' : $line->{log}}) . "\n";
    }
    return spew($name, $text);
}

# Of each claim, in the order of the answers: which tenants had an item that was put before and requested later? And its own.
sub served_by_hand
{
    my ($tenant, @items) = @_;
    my ($claims, $due) = (0, 0);
    for my $claim (grep { defined $_->[3] } @items) {
        my $now = $claim->[3];
        my %has_work = map { ($_->[0] => 1) } grep { $_ == $claim || ($_->[2] < $now && (!defined $_->[3] || ($_->[4] // $_->[3]) > $now)) } @items;
        $claims++ if $claim->[0] eq $tenant;
        $due += 1 / keys %has_work if $has_work{$tenant};
    }
    return $due > 0 ? $claims / $due : undef;
}

my @differ;
for my $round (1 .. 40) {
    my $time = 0;
    my @items = map { [(qw(a b c d))[rand 4], int rand 3, 2 * int rand 100, undef] } 1 .. 2 + int rand 60;
    my %taken;
    for (@items) {    # no two claims at one time, and none at that of a put: there the order would be open
        my $claimed = $_->[2] + 1 + 2 * int rand 60;
        next if rand() < 0.1 || $taken{$claimed}++;
        $_->[3] = $claimed;
        $_->[4] = $claimed - int rand 40;
        $_->[4] = 0 if $_->[4] < 0;
    }
    next if !grep { defined $_->[3] } @items;
    my ($status, $out, $err) = lockbench('check', '--format', 'json', write_history('h.jsonl', @items));
    my $waits = eval { decode_json($out)->{measures}{waits} } or BAIL_OUT("no waits: $status $err");
    for my $by (['tenant', 0], ['priority', 1]) {
        my ($kind, $column) = @$by;
        my %row = map { ($_->{name} =~ s/^\w+ "?(.*?)"?$/$1/r => $_) } @{ $waits->{$kind} };
        my %values = map { ($_->[$column] => 1) } @items;
        push @differ, "rows of $kind: " . join ' ', sort keys %row if join(' ', sort keys %row) ne join(' ', sort keys %values);
        for my $value (sort keys %row) {
            my @own = grep { $_->[$column] eq $value } @items;
            my @lengths = sort { $a <=> $b } map { 1000 * ($_->[3] - $_->[2]) } grep { defined $_->[3] } @own;
            my %wanted = (claimed => scalar @lengths, left => @own - @lengths, wait_max_ns => $lengths[-1] // 0, wait_p50_ns => $lengths[$#lengths / 2] // 0);
            for (sort keys %wanted) { push @differ, "$kind $value: $_ is $row{$value}{$_}, not $wanted{$_}" if $row{$value}{$_} != $wanted{$_} }
            next if $kind ne 'tenant';
            my ($got, $right) = ($row{$value}{served}{value}, served_by_hand($value, @items));
            push @differ, "$value: served " . ($got // 'n/a') . ', not ' . ($right // 'n/a')
                if defined $got != defined $right || (defined $got && abs($got - $right) > 1e-7 * (1 + $right));
        }
    }
}
is(scalar @differ, 0, "seed $seed: waits and shares are those counted by hand") or diag join "\n", @differ[0 .. ($#differ < 8 ? $#differ : 8)];

# Two tenants that take turns are served alike, and one that never gets anything is not served.
my ($status, $out) = lockbench('check', '--format', 'json', write_history('fair.jsonl', map { [(qw(a b))[$_ % 2], 0, 0, 10 + $_] } 0 .. 199));
for (@{ decode_json($out)->{measures}{waits}{tenant} }) {
    my $served = $_->{served};
    cmp_ok(abs($served->{value} - 1), '<', 0.02, "$_->{name} of two that take turns: its fair share");
    ok($served->{low} <= 1 && $served->{high} >= 1, '... within the interval');
}
($status, $out) = lockbench('check', '--format', 'json', write_history('starved.jsonl', (map { ['a', 0, 0, 10 + $_] } 0 .. 99), map { ['b', 0, 0, undef] } 1 .. 5));
my ($starved) = grep { $_->{name} =~ /b/ } @{ decode_json($out)->{measures}{waits}{tenant} };
is($starved->{served}{value}, 0, 'one that never gets anything: nothing of its share');
is($starved->{left}, 5, '... and its items are left');

# --- in every output of a run ---
my $file = spew('tenants.sql', slurp("$ENV{LB_SOURCE}/tests/strangers/urgent.sql") =~ s/claims: no/claims: no/r =~ s/id bigint PRIMARY KEY,/id bigint PRIMARY KEY, tenant varchar(20),/r
        =~ s/INSERT INTO job \(id, /INSERT INTO job (tenant, id, /r =~ s/VALUES \(/VALUES (:tenant, /r);
my @run = ('-s', $file, '-S', 'drain', '--backlog', 200, '--hold', 0, '--tenants', 'hot:0.8,small:9');
for my $case (['text', qr/^Waits of items\n.*^urgent .* tenant 0 .*^urgent .* others .*^urgent .* priority 9 /ms], ['markdown', qr/^### Waits of items\n\n.*\| tenant 0 \|.*\| priority 0 \|/ms]) {
    my ($format, $wanted) = @$case;
    (undef, $out, my $err) = lockbench('run', @run, '--format', $format, '--repeat', 2);
    like($out, $wanted, "run, $format: a row of each") or diag $err;
}
(undef, $out) = lockbench('run', @run, '--format', 'json');
my $tenants = decode_json($out)->{cells}[0]{runs}[0]{measures}{waits}{tenant};
is(sum(map { $_->{claimed} } @$tenants), 200, 'run, json: all items are of some tenant');
cmp_ok($tenants->[0]{claimed}, '>', 100, '... and most of the hot one');
(undef, $out) = lockbench('compare', @run, '--repeat', 2);
like($out, qr/^Waits of items\n/m, 'compare has the table, too') or diag $out;
(undef, $out) = lockbench('run', '-s', 'skip-locked,delete-on-claim', '-S', 'drain', '--backlog', 50);
unlike($out, qr/Waits of items/, 'items without attributes: no table');
done_testing();
