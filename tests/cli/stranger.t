#!/usr/bin/env perl
# A protocol that lockbench has never seen: plain `verify -s FILE -d URI` finds what is wrong with it, and nothing
# where nothing is. The files in tests/strangers are written as users bring them; truth.tsv says what is known.
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

# --- the plan ---
my ($status, $out, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan');
is($status, 0, '--plan: exit status') or diag $err;
like($out, qr/^  limit  timeout_ms, inferred from line 38; 1800000 ms by default/m, 'the limit, and where it was found');
like($out, qr/^ +\d+ explore  /m, 'explored');
like($out, qr/^ +\d+ queue-rescue .* what ends a claim asks for no holder$/m, 'recovery, with its reason');
unlike($out, qr/overrun/, 'no lease: nothing about leases');
my ($seconds) = $out =~ /at most (\d+) s of 60 s/;
cmp_ok($seconds // 99, '<=', 60, 'within the budget');
(undef, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan', '--budget', '3s');
like($out, qr/^   - \S+ +left out: does not fit into 3 s: --budget 10m asks it too$/m, 'what does not fit is told');
for my $flags (['-S', 'drain'], ['--faults', 'kill'], ['--workers', '3'], ['--matrix']) {
    ($status, undef, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '--plan', @$flags);
    is($status, 2, "--plan with @$flags: refused");
    like($err, qr/option --plan: is for strategies in files/, '... in words');
}
($status, undef, $err) = lockbench('verify', '-s', "$folder/plainjob.sql", '--budget', '0');
is($status, 2, 'a budget of nothing is refused');

# --- the words ---
($status, $out) = lockbench('verify', '-s', "$folder/plainjob.sql", '-d', 'sqlite:', '-q');
like($out, qr/^# limit of recover: timeout_ms, inferred from line 38/m, 'the plan in short');
# It breaks owner-release as well, in most runs: once in some thirty items.
my ($words) = $out =~ /^# plainjob on sqlite breaks no-duplicate:\n((?:#   .*\n)+)/m;
like($words // '', qr/without having been given back.*\n#   \S+plainjob\.sql:28: SELECT id, payload .*\n#   \S+plainjob\.sql:38: /,
    'what happened, and the lines that allow it');
like($words // '', qr/^#   to change: let recover go by the time of the claim/m, 'what to change');
my ($command) = ($words // '') =~ /^#   shown by: lockbench (.*)$/m;
like($out, qr/^# plainjob on sqlite: \d guarantees? broken in \d+ s: \d+ schedules explored/m, 'and what was looked for');
like($command // '', qr/^(?:run|explore) -s \S+plainjob\.sql -d sqlite: /, 'the command that shows it alone');
my $again = `$ENV{LOCKBENCH} $command 2>&1`;
is($? >> 8, 1, '... which does') or diag $command, $again;
is(() = $out =~ /no bound was given/g, 0, 'no SKIP for want of a bound');

my $unclear = slurp("$folder/plainjob.sql");
$unclear =~ s/bounded-claim, /bounded-claim, fifo, /;
$unclear =~ s/^-- name: teardown/-- name: renew [sqlite]\nUPDATE work SET put_at = put_at WHERE id = :id;\n\n-- name: teardown/m;
(undef, $out) = lockbench('verify', '-s', spew('unclear.sql', $unclear), '-d', 'sqlite:', '-q', '--budget', '2s', '--no-explore');
like($out, qr/^(?:not )?ok \d+ - plainjob sqlite \S+ $_\b/m, "$_ is claimed, and has a line")
    for qw(no-duplicate no-loss bounded-claim fifo owner-release recovery);

# --- the truth ---
my @todo = map { [split /\t/] } grep { !/^file\t/ } split /\n/, slurp("$folder/truth.tsv");
# Right files take the longest, as all is asked of them: most of them only in a soak.
@todo = grep { $_->[3] ne 'right' || $_->[0] =~ /^(?:copy|pgmq|pruned|rescue)/ } @todo if !$ENV{LB_TEST_SOAK};
while (my @few = splice @todo, 0, 5) { # five at a time: most of it is waiting
    my @under_way;
    for my $row (@few) {
        my ($file, $engine, $options) = @$row;
        my @options = $options eq '-' ? () : split / /, $options;
        push @under_way, [@$row, !defined $uri{$engine} ? undef
                : start('verify', '-s', "$folder/$file", @options, '-d', $uri{$engine}, '-q')];
    }
    for my $row (@under_way) {
        my ($file, $engine, $options, $truth, $guarantees, $run) = @$row;
        my $what = "$file $options";
      SKIP: {
            skip "$what: no $engine server", 2 if !defined $run;
            ($status, $out, $err) = finish($run);
            is($status, { right => 0, broken => 1, refused => 2 }->{$truth}, "$what: $truth") or diag $out, $err;
            my $named = join '|', split /,/, $guarantees;
            if ($truth eq 'broken') {
                like($out, qr/^not ok \d+ - \S+ \S+ .* ($named)$/m, "$what: by the right guarantee");
            } else {
                unlike($out, qr/^not ok/m, "$what: nothing is accused");
            }
        }
    }
}

done_testing();
