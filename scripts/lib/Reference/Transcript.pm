# A counterexample of `lockbench explore --format json` as a transcript: at most a few steps, each of one session, with
# statements that run in the plain client program.
#
# A step of the clock moves the server's clock while lockbench explores. A transcript cannot do
# that: statements after such a step use the server's time plus two lease lengths instead, as
# lockbench itself does.
package Reference::Transcript;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(max);
our @EXPORT = qw(opening_of transcript_of as_text words_of);

my $lease_s = 600;    # explore's --ttl, unless said otherwise

my $postgres_times = qr/\b(?:(?:clock|statement|transaction)_timestamp\(\)|now\(\)|current_timestamp\b(?!\())/i;
my $mariadb_times = qr/\b(?:(?:now|sysdate|utc_timestamp|current_timestamp)\(\d?\))/i;
my $sqlite_times = qr/'now'/;

# The statement as it has to be $ahead seconds later.
sub later
{
    my ($sql, $engine, $ahead) = @_;
    return $sql if !$ahead;
    return $sql =~ s/($postgres_times)/($1 + interval '$ahead s')/gr if $engine eq 'postgres';
    return $sql =~ s/($mariadb_times)/($1 + INTERVAL $ahead SECOND)/gr if $engine eq 'mariadb';
    return $sql =~ s/($sqlite_times)/$1, '+$ahead seconds'/gr;
}

# Neighbours of one session are one step, up to what it means for the worker. A step that waits stands alone.
sub steps_of
{
    my ($witness, $engine, $begin) = @_;
    my ($ahead, @steps) = (0);
    for my $act (@{ $witness->{steps} }) {
        my $is_clock = $act->{worker} < 0;
        my $sql = $act->{statement} =~ s/;?\s*\z//r;
        $sql = $begin if $sql eq 'BEGIN';
        my $last = $steps[-1];
        my $goes_on = $last && !$is_clock && !$act->{death} && $last->{session} == $act->{worker} && $last->{note} eq ''
            && !$last->{death} && !grep { $_->{answer} eq 'blocked' } @{ $last->{acts} };
        if (!$goes_on) {
            $last = { session => $act->{worker}, note => '', death => $act->{death}, acts => [] };
            push @steps, $last;
        }
        $ahead += 2 * $lease_s if $is_clock;
        $last->{note} = $is_clock ? "time passes: $ahead s in all, where the lease is $lease_s s"
            : $act->{death} ? 'the session ends' : $act->{note};
        next if $is_clock || $act->{death};
        push @{ $last->{acts} }, {
            sql => later($sql, $engine, $ahead),
            answer => $act->{answer},
            rows => $act->{rows},
            changed => $act->{changed},
            result => $act->{result},
            late => $act->{late},
        };
    }
    my $n = 0;
    $_->{step} = ++$n for @steps;
    return \@steps;
}

my %level = ('read-committed' => 'READ COMMITTED', 'repeatable-read' => 'REPEATABLE READ', serializable => 'SERIALIZABLE');

# The first statements of each session; $engine is its name, or a URI.
sub opening_of
{
    my ($engine, $isolation) = @_;
    my $name = $level{$isolation} or return '';
    return "SET default_transaction_isolation = '" . lc($name) . "'" if $engine =~ /^postgres/;
    return "SET SESSION TRANSACTION ISOLATION LEVEL $name" if $engine =~ /^mariadb/;
    return '';
}

# MariaDB does not set sequences back between schedules: their numbers count from 1 in a transcript, as in new tables.
sub renumbered
{
    my ($transcript) = @_;
    my @acts = map { @{ $_->{acts} } } @{ $transcript->{steps} };
    my ($least) = sort { $a <=> $b } map { $_->{result} =~ /\btoken=(\d+)/g } @acts;
    return $transcript if $transcript->{setup} !~ /\bCREATE SEQUENCE\b/ || !defined $least || $least < 10;
    for my $text (map { \$_->{sql}, \$_->{result} } @acts) {
        $$text =~ s/\b(\d{2,9})\b/$1 >= $least && $1 < $least + 100 ? $1 - $least + 1 : $1/ge;
    }
    return $transcript;
}

# The witness in words: sessions by their letters, and without the numbers of lockbench's own steps.
sub words_of
{
    my ($words) = @_;
    my $when = qr/(?:step \d+|[\d.]+ (?:ns|us|ms|s))/;
    $words =~ s/,? ?(?:answered )?at $when//g;
    $words =~ s/ from $when on//g;
    $words =~ s/ from $when to $when//g;
    $words =~ s/: (?:$when|\d+ steps?) together//g;
    return $words =~ s/\bworker (\d)\b/'session ' . name_of($1)/ger;
}

sub transcript_of
{
    my ($explored, $isolation, $begin) = @_;
    my $witness = $explored->{witness};
    my $engine = $explored->{engine};
    $begin //= $engine eq 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN';
    return renumbered({
        client => { postgres => 'psql', mariadb => 'mariadb', sqlite => 'sqlite3' }->{$engine},
        violated => $witness->{violated},
        words => words_of($witness->{words}),
        schedule => $witness->{schedule},
        sessions => 1 + max(map { $_->{worker} } @{ $witness->{steps} }),
        setup => $witness->{setup},
        opening => opening_of($engine, $isolation),
        steps => steps_of($witness, $engine, $begin),
    });
}

sub name_of { my ($session) = @_; return $session < 0 ? 'clock' : chr(ord('A') + $session) }

# For people who paste: the set-up, then each step with its session's name before it.
sub as_text
{
    my ($transcript) = @_;
    my $text = "-- $transcript->{words}\n-- One $transcript->{client} makes the tables:\n$transcript->{setup}";
    $text .= "-- Then each of $transcript->{sessions} sessions:\n$transcript->{opening};\n" if $transcript->{opening} ne '';
    $text .= '-- ' . join(', ', map { 'session ' . name_of($_) . " on node $transcript->{nodes}[$_]" } 0 .. $#{ $transcript->{nodes} }) . "\n" if $transcript->{nodes};
    for my $step (@{ $transcript->{steps} }) {
        my $note = $step->{note} ne '' ? "  -- $step->{note}" : '';
        $text .= "-- $step->{step}, session " . name_of($step->{session}) . "$note\n";
        for my $act (@{ $step->{acts} }) {
            $text .= $act->{late} ? "--   goes on now\n" : "$act->{sql};\n";
            my $answer = $act->{answer} eq 'blocked' ? 'waits' : $act->{result} ne '' ? $act->{result} : $act->{answer};
            $text .= "--   -> $answer\n";
        }
    }
    return $text;
}

1;
