# Transcripts that are written by hand, in results/reference/transcripts: violations that an
# exploration on one server does not show, since they need a pooler, several nodes, planner
# statistics, or a lease that ends during a wait. Each is played with the client program before it
# is published, like the others.
#
# The form: "rows:", "columns:" (how the ids begin), "violated:", "words:" and, on several nodes, "nodes:" (of each session,
# from 1); then "--- setup" and its statements, and "--- A" or "--- A: what it means" for each step
# of session A. Each statement ends with a semicolon at the end of a line; its answer follows, after
# "-> ": values, "N changed", "waits", or "goes on: VALUES" of a statement that has waited.
package Reference::Written;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(max);
use Reference::Files;
our @EXPORT = qw(written_for);

# Statements and answers of one step.
sub acts_of
{
    my ($path, $text) = @_;
    my @acts;
    while ($text =~ /\G(?:-> (.*)\n|((?:(?!-> ).*\n)*?.*;)\n|\n)/gc) {
        my ($answer, $sql) = ($1, $2);
        if (defined $sql) {
            push @acts, { sql => $sql =~ s/;\z//r, answer => 'ok', rows => -1, changed => -1, result => '', late => JSON::PP::false };
            next;
        }
        next if !defined $answer;
        if ($answer =~ s/^goes on: //) { push @acts, { sql => '', answer => 'ok', rows => -1, changed => -1, late => JSON::PP::true, result => $answer } }
        elsif (!@acts) { die "$path: an answer without a statement: $answer\n" }
        elsif ($answer eq 'waits') { $acts[-1]{answer} = 'blocked' }
        elsif ($answer =~ /^(\d+) changed$/) { $acts[-1]{changed} = 0 + $1 }
        else { $acts[-1]{result} = $answer }
    }
    die "$path: not a statement: " . substr($text, pos($text) // 0, 60) . "\n" if (pos($text) // 0) < length $text;
    return \@acts;
}

sub read_one
{
    my ($path) = @_;
    my ($head, @parts) = split /^--- /m, slurp($path);
    my %of = $head =~ /^(\w+): (.*)$/mg;
    for my $key (qw(rows columns violated words)) { die "$path: no $key\n" if !defined $of{$key} }
    my $setup = @parts && $parts[0] =~ s/^setup\n// ? shift @parts : '';
    my (@steps, %last);
    for my $part (@parts) {
        $part =~ s/^([A-C])(?:: (.*))?\n// or die "$path: not a step: $part\n";
        my ($session, $note) = (ord($1) - ord 'A', $2 // '');
        my $acts = acts_of($path, $part);
        for my $act (@$acts) {    # what goes on is the statement that waited
            if ($act->{late}) { $act->{sql} = $last{$session}{sql} // die "$path: nothing waits\n" }
            $last{$session} = $act;
        }
        push @steps, { step => 1 + @steps, session => $session, note => $note, death => JSON::PP::false, acts => $acts };
    }
    my $transcript = {
        violated => [split /, */, $of{violated}], words => $of{words}, schedule => '', setup => $setup, opening => '',
        sessions => 1 + max(map { $_->{session} } @steps), steps => \@steps,
        $of{nodes} ? (nodes => [map { 0 + $_ } split / /, $of{nodes}]) : (),
    };
    return { path => $path, rows => [split /, */, $of{rows}], columns => $of{columns}, transcript => $transcript };
}

my @all;

# Those of a cell.
sub written_for
{
    my ($row, $column) = @_;
    @all = map { read_one($_) } sort glob top() . '/results/reference/transcripts/*.txt' if !@all;
    return map { $_->{transcript} }
        grep { index($column->{id}, $_->{columns}) == 0 && grep { $_ eq $row->{id} } @{ $_->{rows} } } @all;
}

1;
