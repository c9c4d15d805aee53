# Runs what a cell is asked, one piece after the other, and keeps each answer in a file of its own: who is interrupted
# goes on where he was. An answer that is there is not asked for again.
package Reference::Cells;
use strict;
use warnings;
use Exporter 'import';
use POSIX qw(strftime);
use Reference::Files;
use Reference::Replay;
use Reference::Transcript;
our @EXPORT = qw(run_cells is_of asked_explored flags_of uris_of version_of);

# What is explored, beside two workers with one round each.
my %explored = (
    plain => [],
    clock => [qw(--steps clock)],
    crash => ['--steps', 'clock,crash'],
    clock1 => [qw(--steps clock --items 1)],
    rescue => [qw(--rescuers 1 --items 1 --steps clock --preemptions 2)],
    renew => [qw(--renewals 1 --steps clock)],
    renew1 => [qw(--renewals 1 --steps clock --items 1)],
    twice => [qw(--rounds 2)],
);

sub asked_explored { my ($name) = @_; return @{ $explored{$name} // die "rows.tsv: nothing is explored as '$name'\n" } }

# Strategy and options, as lockbench takes them from the top of the tree.
sub flags_of
{
    my ($row) = @_;
    my $path = $row->{strategy} =~ /\.sql$/ ? "results/reference/$row->{strategy}" : $row->{strategy};
    1 while $path =~ s{[^/]+/\.\./}{};
    return ('-s', $path, map { ('--opt', $_) } split ' ', $row->{options});
}

# URIs by kind of server: {postgres => URI, ...}, of "kind=URI" words.
sub uris_of { return { sqlite => 'sqlite:', map { /^([\w-]+)=(.+)$/ ? ($1 => $2) : die "not KIND=URI: $_\n" } @_ } }

sub version_of
{
    my ($uri) = @_;
    my @ask = $uri =~ /^sqlite/ ? ('sqlite3', ':memory:', 'SELECT sqlite_version()')
        : $uri =~ /^postgres/ ? ('psql', '-XAtqc', 'SHOW server_version', $uri)
        : (Reference::Replay::command_of($uri, ''), '--execute=SELECT VERSION()');
    my ($status, $out) = captured(@ask);
    my ($version) = $out =~ /(\d+(?:\.\d+)+)/;
    die "the server did not say its version\n" if $status != 0 || !defined $version;
    return $version;
}

sub shown
{
    my (@command) = @_;
    return join ' ', map { m{[^\w./=:,-]} ? "'" . s/'/'\\''/gr . "'" : $_ } 'lockbench', @command;
}

# Runs lockbench with --format json; what it said, with the URI left to the reader.
sub asked
{
    my ($uri, @command) = @_;
    my $start = time;
    my ($status, $out, $err) = captured($ENV{LOCKBENCH}, @command, '-d', $uri, '-q', '--format', 'json');
    my $answer = eval { decoded($out) };
    my $label = $uri =~ s/%2F/\//gr;
    $err =~ s/\Q$_\E/URI/g for $uri, $label;
    return {
        command => shown(@command, '-d', $uri =~ /^sqlite/ ? $uri : 'URI'),
        status => $status,
        seconds => time - $start,
        date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
        error => $err =~ s/\s+\z//r,
        answer => $answer,
    };
}

# An exploration, and for each guarantee that it found violated a transcript that was tried with the client.
sub explored
{
    my ($row, $column, $uri, $probe, $limit) = @_;
    my @command = ('explore', flags_of($row), asked_explored($probe));
    push @command, '--isolation', $column->{isolation} if $column->{isolation} ne 'default';
    my $said = asked($uri, @command, '--time', $limit);
    my $answer = $said->{answer} or return $said;
    my %found;
    for my $guarantee (sort keys %{ $answer->{verdicts} }) {
        next if $answer->{verdicts}{$guarantee} ne 'violated';
        my $one = $answer;
        if (!grep { $_ eq $guarantee } @{ $answer->{witness}{violated} // [] }) {
            $one = asked($uri, @command, '--claims', $guarantee, '--time', $limit)->{answer};
            next if !$one || !grep { $_ eq $guarantee } @{ $one->{witness}{violated} // [] };
        }
        next if !$one->{witness}{confirmed};
        my $transcript = $found{ $one->{witness}{schedule} } //= transcript_of($one, $column->{isolation});
        my $flags = join ' ', map { s/'/'\\''/gr } $one == $answer ? () : ('--claims', $guarantee);
        $transcript->{again} //= shown(@command) . ($flags ne '' ? " $flags" : '') . " -d "
            . ($uri =~ /^sqlite/ ? $uri : 'URI') . ($one->{witness}{replay} =~ /( --items \d+)? --replay/ && $1 && "@command" !~ /--items/ ? $1 : '')
            . " --replay $one->{witness}{schedule}";
        @{$transcript}{qw(replays difference)} = replayed($transcript, $uri) if !exists $transcript->{replays};
    }
    $said->{transcripts} = [map { $found{$_} } sort keys %found];
    delete $answer->{witness};
    delete $answer->{target};
    return $said;
}

sub stressed
{
    my ($row, $column, $uri) = @_;
    # Not how long one waits: that is the machine's affair as well, and explorations tell who is never let in.
    my @command = ('verify', flags_of($row), '-S', $row->{stressed}, qw(--no-explore --progress-bound 0 --seed), seed());
    push @command, '--isolation', $column->{isolation} if $column->{isolation} ne 'default';
    my $said = asked($uri, @command);
    my @cells = map { {
        scenario => $_->{scenario}, verdict => $_->{verdict}, reason => $_->{reason},
        seconds => ($_->{runs}[0]{elapsed_ns} // 0) / 1e9, runs => scalar @{ $_->{runs} // [] },
        guarantees => {},
        found => $_->{guarantees},
    } } @{ $said->{answer}{cells} // [] };
    for my $cell (@cells) {
        my $found = delete $cell->{found};
        for my $name (keys %$found) {
            my $one = $found->{$name};
            next if $one->{verdict} eq 'not claimed';
            $cell->{guarantees}{$name} = {
                verdict => $one->{verdict}, reason => $one->{reason}, violations => $one->{violations},
                tested => $one->{tested}, witness => $one->{witnesses}[0] ? $one->{witnesses}[0]{text} : undef,
            };
        }
    }
    $said->{answer} = { cells => \@cells } if $said->{answer};
    return $said;
}

# A protocol that asks for a level is another one at another level.
sub is_of { my ($row, $column) = @_; return $row->{levels} eq '' || $column->{isolation} eq $row->{levels} }

# {work, uris, rows, columns (regular expressions), only, until, time}
sub run_cells
{
    my ($how) = @_;
    my ($done, $left, %version) = (0, 0);
    my @pieces;
    for my $kind (grep { !$how->{only} || $_ eq $how->{only} } qw(explore stress)) {
        for my $column (columns()) {
            my $uri = $how->{uris}{ $column->{servers} };
            next if !defined $uri || $column->{id} !~ $how->{columns};
            for my $row (grep { $_->{id} =~ $how->{rows} && is_of($_, $column) } rows()) {
                push @pieces, map { [$kind, $column, $row, $uri, $_] }
                    $kind eq 'stress' ? 'stress' : $column->{via} eq 'direct' ? split(/,/, $row->{explored}) : ();
            }
        }
    }
    for my $piece (@pieces) {
        my ($kind, $column, $row, $uri, $name) = @$piece;
        my $path = "$how->{work}/$row->{id}/" . $column->{id} =~ s{/}{,}r . ($kind eq 'stress' ? '/stress.json' : "/explore-$name.json");
        next if -e $path;
        if ($how->{until} && time > $how->{until}) { $left++; next }
        my $said = $kind eq 'stress' ? stressed($row, $column, $uri) : explored($row, $column, $uri, $name, $how->{time});
        $said->{version} = $version{$uri} //= version_of($uri);
        spew($path, encoded($said) . "\n");
        $done++;
    }
    said("$done pieces are new, $left are left");
    return $left;
}

1;
