#!/usr/bin/env perl
# Three limits of one job a customer, each with a broken twin (tests/strangers/one-a-key.sql), and the turns of tenants
# (tests/strangers/tenants.sql), and jobs of dead workers that block other keys (tests/strangers/strict-fifo.sql).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/strangers";
my @uris = grep { length } split /\n/, $ENV{LB_TEST_URIS} // '';

# --- limits: every order of two workers' statements; a place that is given back twice needs a rescuer ---
my @rescued = ('--items', 2, '--rounds', 2, '--rescuers', 1, '--steps', 'clock', '--preemptions', 1, '--time', '5s');
for my $uri (grep { /^postgres/ } @uris) {
    for my $case (['exists', 0], ['exists-blind', 1], ['advisory', 0], ['advisory-blind', 1], ['slot', 0], ['slot-any', 1, @rescued]) {
        my ($take, $wanted, @more) = @$case;
        my ($status, $out) = lockbench('explore', '-s', "$folder/one-a-key.sql", '-d', $uri, '--opt', "take=$take", '-q', @more);
        is($status, $wanted, "one-a-key, take=$take: " . ($wanted ? 'violated' : 'held')) or diag $out;
        like($out, $wanted ? qr/^  key-limit +violated/m : qr/^  complete.*^  key-limit +held/ms, '... as the verdict says');
    }
}

# --- keys of dead workers: their items wait, which is no loss, and those of no other key do (pg-boss PR #871) ---
my @killed = ('-S', 'drain', '--backlog', 200, '--keys', 20, '--hold', '20ms', '--fault', 'kill', '--fault-count', 3, '--duration', '3s', '--recover', 0,
    '--recovery-bound', '1m', '--progress-bound', 0);
for my $uri ('sqlite:', grep { /^postgres/ } @uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    # A worker must die while it has an item: its holds are nearly all of its time.
    my @command = ('run', '-s', "$folder/strict-fifo.sql", '-d', $uri, '-q', @killed);
    my $waits = qr/no-loss: an\s+unclaimed\s+item\s+waits\s+for\s+its\s+group\s+or\s+key/;
    my ($status, $out) = until_shown(sub { $_[0] != 0 || $_[1] =~ $waits }, @command);
    is($status, 0, "$engine: the oldest job of each free key is taken: no violation") or diag $out;
    like($out, $waits, '... and items of the blocked keys wait');
    ($status, $out) = until_shown(sub { $_[0] == 1 }, @command, '--opt', 'take=head');
    is($status, 1, "$engine: the oldest job of all is taken, or none: violated") or diag $out;
    like($out, qr/VIOLATED no-loss/, '... as items of free keys are not claimable');
}
# Nothing is recovered: the items of the dead wait for as long as the queue is drained, however slow the machine is.
for (['1m', 0], [0, 1]) {
    my ($bound, $wanted) = @$_;
    my ($status, $out, $err) = until_shown(sub { $_[0] == $wanted && $_[1] =~ /\bstuck\b/ }, 'run', '-s', "$folder/strict-fifo.sql", '-d', 'sqlite:', '-q',
        @killed, '--hold', '60ms', '--recovery-bound', $bound, '--ttl', '30s');
    is($status, $wanted, "a slow drain, recovery bound $bound: " . ($wanted ? 'items that are stuck are accused' : 'nothing is accused')) or diag $out, $err;
}
my (undef, $plan) = lockbench('verify', '-s', "$folder/strict-fifo.sql", '--plan');
like($plan, qr/keys blocked .*keys of dead workers block no other key/, 'verify asks for it');

# --- tenants: one has 80 % of the jobs. The guarantee share, and the figure beside it ---
for my $uri ('sqlite:', grep { /^postgres/ } @uris) {
    my ($engine) = $uri =~ /^(\w+)/;
    my %served;
    for my $take ('turns', 'oldest', 'aged', 'named') {
        my ($status, $out, $err) = lockbench('run', '-s', "$folder/tenants.sql", '-d', $uri, '-S', 'drain', '--backlog', 2000, '--hold', 0, '--workers', 4,
            '--tenants', 'hot:0.8,small:4', '--opt', "take=$take", '--format', 'json');
        my $wanted = $take eq 'turns' ? 0 : 1;
        is($status, $wanted, "$engine, take=$take: " . ($wanted ? 'violated' : 'not violated')) or diag "$out$err";
        my $cell = decode_json($out)->{cells}[0];
        my ($hot) = grep { $_->{name} eq 'tenant 0' } @{ $cell->{runs}[0]{measures}{waits}{tenant} };
        $served{$take} = $hot->{served}{value};
        next if !$wanted;
        is($cell->{guarantees}{share}{verdict}, 'violated', '... by its share');
        like($cell->{guarantees}{share}{witnesses}[0]{text}, qr/^tenant [1-4] was served at most 0\.\d+ of its fair share: \d+ of 2000 claims, and .* the bound is 0\.50/, '... in words')
            or diag $out;
    }
    cmp_ok($served{turns}, '<', 1.3, "$engine: who goes round the tenants serves the hot one its fair share");
    cmp_ok($served{oldest}, '>', 2, '... and who takes the oldest serves it far more');
}
my @turns = ('run', '-s', "$folder/tenants.sql", '-S', 'drain', '--hold', 0, '--tenants', 'hot:0.8,small:4', '-q');
for my $case (
    ['one worker goes round', 0, qr/^tenants +sqlite +held(?!.*not tested)/ms, '--backlog', 2000, '--workers', 1],
    ['... with the largest bound', 0, qr/share: there were too few claims to tell the share of each tenant from\s+the\s+bound/, '--backlog', 2000, '--workers', 1, '--opt', 'part=1'],
    ['... with few items', 0, qr/share: some tenants did not have work for as many claims/, '--backlog', 50],
    ) {
    my ($name, $wanted, $words, @more) = @$case;
    my ($status, $out) = lockbench(@turns, @more);
    is($status, $wanted, "share: $name");
    like($out, $words, '... in words') or diag $out;
}
# A small bound: in order of the puts each small tenant is served a quarter of its fair share where the hot one has 80 %.
my @small = map { start('verify', '-s', "$folder/tenants.sql", '-d', 'sqlite:', '-q', '--opt', 'part=0.2', '--opt', "take=$_") } 'oldest', 'turns';
(undef, my $found) = finish($small[0]);
like($found, qr/^not ok \d+ - tenants sqlite small shares share$/m, 'a bound of 0.2: the oldest first is violated where the hot one has 95 %') or diag $found;
(undef, my $passed) = finish($small[1]);
like($passed, qr/^ok \d+ - tenants sqlite small shares no-loss$/m, '... and the tenants in turn') or diag $passed;
unlike($passed, qr/^not ok/m, '... are not accused') or diag $passed;
for my $part ('0', '1.5', 'half', undef) {
    (my $changed = slurp("$folder/tenants.sql")) =~ s/^-- share: .*\n/defined $part ? "-- share: $part\n" : ''/me;
    my ($status, undef, $err) = lockbench('verify', '--plan', '-s', spew('tenants.sql', $changed));
    is($status, 2, '-- share: ' . ($part // 'missing'));
    like($err, qr/share: write "-- share: P"/, '... in one line');
}
(undef, $plan) = lockbench('verify', '-s', "$folder/tenants.sql", '--plan');
like($plan, qr/shares .*claims share: most items/, 'verify asks for it');
done_testing();
