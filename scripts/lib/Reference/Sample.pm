# Measures published cells once more, and plays published transcripts; reports every difference from
# the published result.
package Reference::Sample;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(shuffle);
use Reference::Cells;
use Reference::Files;
use Reference::Replay;
our @EXPORT = qw(sample replay_all);

my $cheap_s = 1;    # an exploration that took longer is nothing for a sample

sub uri_of
{
    my ($cell, $uris) = @_;
    my ($column) = grep { $_->{id} eq $cell->{column} } columns();
    return $column ? ($column, $uris->{ $column->{servers} }) : ();
}

# Explores again; returns the difference from the published result, '' if there is none.
sub again
{
    my ($run, $row, $column, $uri) = @_;
    my @command = ('explore', flags_of($row), asked_explored($run->{name}));
    push @command, '--isolation', $column->{isolation} if $column->{isolation} ne 'default';
    my ($status, $out, $err) = captured($ENV{LOCKBENCH}, @command, '--time', '10m', '-d', $uri, '-q', '--format', 'json');
    my $answer = eval { decoded($out) } or return "exit status $status: $err";
    return join ', ', map { "$_ is $answer->{verdicts}{$_}, and published as $run->{verdicts}{$_}" }
        grep { $answer->{verdicts}{$_} ne $run->{verdicts}{$_} } sort keys %{ $run->{verdicts} };
}

# N cells of the published data, another choice with another LB_TEST_SEED.
sub sample
{
    my ($n, $uris, $file) = @_;
    my %row = map { $_->{id} => $_ } rows();
    my @pieces;
    for my $cell (@{ published($file)->{cells} }) {
        my ($column, $uri) = uri_of($cell, $uris);
        next if !defined $uri || !$row{ $cell->{row} };
        push @pieces, map { [$cell, $_, $column, $uri] }
            grep { $_->{kind} eq 'explore' && $_->{complete} && $_->{seconds} <= $cheap_s } @{ $cell->{runs} // [] };
    }
    srand seed();
    @pieces = shuffle(@pieces);
    $#pieces = $n - 1 if @pieces > $n;
    my $wrong = 0;
    for my $piece (@pieces) {
        my ($cell, $run, $column, $uri) = @$piece;
        my $differs = again($run, $row{ $cell->{row} }, $column, $uri);
        $wrong++ if $differs ne '';
        print $differs eq '' ? 'as published' : 'NOT as published', ": $cell->{id}, $run->{name}", $differs eq '' ? '' : ": $differs", "\n";
    }
    print scalar(@pieces), " cells, $wrong not as published (LB_TEST_SEED=" . seed() . ")\n";
    return $wrong ? 4 : @pieces ? 0 : 5;
}

sub replay_all
{
    my ($how, $uris, $file) = @_;
    my ($n, $wrong) = (0, 0);
    for my $cell (grep { $_->{row} =~ $how->{rows} && $_->{column} =~ $how->{columns} } @{ published($file)->{cells} }) {
        my ($column, $uri) = uri_of($cell, $uris);
        next if !defined $uri;
        for my $transcript (grep { $_->{replays} } @{ $cell->{transcripts} // [] }) {
            my ($same, $differs) = replayed($transcript, $uri, $column->{via});
            $n++;
            $wrong++ if !$same;
            print $same ? 'as published' : 'NOT as published', ": $cell->{id}, @{$transcript->{violated}}", $same ? '' : ": $differs", "\n";
        }
    }
    print "$n transcripts, $wrong not as published\n";
    return $wrong ? 4 : $n ? 0 : 5;
}

1;
