#!/usr/bin/env perl
# The fault poison for programs: the queue of examples/programs/queue.py, with attempts that are counted at the claim, holds;
# the same with attempts that are counted when the work fails does not, as a killed process never counts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

plan skip_all => 'no python3 here' if system('python3 -c "import sqlite3" 2>/dev/null') != 0;
my $example = slurp("$ENV{LB_SOURCE}/examples/programs/queue.py");

# The example with a column attempts, which a claim looks at and changes by $at_claim, and a retry by $at_end.
sub program
{
    my ($name, $at_claim, $at_end) = @_;
    my $text = $example;
    my $change = sub { my ($from, $to) = @_; $text =~ s/\Q$from\E/$to/ or die "queue.py has no $from\n" };
    $change->('"strategy": "queue-py"', "\"strategy\": \"$name\", \"options\": {\"most\": \"3\"}, \"attempts\": \"most\"");
    $change->('"owner-release"]', '"owner-release", "attempts"]');
    $change->('"error", "free", "recover"]', '"retry", "recover"]');
    $change->('payload TEXT)', 'payload TEXT, attempts INTEGER NOT NULL DEFAULT 0)');
    $change->("SET state = 'taken',", "SET state = 'taken', attempts = attempts + $at_claim,");
    $change->("WHERE state = 'ready'", "WHERE state = 'ready' AND attempts < 3");
    $change->('    def recover(', "    def retry(self, request):\n        self.db.execute(\n            \"UPDATE job SET attempts = attempts + $at_end"
        . " WHERE id = ? AND owner = ? AND state = 'taken'\", (request[\"item\"], self.me))\n"
        . "        return self.end(request, \"ready\")\n\n    def recover(");
    my $path = spew("$name.py", $text);
    chmod 0755, $path;
    return $path;
}

my @poison = ('-d', 'sqlite:', '-S', 'poison', '--opt', 'start_ms=600000', '--opt', 'answer_ms=600000');
my ($right, $wrong) = (program('counted-at-claim', 1, 0), program('counted-at-end', 0, 1));
# A busy machine starts fewer interpreters than are killed.
my ($status, $out, $err) = until_shown(sub { $_[0] == 1 }, 'run', '-s', $wrong, @poison);
is($status, 1, 'a killed process does not count: violated') or diag "$out$err";
like($out =~ s/\s+/ /gr, qr/attempts, \d+ times? in \d+: item 5 was claimed \d+ times/, '... attempts, of the item that kills');
unlike($out, qr/^  (no-loss|no-duplicate|owner-release), /m, '... and nothing else');
($status, $out, $err) = until_shown(sub { $_[0] == 1 || $_[1] !~ /not tested: [^\n]*attempts/ }, 'run', '-s', $right, @poison);
is($status, 0, 'counted at the claim: held') or diag "$out$err";
like($out, qr/^counted-at-claim +sqlite +poison +[1-9]\d* +0 +[1-3] /m, '... and one item has killed twice at most') or diag $out;

($status, $out) = lockbench('verify', '-s', $right, '-d', 'sqlite:', '--plan');
like($out, qr/ poison .*it limits the attempts/, 'verify asks for it');
($status, $out) = lockbench('verify', '-s', "$ENV{LB_SOURCE}/examples/programs/queue.py", '-d', 'sqlite:', '--plan');
unlike($out, qr/poison/, '... not of a program without attempts');

# --- bad input: one line, status 2 ---
for my $case (
    ['claims attempts alone', $right, sub { s/, "attempts": "most"// }, qr/"attempts" must name one of its options/],
    ['an option that is not there', $right, sub { s/"attempts": "most"/"attempts": "least"/ }, qr/"attempts" must name one of its options/],
    ['a default that is no number', $right, sub { s/"most": "3"/"most": "many"/ }, qr/option most must be a number from 1/],
    )
{
    my ($what, $from, $how, $pattern) = @$case;
    local $_ = slurp($from);
    $how->();
    my $path = spew('bad.py', $_);
    chmod 0755, $path;
    my ($status, $out, $err) = lockbench('lint', $path);
    is($status, 2, $what) or diag "$out$err";
    like($err, $pattern, '... and the reason');
}
($status, $out, $err) = lockbench('run', '-s', $right, @poison, '--opt', 'most=0');
is($status, 2, 'no attempt') or diag "$out$err";
like($err, qr/option most must be a number from 1/, '... and the reason');

# --- two versions ---
($status, $out, $err) = lockbench('run', '-s', $right, '--with', $wrong, '-d', 'sqlite:');
is($status, 2, 'two versions of a program');
like($err, qr/--with: .*program/, '... are refused with the reason');

done_testing();
