# Runs the pieces of a cell one after the other, and keeps each answer in a file of its own, so that
# an interrupted script can continue. An existing answer is not measured again.
package Reference::Cells;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(sum0);
use POSIX qw(strftime);
use Reference::Files;
use Reference::Replay;
use Reference::Transcript;
use Reference::Written;
our @EXPORT = qw(run_cells unasked asked_explored flags_of uris_of version_of);

# Explored cases, besides two workers with one round each.
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

# The folder of the servers is the reader's own.
sub shown
{
    my (@command) = @_;
    s/ --dir '.*'\z/ --dir DIR/s for @command;
    return join ' ', map { m{[^\w./=:,-]} ? "'" . s/'/'\\''/gr . "'" : $_ } 'lockbench', @command;
}

# Runs lockbench with --format json; returns its output with a placeholder for the URI.
sub asked
{
    my ($uri, @command) = @_;
    my $start = time;
    my ($status, $out, $err) = captured($ENV{LOCKBENCH}, @command, '-d', $uri, $command[0] eq 'age' ? () : '-q', '--format', 'json');
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

# Options of each kind of fault, besides its defaults: holds long enough for a fault to fall into
# one.
my %fault_keys = (
    failover => [qw(--workers 4 --hold 5ms --fault-interval 300ms)],
    queue => [qw(--workers 4 --hold 5ms --backlog 1000 --duration 60s)],    # it ends when it is empty
    'lock kill' => [qw(--duration 3s --fault-interval 150ms)],
);

# The scenario of a row under a fault: the plainest of its shape.
sub base_of { my ($row) = @_; return $row->{need} =~ /^queue/ ? 'drain' : $row->{stressed} eq 'mutex-pair' ? 'mutex-pair' : 'mutex-hot' }

# The keys of a column's fault.
sub faulty
{
    my ($row, $column, $how) = @_;
    my $fault = $column->{fault};
    my @keys = ('-S', base_of($row), '--faults', $fault);
    push @keys, qw(--stale 0) if $row->{options} =~ /\bform=published\b/ && $row->{strategy} eq 'fifo-poll';    # it has no such limit
    return (@keys, @{ $fault_keys{queue} }) if $fault ne 'failover' && base_of($row) eq 'drain';
    return (@keys, @{ $fault_keys{"lock $fault"} // [] }) if $fault ne 'failover';
    defined $how->{servers} or die "column $column->{id} needs --servers DIR, where scripts/servers started $column->{servers}\n";
    return (@keys, @{ $fault_keys{failover} }, '--failover-command', "scripts/servers \$STEP $column->{servers} --dir '" . $how->{servers} =~ s/'/'\\''/gr . "'");
}

sub stressed
{
    my ($row, $column, $uri, $how) = @_;
    # Not how long one waits: that is the machine's affair as well, and explorations tell who is never let in.
    my @command = ('verify', flags_of($row), $column->{fault} ne '' ? faulty($row, $column, $how) : ('-S', $row->{stressed}),
        qw(--no-explore --progress-bound 0 --seed), seed());
    push @command, '--isolation', $column->{isolation} if $column->{isolation} ne 'default' && $row->{group} ne 'program';
    my $said = asked($uri, @command);
    my @cells = map { {
        scenario => $_->{scenario}, verdict => $_->{verdict}, reason => $_->{reason},
        seconds => ($_->{runs}[0]{elapsed_ns} // 0) / 1e9, runs => scalar @{ $_->{runs} // [] },
        faults => sum0(map { $_->{faults} // 0 } @{ $_->{runs} // [] }),
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

# The cost of one operation: a single undisturbed worker, so that the machine's load does not
# matter.
sub costed
{
    my ($row, $column, $uri) = @_;
    my $said = asked($uri, 'run', flags_of($row), base_of($row) eq 'drain' ? qw(-S drain) : qw(-S mutex-hot --think 0),
        qw(--workers 1 --count 500 --hold 0 --warmup 0 --progress-bound 0 --costs --seed), seed(),
        $row->{group} eq 'program' ? () : ('--isolation', $column->{isolation}));
    my ($cell) = @{ $said->{answer}{cells} // [] };
    $said->{answer} = { reason => $cell->{reason}, costs => $cell->{costs_per_success} } if $cell;
    return $said;
}

# What a claim reads among 1,000,000 other items, as the law of at most 64,000 predicts it. Counts: the machine's load does not matter.
sub aged
{
    my ($row, $column, $uri) = @_;
    my $said = asked($uri, 'age', flags_of($row), '--aged', 'finished,delayed,dead');
    my $answer = $said->{answer} or return $said;
    my %of;
    for my $state (keys %{ $answer->{aged} }) {
        my $one = $answer->{aged}{$state};
        my $claim = $one->{operations}{claim} // {};
        $of{$state} = defined $claim->{at_1000000} ? { claim => sprintf('%.0f', $claim->{at_1000000}) + 0, grows => $claim->{grows}, unit => $one->{unit} // $answer->{unit} }
            : { reason => $one->{not_measured} // $claim->{not_measured} // ($one->{leaves_no_rows} ? "no rows of $state items stay in the tables" : 'not measured') };
    }
    $said->{answer} = { aged => \%of };
    return $said;
}

# Transcripts that were not found here but may be played here: those written by hand, and through a pooler or on a cluster those
# of the same row elsewhere.
sub played
{
    my ($row, $column, $uri, $how) = @_;
    my %like = (pgbouncer => 'postgres', galera => 'mariadb', pg18 => 'postgres');
    my $server = $like{ $column->{servers} } // $column->{servers};
    my @siblings = sort { ($b->{isolation} eq $column->{isolation}) <=> ($a->{isolation} eq $column->{isolation}) }
        grep { $_->{via} eq 'direct' && $_->{servers} eq $server && $_->{id} ne $column->{id} } columns();
    my @found = written_for($row, $column);
    $how->{published} //= { map { $_->{id} => $_ } @{ published($how->{data})->{cells} } };
    for my $sibling (@siblings) {
        push @found, map { { %$_, opening => opening_of($uri, $column->{isolation}) } } grep { $_->{replays} && $_->{schedule} ne '' }
            @{ ($how->{published}{"$row->{id}/$sibling->{id}"} // {})->{transcripts} // [] };
    }
    my $start = time;
    my @all;
    for my $transcript (map { { %$_ } } @found) {
        $transcript->{setup} =~ s/(CREATE SEQUENCE \w+)(?! INCREMENT)/$1 INCREMENT BY 0/g if $column->{via} eq 'cluster';    # as it wants it
        $transcript->{client} = $uri =~ /^postgres/ ? 'psql' : $uri =~ /^mariadb/ ? 'mariadb' : 'sqlite3';
        $transcript->{again} = "scripts/reference replay --rows '^$row->{id}\$' --columns '^$column->{id}\$'" . ($uri =~ /^sqlite/ ? '' : " $column->{servers}=URI");
        @{$transcript}{qw(replays difference)} = replayed($transcript, $uri, $column->{via});
        push @all, $transcript;
    }
    return { status => 0, error => '', seconds => time - $start, date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime), transcripts => \@all };
}

# Why a cell is not asked for; '' where it is. A protocol that asks for a level is another one at another level.
sub unasked
{
    my ($row, $column) = @_;
    return "it asks for $row->{levels}: at another level it is another protocol"
        if $row->{levels} ne '' && $column->{isolation} ne $row->{levels};
    return 'not asked: its LOCK TABLES brings a cluster of three nodes to a standstill (docs/replication.md)'
        if $row->{strategy} eq 'merge-table-lock' && $column->{via} eq 'cluster';
    return 'a lock has no items that age' if $column->{via} eq 'aged' && $row->{need} !~ /^queue/;
    return 'lockbench age reads statements, and no programs' if $column->{via} eq 'aged' && $row->{group} eq 'program';
    return 'a program sets its own isolation level: the column of the default level has it'
        if $row->{group} eq 'program' && $column->{title} =~ /^(?:PostgreSQL|MariaDB)/ && $column->{via} eq 'direct' && $column->{title} !~ /default/;
    return '';
}

# The names of the pieces of one kind that a cell has.
sub pieces_of
{
    my ($kind, $row, $column) = @_;
    return $column->{via} eq $kind ? $kind : () if $kind =~ /^(?:cost|aged)$/;
    return $column->{via} eq 'direct' ? split(/,/, $row->{explored}) : () if $kind eq 'explore';
    return $column->{via} =~ /^(?:direct|pooler|cluster)$/ ? 'played' : () if $kind eq 'played';
    return $column->{via} =~ /^(?:cost|aged)$/ ? () : 'stress';
}

# An answer that does not concern the protocol: the servers were missing, or had other sessions. It
# is measured again.
my $lost = qr/cannot connect|server closed the connection|sessions? of others|session is read-only|gone away/;

sub is_lost
{
    my ($said) = @_;
    return 1 if !$said->{answer} && $said->{status} == 3 && $said->{error} !~ /has no |cannot be done|is not /;
    return $said->{error} =~ $lost || grep { ($_->{reason} // '') =~ $lost } @{ $said->{answer}{cells} // [] };
}

# {work, uris, rows, columns (regular expressions), only, until, time, servers}
sub run_cells
{
    my ($how) = @_;
    my ($done, $left, %version) = (0, 0);
    my @pieces;
    for my $kind (grep { !$how->{only} || $_ eq $how->{only} } qw(explore stress cost aged played)) {
        for my $column (columns()) {
            my $uri = $how->{uris}{ $column->{servers} };
            next if !defined $uri || $column->{id} !~ $how->{columns};
            for my $row (grep { $_->{id} =~ $how->{rows} && unasked($_, $column) eq '' } rows()) {
                push @pieces, map { [$kind, $column, $row, $uri, $_] } pieces_of($kind, $row, $column);
            }
        }
    }
    for my $piece (@pieces) {
        my ($kind, $column, $row, $uri, $name) = @$piece;
        my $path = "$how->{work}/$row->{id}/" . $column->{id} =~ s{/}{,}r . ($kind eq 'explore' ? "/explore-$name.json" : "/$kind.json");
        next if -e $path;
        if ($how->{until} && time > $how->{until}) { $left++; next }
        my $said = $kind eq 'stress' ? stressed($row, $column, $uri, $how)
            : $kind eq 'cost' ? costed($row, $column, $uri)
            : $kind eq 'aged' ? aged($row, $column, $uri)
            : $kind eq 'played' ? played($row, $column, $uri, $how)
            : explored($row, $column, $uri, $name, $how->{time});
        if (is_lost($said)) {
            said("$row->{id}/$column->{id}: $said->{error}");
            captured('scripts/servers', 'rebuild', $column->{servers}, '--dir', $how->{servers}) if $column->{fault} eq 'failover';
            $left++;
            next;
        }
        $said->{version} = $version{$uri} //= version_of($uri);
        spew($path, encoded($said) . "\n");
        $done++;
    }
    said("$done pieces are new, $left are left");
    return $left;
}

1;
