#!/usr/bin/env perl
# The conclusion of scripts/quickstart: its words about a comparison, and its exit status.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $script = "$ENV{LB_SOURCE}/scripts/lib/conclusion.pl";

sub conclusion
{
    my ($json) = @_;
    my $out = `perl '$script' '$json' 2>&1`;
    return ($? >> 8, $out);
}

# A cell: strategy on engine, scenario, verdict, successes/s, guarantees as "exclusive=caught".
sub cell
{
    my ($name, $engine, $scenario, $verdict, $rate, %more) = @_;
    my %guarantees = map { my ($g, $e) = split /=/; ($g => {verdict => $e =~ /caught|broken/ ? 'violated' : 'held', expectation => $e}) }
        @{$more{guarantees} // []};
    return {strategy => $name, engine => $engine, scenario => $scenario, verdict => $verdict, shape => $more{shape} // 'lock',
        options => $more{options} // {}, guarantees => \%guarantees, summary => {successes_per_s => $rate}};
}
sub stored { return spew('result.json', encode_json({cells => [@_]})) }

my @cells = (
    cell('line', 'sqlite', 'mutex-hot', 'held', 900, guarantees => ['exclusive=kept']),
    cell('line', 'postgres', 'mutex-hot', 'violated', 12000, guarantees => ['exclusive=caught', 'fifo=caught']),
    cell('session', 'sqlite', 'mutex-hot', 'skipped', undef),
    cell('session', 'postgres', 'mutex-hot', 'held', 11000, guarantees => ['exclusive=kept']),
    cell('session[pooled=yes]', 'postgres', 'pooled', 'violated', 1, guarantees => ['exclusive=caught'], options => {pooled => 'yes'}),
    cell('session[pooled=yes]', 'sqlite', 'pooled', 'held', 1, guarantees => ['exclusive=kept'], options => {pooled => 'yes'}),
    cell('steady-lock', 'sqlite', 'mutex-hot', 'held', 300, guarantees => ['exclusive=kept']),
    cell('steady-lock', 'postgres', 'mutex-hot', 'held', 500, guarantees => ['exclusive=kept']),
    cell('busy-lock', 'postgres', 'mutex-hot', 'inconclusive', 20000, guarantees => ['exclusive=not tested']),
    cell('jobs', 'postgres', 'drain', 'held', 700, shape => 'queue', guarantees => ['no-loss=kept']),
);
my ($status, $out) = conclusion(stored(@cells));
is($status, 0, 'known faults alone: exit status 0');
is($out, <<'END', 'what it says');

In short, from one run of each on sqlite and postgres:
  Broken, as expected (known faults of published protocols):
    line (postgres: exclusive fifo), session[pooled=yes] (postgres: exclusive)
  Held: session, steady-lock, jobs
  Without a verdict: busy-lock on postgres (inconclusive)
  Fastest lock that held, in mutex-hot: line on sqlite (900/s),
    session on postgres (11.0k/s)
  Fastest queue that held, in drain: jobs on postgres (700/s)
END

push @cells, cell('steady-lock', 'postgres', 'dead-holder', 'violated', 3, guarantees => ['exclusive=broken']);
($status, $out) = conclusion(stored(@cells));
is($status, 1, 'a fault that is not known: exit status 1');
like($out, qr/^  BROKEN, AND NOT EXPECTED: steady-lock \(postgres: exclusive\)$/m, '... and it is named');
like($out, qr/^  Held: session, jobs$/m, '... and not among those that held');

# A stored result has these fields.
my $json = scratch() . '/real.json';
my @short = ('--repeat', '1', '--duration', '100ms', '--warmup', '0', '-q', '--format', "json:$json");
my ($ran, undef, $err) = until_shown(sub { return $_[0] == 1 }, 'compare', '-d', 'sqlite:', '-s', 'none,lock-row,cas', '--published', @short);
is($ran, 1, 'a comparison with a broken protocol') or diag $err;
($status, $out) = conclusion($json);
is($status, 0, 'its faults are known') or diag $out;
unlike($out, qr/^.{81}/m, 'no line is wider than 80 columns');
my ($next) = slurp("$ENV{LB_SOURCE}/scripts/quickstart") =~ /^cat <<END\n(.*?)^END$/ms;
unlike($next, qr/^.{82}/m, 'nor a command that it names'); # one $ of each line is escaped
done_testing();
