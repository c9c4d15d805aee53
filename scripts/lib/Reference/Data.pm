# Puts the answers of `run` together into the file that is published: docs are in results/reference/README.md, its form
# in results/reference/schema.json.
package Reference::Data;
use strict;
use warnings;
use Exporter 'import';
use POSIX qw(strftime);
use Reference::Cells;
use Reference::Files;
use Reference::Transcript;
our @EXPORT = qw(publish);

my %why_not = (
    cluster => 'not run yet; to run it: scripts/servers start galera, and scripts/reference run with its URI',
    failover => 'not run yet; to run it: scripts/servers start pg-pair pg-pair-sync, and scripts/reference run --servers',
    map({ $_ => 'not run yet; to run it: scripts/reference run with the URI of such a server' } qw(pooler direct fault cost aged)),
);

sub reason_of { my ($words) = @_; return $words =~ s/^lockbench: //r =~ s/\n.*//sr =~ s{^results/reference/}{}r =~ s{/(?:tmp|root|home|work)/\S*}{...}gr }

sub verdicts_of { my ($of) = @_; return { map { $_ => $of->{$_}{verdict} } keys %$of } }

# One line about a run.
sub run_of
{
    my ($kind, $name, $said) = @_;
    my $answer = $said->{answer};
    my %run = (kind => $kind, name => $name, command => $said->{command}, seconds => 0 + $said->{seconds}, date => $said->{date});
    if ($kind eq 'explore') {
        $run{schedules} = $answer->{schedules};
        $run{complete} = $answer->{complete};
        $run{bounds} = $answer->{bounds};
        $run{verdicts} = { map { $_ => $answer->{verdicts}{$_} } grep { $answer->{verdicts}{$_} ne 'not claimed' } keys %{ $answer->{verdicts} } };
    } elsif ($kind eq 'stress') {
        $run{scenarios} = [map { {
            name => $_->{scenario}, runs => $_->{runs}, seconds => sprintf('%.1f', $_->{seconds}) + 0,
            verdicts => verdicts_of($_->{guarantees}), $_->{faults} ? (faults => $_->{faults}) : (),
        } } @{ $answer->{cells} }];
    }
    return \%run;
}

# Each guarantee, from all that was run: a violation of one piece is one of the cell; held was held by one at least.
sub judged
{
    my ($explored, $stressed, $transcripts) = @_;
    my %verdict;
    for my $said (@$explored) {
        my $answer = $said->{answer};
        for my $name (keys %{ $answer->{verdicts} }) {
            my $says = $answer->{verdicts}{$name};
            next if $says eq 'not claimed';
            my $one = $verdict{$name} //= { verdict => 'not tested', reason => 'no exploration came to its end, and no run has shown it' };
            if ($says eq 'violated') {
                my ($best) = sort { $b->{replays} <=> $a->{replays} || @{ $a->{steps} } <=> @{ $b->{steps} } }
                    grep { my $t = $_; grep { $_ eq $name } @{ $t->{violated} } } @{ $said->{transcripts} };
                if (!$best) { $one->{reason} = 'a violation was seen once, and not confirmed'; next }
                my $there = defined $one->{transcript} ? $transcripts->[$one->{transcript}] : undef;
                next if $there && ($there->{replays} > $best->{replays} || @{ $there->{steps} } <= @{ $best->{steps} });
                my ($at) = grep { $transcripts->[$_] == $best } 0 .. $#$transcripts;
                if (!defined $at) { push @$transcripts, $best; $at = $#$transcripts }
                $one = $verdict{$name} = { verdict => 'violated', transcript => $at, witness => $best->{words} };
            }
            elsif ($says eq 'held' && $answer->{complete} && $one->{verdict} eq 'not tested') {
                $verdict{$name} = { verdict => 'held' };
            }
        }
    }
    for my $cell (map { @{ $_->{answer}{cells} } } @$stressed) {
        for my $name (keys %{ $cell->{guarantees} }) {
            my $says = $cell->{guarantees}{$name};
            my $one = $verdict{$name} //= { verdict => 'not tested', reason => $says->{reason} // $cell->{reason} // 'no run has shown it' };
            if ($says->{verdict} eq 'violated') {
                $one = $verdict{$name} = { verdict => 'violated', witness => $says->{witness} } if $one->{verdict} ne 'violated';
                $one->{stressed} //= "$cell->{scenario}: $says->{violations} of $says->{tested}: " . ($says->{witness} // '');
            }
            elsif ($says->{verdict} eq 'held' && $one->{verdict} eq 'not tested') {
                $verdict{$name} = { verdict => 'held' };
            }
        }
    }
    return \%verdict;
}

# The cost of one operation: the figures of `run --costs` that do not depend on the machine's load.
my @costs = qw(statements wal_bytes rows_read dead_rows);

sub cost_cell
{
    my ($cell, $said) = @_;
    my $answer = $said->{answer};
    my %cost = map { defined $answer->{costs}{$_} ? ($_ => sprintf('%.1f', $answer->{costs}{$_}) + 0) : () } @costs;
    my $words = $said->{error} ne '' ? $said->{error} : $answer->{reason} // 'this server does not count it';
    return { %$cell, verdict => 'skip', reason => reason_of($words) } if !%cost;
    return { %$cell, verdict => 'measured', cost => \%cost, date => $said->{date}, runs => [run_of('cost', 'one worker', $said)] };
}

# What a claim reads beside many other items: {state => {claim, grows, unit} or {reason}}.
sub aged_cell
{
    my ($cell, $said) = @_;
    my $aged = $said->{answer}{aged} // {};
    my ($why) = grep { defined } map { $aged->{$_}{reason} } qw(finished delayed dead);
    return { %$cell, verdict => 'skip', reason => reason_of($said->{error} ne '' ? $said->{error} : $why // 'nothing was measured') }
        if !grep { defined $_->{claim} } values %$aged;
    return { %$cell, verdict => 'measured', aged => $aged, date => $said->{date}, runs => [run_of('aged', 'one claim', $said)] };
}

# Under a fault, a run that ended before the first one has tested nothing of it.
sub unfaulted
{
    my ($column, $said) = @_;
    return $column->{fault} ne '' && !grep { $_->{faults} } @{ $said->{answer}{cells} };
}

sub cell_of
{
    my ($work, $row, $column) = @_;
    my $dir = "$work/$row->{id}/" . $column->{id} =~ s{/}{,}r;
    my (@explored, @stressed, @runs, $version, $words);
    my $why = unasked($row, $column);
    return { id => "$row->{id}/$column->{id}", row => $row->{id}, column => $column->{id}, verdict => 'skip', reason => $why } if $why ne '';
    for my $path (sort glob "'$dir'/*.json") {
        my ($kind, $name) = $path =~ m{/(explore|stress|cost|aged)(?:-(\w+))?\.json$} or next;
        my $said = decoded(slurp($path));
        $version //= $said->{version};
        return cost_cell({ id => "$row->{id}/$column->{id}", row => $row->{id}, column => $column->{id}, version => $version }, $said)
            if $kind eq 'cost';
        return aged_cell({ id => "$row->{id}/$column->{id}", row => $row->{id}, column => $column->{id}, version => $version }, $said)
            if $kind eq 'aged';
        if (!$said->{answer} || ($kind eq 'stress' && !@{ $said->{answer}{cells} })) {
            $words //= $said->{error} if $said->{error} ne '';
            next;
        }
        if ($kind eq 'stress' && unfaulted($column, $said)) {
            my ($skipped) = grep { defined && length } map { $_->{reason} } @{ $said->{answer}{cells} };
            $words //= $skipped // "no $column->{fault} fell before the work was done";
            next;
        }
        $_->{words} = words_of($_->{words}) for @{ $said->{transcripts} // [] };
        push @{ $kind eq 'explore' ? \@explored : \@stressed }, $said;
        push @runs, run_of($kind, $name // $row->{stressed}, $said);
    }
    my %cell = (id => "$row->{id}/$column->{id}", row => $row->{id}, column => $column->{id});
    $cell{version} = $version if defined $version;
    my @transcripts;
    my $verdicts = judged(\@explored, \@stressed, \@transcripts);
    my %is = map { $_->{verdict} => 1 } values %$verdicts;
    if (!$is{violated} && !$is{held}) {
        my ($first) = map { $_->{reason} } values %$verdicts;
        my ($skipped) = map { $_->{reason} // () } map { @{ $_->{answer}{cells} } } @stressed;
        return { %cell, verdict => 'skip', reason => reason_of($words // $skipped // $first // $why_not{ $column->{via} }) };
    }
    $cell{verdict} = $is{violated} ? 'violated' : 'held';
    $cell{date} = (sort map { $_->{date} } @runs)[-1];
    return { %cell, guarantees => $verdicts, runs => \@runs, transcripts => \@transcripts };
}

# A cell with the transcripts that were played for it, where it has none of its own.
sub with_played
{
    my ($work, $cell) = @_;
    my $path = "$work/$cell->{row}/" . $cell->{column} =~ s{/}{,}r . '/played.json';
    return $cell if $cell->{verdict} ne 'violated' || !-e $path;
    my @played = grep { $_->{replays} } @{ decoded(slurp($path))->{transcripts} };
    for my $name (sort keys %{ $cell->{guarantees} }) {
        my $one = $cell->{guarantees}{$name};
        next if $one->{verdict} ne 'violated' || (defined $one->{transcript} && $cell->{transcripts}[$one->{transcript}]{replays});
        my ($best) = sort { @{ $a->{steps} } <=> @{ $b->{steps} } } grep { my $t = $_; grep { $_ eq $name } @{ $t->{violated} } } @played;
        next if !$best;
        my ($at) = grep { $cell->{transcripts}[$_] == $best } 0 .. $#{ $cell->{transcripts} };
        if (!defined $at) { push @{ $cell->{transcripts} }, $best; $at = $#{ $cell->{transcripts} } }
        $one->{transcript} = $at;
        $one->{witness} = $best->{words};    # what was seen under load stays in `stressed`
    }
    return $cell;
}

# Earlier published results, by the id of the cell, unless it is empty.
sub earlier
{
    my ($path) = @_;
    my $before = eval { published($path) } or return {};
    return { map { $_->{id} => $_ } grep { defined $_->{version} } @{ $before->{cells} } };
}

sub versions_of
{
    my ($cells) = @_;
    my %version;
    $version{ $_->{column} } //= $_->{version} for grep { defined $_->{version} } @$cells;
    return \%version;
}

sub publish
{
    my ($work, $path, $before) = @_;
    $path //= top() . '/results/reference/' . strftime('%Y-%m-%d', gmtime) . '.json';
    my ($status, $listed) = captured($ENV{LOCKBENCH}, 'list', '--format', 'json');
    my %about = $status == 0 ? map { $_->{strategy} => $_ } @{ decoded($listed)->{strategies} } : ();
    my ($version) = (captured($ENV{LOCKBENCH}, '--version'))[1] =~ /(\d+\.\d+\.\d+)/;
    my @rows = map { my %row = %$_; $row{title} ||= $about{ $row{strategy} }{summary} // $row{id}; delete $row{$_} for qw(explored stressed levels); \%row } rows();
    # Without an answer in the folder the one that was published stays, with its date.
    my $earlier = earlier($before);
    my @cells = map { my $row = $_; map { my $cell = cell_of($work, $row, $_); with_played($work, defined $cell->{version} ? $cell : $earlier->{ $cell->{id} } // $cell) } columns() } rows();
    my $versions = versions_of(\@cells);
    my @columns = map { { %$_, version => $versions->{ $_->{id} } } } columns();
    my $lines = sub { return "[\n" . join(",\n", map { encoded($_) } @_) . "\n]" };
    my $head = encoded({ schema => 'lockbench-reference', schema_version => 1, date => strftime('%Y-%m-%d', gmtime), lockbench => $version // 'unknown', seed => 0 + seed() });
    $head =~ s/\}\z//;
    spew($path, "$head,\n\"rows\": " . $lines->(@rows) . ",\n\"columns\": " . $lines->(@columns) . ",\n\"cells\": " . $lines->(@cells) . "}\n");
    my %n;
    $n{ $_->{verdict} }++ for @cells;
    my @transcripts = map { @{ $_->{transcripts} // [] } } @cells;
    said("$path: " . @rows . ' rows, ' . @columns . ' columns; ' . join(', ', map { "$n{$_} $_" } sort keys %n)
        . '; ' . @transcripts . ' transcripts, of which ' . grep({ $_->{replays} } @transcripts) . ' run in the client programs');
    return 0;
}

1;
