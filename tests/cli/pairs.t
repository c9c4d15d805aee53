#!/usr/bin/env perl
# Files that do the same and differ in words: one verdict, or the question which fact holds; never "held". A history says the
# same later, and a directive answers the question.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $folder = "$ENV{LB_SOURCE}/tests/pairs";
my $question = qr/line \d+: .*: write "-- \w+: \w+" or "-- \w+: \w+" into the header/;

# With a directive more.
sub with
{
    my ($name, $directive) = @_;
    my $text = slurp("$folder/$name.sql");
    $text =~ s/^(-- claims: .*)/$1\n-- $directive/m;
    return spew("$name.sql", $text);
}

# --- what is given back is never claimed again ---
my @back = ('-d', 'sqlite:', '-S', 'give-back', '--backlog', '40', '-q');
my ($status, $out, $err) = lockbench('run', '-s', "$folder/lossy-eq.sql", @back);
is($status, 1, 'run, no hint: violated');
($status, $out, $err) = lockbench('verify', '-s', "$folder/lossy-eq.sql", @back);
like($out, qr/^not ok \d+ - lossy-eq sqlite give-back no-loss$/m, 'verify, no hint: violated');

my $lt = "$folder/lossy-lt.sql";
my $kept = scratch() . "/lt";
($status, $out, $err) = lockbench('run', '-s', $lt, @back, '-o', $kept, '--keep-history');
is($status, 5, 'run, a hint at attempts: a question') or diag $out, $err;
like($out =~ s/\n\s+/ /gr, qr/no-loss: $question/, '... in the text');
unlike($out, qr/^lossy-lt +sqlite +held/m, '... and not held');
my ($history) = glob "$kept/*.lbh $kept/*/*.lbh";
($status, $out) = lockbench('check', $history);
is($status, 5, '... and by check of its history') or diag $out;
like($out =~ s/\n\s+/ /gr, qr/no-loss.*$question/, '... with the question');
($status, $out) = lockbench('run', '-s', $lt, @back, '--format', 'json');
my ($cell) = @{decode_json($out)->{cells}};
my $finding = $cell->{guarantees}{"no-loss"};
is("$cell->{verdict}, $finding->{verdict}", 'inconclusive, not tested', 'JSON: not tested');
like($finding->{reason}, qr/^$question$/, '... with the question');
($status, $out) = lockbench('run', '-s', $lt, @back, '--format', 'junit');
like($out, qr/no-loss.*\n?.*<skipped message="line \d+: an item may be tried /, 'JUnit: skipped, with the question');
($status, $out) = lockbench('verify', '-s', $lt, @back);
like($out, qr/^ok \d+ - lossy-lt sqlite give-back no-loss # SKIP $question$/m, 'TAP: SKIP, with the question');
is($status, 5, '... exit status');
($status) = lockbench('run', '-s', with('lossy-lt', 'attempts: unlimited'), @back);
is($status, 1, 'attempts: unlimited: violated');
($status, $out) = lockbench('run', '-s', with('lossy-lt', 'attempts: 1'), @back);
like($out, qr/no-loss: the items not claimed again had reached the attempt limit/, 'attempts: 1: the file says so, and it is not tested');

# --- a late release ends the successor's hold ---
my @late = ('-d', 'sqlite:', '--steps', 'clock', '-q');
for (['rel-plain', 1, qr/violated/], ['rel-audit', 5, qr/not tested: $question/]) {
    my ($name, $wanted, $verdict) = @$_;
    ($status, $out) = lockbench('explore', '-s', "$folder/$name.sql", @late);
    is($status, $wanted, "explore $name: exit status") or diag $out;
    like($out, qr/^ +owner-release +$verdict/m, '... and the verdict');
    ($status, $out) = lockbench('run', '-s', "$folder/$name.sql", '-d', 'sqlite:', '-S', 'overrun', '--duration', '2s', '-q');
    is($status, 1, "run $name: a third worker is let in") or diag $out;
    unlike($out, qr/^$name +sqlite +held/m, '... not held');
}
($status, $out) = lockbench('explore', '-s', with('rel-audit', 'rows: shared'), @late);
is($status, 1, 'rows: shared: violated');
($status, $out) = lockbench('lint', "$folder/rel-audit.sql", $lt);
like($out, qr/rel-audit\.sql:\d+: warning: a release may .* write "-- rows: own"/, 'lint asks before');
like($out, qr/lossy-lt\.sql:\d+: warning: an item may be tried .* write "-- attempts: 1"/, '... for each file');

# --- what is stated must be right ---
for (['lossy-lt', 'attempts: many', 'is neither a number from 1, nor unlimited'], ['lossy-lt', 'rows: own', 'rows: is for a lock'],
    ['rel-audit', 'rows: theirs', 'is neither own, nor shared'], ['rel-audit', "rows: own\n-- rows: own", 'given twice \(line 4\)']) {
    my ($name, $directive, $message) = @$_;
    ($status, $out, $err) = lockbench('lint', with($name, $directive));
    is($status, 2, "$directive: refused");
    like($err, qr/\.sql:\d+: .*$message/, '... with the line');
}

done_testing();
