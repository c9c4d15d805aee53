# Replays a transcript with the plain client program: psql, mariadb or sqlite3, one process for each session. Each
# statement must be answered as the transcript says: rows, values and changes, refused, or not answered because the
# server says that it waits. Times are not compared. Nothing here knows lockbench.
package Reference::Replay;
use strict;
use warnings;
use Exporter 'import';
use File::Temp qw(tempdir);
use IO::Select;
use POSIX ();
our @EXPORT = qw(replayed);

my $patience_s = 300;    # for an answer that must come
my $serial = 0;

sub unescaped { my ($text) = @_; $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; return $text }

# The command that speaks to the server of this URI, within this space; of several nodes to the $node-th, from 0.
sub command_of
{
    my ($uri, $space, $node) = @_;
    if ($uri =~ /^postgres/) {
        my $joined = $uri . ($uri =~ /\?/ ? '&' : '?') . "application_name=$space";
        return ('psql', '-X', '--csv', '-v', 'VERBOSITY=verbose', $joined);
    }
    return ('stdbuf', '-oL', 'sqlite3', '-batch', '-csv', $space) if $uri =~ /^sqlite/;
    my ($user, $password, $host, $query) = $uri =~ m{^mariadb://(?:([^:@/]*)(?::([^@/]*))?@)?([^/]*)/[^?]*(?:\?(.*))?$}
        or die "a URI of no known form\n";
    my @command = ('mariadb', '--no-defaults', qw(--batch --raw --skip-column-names --unbuffered --force));
    push @command, '--user=' . unescaped($user) if defined $user;
    $node //= 0;
    my ($sockets) = ($query // '') =~ /(?:^|&)socket=([^&]*)/;
    my $socket = defined $sockets ? (split /,/, $sockets)[$node] : undef;
    my $address = (split /,/, $host)[$node];
    die 'there is no node ' . ($node + 1) . "\n" if !defined $socket && !defined $address && $node > 0;
    push @command, '--socket=' . unescaped($socket) if defined $socket;
    my ($name, $port) = split /:/, $address // '';
    push @command, "--host=$name", '--port=' . ($port // 3306) if !defined $socket;
    $ENV{MYSQL_PWD} = unescaped($password) if defined $password;
    return @command;
}

sub start
{
    my ($uri, $space, $node) = @_;
    my %session = (name => $space, uri => $uri, node => $node // 0, text => '', n => 0);
    pipe my $child_in, my $in or die "pipe: $!\n";
    pipe my $out, my $child_out or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDIN, '<&', $child_in or POSIX::_exit(99);
        open STDOUT, '>&', $child_out or POSIX::_exit(99);
        open STDERR, '>&', $child_out or POSIX::_exit(99);
        close $_ for $in, $out, $child_in, $child_out;
        my @command = command_of($uri, $space, $node);
        exec { $command[0] } @command or POSIX::_exit(99);
    }
    close $child_in;
    close $child_out;
    $in->autoflush(1);
    @session{qw(pid in out)} = ($pid, $in, $out);
    return \%session;
}

sub stop
{
    my ($session) = @_;
    return if !$session->{pid};
    close $session->{in};
    kill 'TERM', $session->{pid};
    waitpid $session->{pid}, 0;
    close $session->{out};
    $session->{pid} = 0;
    return;
}

# Sends a statement, with a mark behind it.
sub send_sql
{
    my ($session, $sql) = @_;
    my $mark = $session->{mark} = "replay-mark-" . ++$session->{n};
    local $SIG{PIPE} = 'IGNORE';
    my $in = $session->{in};
    my $is_write = $sql =~ /^\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b/i;
    print {$in} "$sql;\n";
    if ($session->{uri} =~ /^postgres/) { print {$in} "\\echo $mark\n" }
    elsif ($session->{uri} =~ /^sqlite/) { print {$in} ($is_write ? "SELECT 'changed', changes();\n" : ''), ".print $mark\n" }
    else { print {$in} ($is_write ? "SELECT 'changed', ROW_COUNT();\n" : ''), "SELECT '$mark';\n" }
    return;
}

# The answer up to the mark within this time; undef: none yet.
sub heard
{
    my ($session, $seconds) = @_;
    my $select = IO::Select->new($session->{out});
    while (1) {
        return $1 if $session->{text} =~ s/\A(.*?)^\Q$session->{mark}\E\n//ms;
        return if !$select->can_read($seconds);
        sysread $session->{out}, $session->{text}, 65_536, length $session->{text}
            or die "the client ended: $session->{text}\n";
    }
}

# Whether the server says that this session waits.
sub waits
{
    my ($watcher, $session) = @_;
    return 0 if $session->{uri} =~ /^sqlite/;
    my $sql = $session->{uri} =~ /^postgres/
        ? "SELECT count(*) FROM pg_stat_activity WHERE application_name = '$session->{name}' AND wait_event_type = 'Lock'"
        : "SELECT count(*) FROM information_schema.processlist p LEFT JOIN information_schema.innodb_trx t ON "
        . "t.trx_mysql_thread_id = p.id WHERE p.id = $session->{id} AND (t.trx_state = 'LOCK WAIT' OR "
        . "p.state IN ('User lock', 'Waiting for table metadata lock', 'Waiting for table level lock'))";
    send_sql($watcher, $sql);
    my $answer = heard($watcher, $patience_s) // die "the server does not answer\n";
    return $answer =~ /^1$/m;
}

# A statement is sent: its answer, or undef once the server says that it waits. A wait that is not to be is believed
# when it has been seen again and again: servers also wait for themselves, for a moment.
sub answer
{
    my ($watcher, $session, $is_to_wait) = @_;
    my ($end, $seen) = (time + $patience_s, 0);
    # InnoDB caches innodb_trx until it was not read for 0.1 s: read more often, it shows the same
    # rows for ever.
    my $pause_s = $session->{uri} =~ /^(?:postgres|sqlite)/ ? 0.05 : 0.15;
    while (time < $end) {
        my $text = heard($session, $pause_s);
        return $text if defined $text;
        $seen = waits($watcher, $session) ? $seen + 1 : 0;
        return if $seen >= ($is_to_wait ? 1 : 10 / $pause_s);
    }
    die "neither an answer nor a wait\n";
}

# The values of a row as lockbench prints it ("id=1 payload='x'"), without times.
sub values_of
{
    my ($result) = @_;
    my @values;
    push @values, defined $1 ? $1 : $2 while $result =~ /\w[\w?()* ]*=(?:'((?:[^']|'')*)'|([^\s;]+))/g;
    return grep { !/\d\d:\d\d:\d\d|^\d+\.\d+$|^\d{12,}$/ } @values;
}

# How an answer differs from the transcript's; '' is not at all.
sub difference
{
    my ($act, $text) = @_;
    my $failed = $text =~ /^(?:psql:.*)?(?:ERROR|FATAL)\b|^(?:Runtime|Parse) error|^Error:/m;
    my $refused = $act->{answer} ne 'ok' && $act->{answer} ne 'blocked' && $act->{answer} ne 'empty';
    return "was refused: $text" if $failed && !$refused;
    return "was to be refused ($act->{answer}): $text" if !$failed && $refused;
    return '' if $failed;
    my ($changed) = $text =~ /^(?:changed[\t,]|(?:UPDATE|DELETE|INSERT 0) )(\d+)$/m;
    return "changed $changed rows, and not $act->{changed}"
        if defined $changed && $act->{sql} =~ /^\s*(?:INSERT|UPDATE|DELETE)/i && $act->{changed} >= 0 && $changed != $act->{changed};
    for my $value (values_of($act->{result})) {
        my @forms = (quotemeta($value), $value eq '1' ? 't' : $value eq '0' ? 'f' : ());    # lockbench prints truth as 1
        @forms = ('') if $value eq 'NULL';
        my $form = join '|', @forms;
        return "has no $value: $text" if $text !~ /(?:^|[\t,"])(?:$form)(?:$|[\t,"])/m;
    }
    return '';
}

# Runs the acts of all steps; dies with the difference.
sub play
{
    my ($transcript, $watchers, $sessions) = @_;
    for my $step (@{ $transcript->{steps} }) {
        my $session = $step->{session} >= 0 ? $sessions->[$step->{session}] : undef;
        if ($step->{death}) { stop($session); next }
        for my $act (@{ $step->{acts} }) {
            my $where = "step $step->{step}: $act->{sql}";
            send_sql($session, $act->{sql}) if !$act->{late};
            my $text = $act->{late} ? heard($session, $patience_s) : answer($watchers->[$session->{node}], $session, $act->{answer} eq 'blocked');
            die "$where: was to wait, and was answered: $text\n" if defined $text && $act->{answer} eq 'blocked';
            die "$where: waits\n" if !defined $text && $act->{answer} ne 'blocked';
            my $wrong = defined $text ? difference($act, $text) : '';
            die "$where: $wrong\n" if $wrong ne '';
        }
    }
    return;
}

# A session of the transcript, in the space $main.
sub opened
{
    my ($uri, $space, $opening, $main, $node) = @_;
    my $session = start($uri, $uri =~ /^sqlite/ ? $main : $space, $node);
    my @first = $uri =~ /^postgres/ ? ("SET search_path = $main") : $uri =~ /^mariadb/ ? ("USE $main") : ();
    @first = () if $uri =~ m{^[^?]*/\Q$main\E(?:\?|\z)};    # it is connected to a database of its own
    # Another node may not know yet what was made.
    unshift @first, 'SET SESSION wsrep_sync_wait = 7', 'SELECT 1' if $session->{node} > 0;
    push @first, 'SET SESSION wsrep_sync_wait = DEFAULT' if $session->{node} > 0;
    push @first, $opening if $opening ne '';
    for my $sql (@first) {
        send_sql($session, $sql);
        my $text = heard($session, $patience_s) // die "no answer to $sql\n";
        die "$sql: $text\n" if $text =~ /^ERROR/m;
    }
    if ($uri =~ /^mariadb/) {
        send_sql($session, 'SELECT CONNECTION_ID()');
        ($session->{id}) = heard($session, $patience_s) =~ /(\d+)/;
    }
    return $session;
}

sub made
{
    my ($control, @setup) = @_;
    for my $sql (@setup) {
        send_sql($control, $sql);
        my $text = heard($control, $patience_s) // die "set-up: no answer\n";
        die "set-up: $text\n" if $text =~ /^(?:ERROR|Parse error|Runtime error)/m;
    }
    return;
}

# Where a transcript is played: {uri, main, make, drop, enter}. Through a pooler a session has no state of its own, hence no
# search path: it is a database there, and else a schema.
sub space_of
{
    my ($uri, $via, $main) = @_;
    if ($uri =~ /^sqlite/) {
        my $dir = tempdir('lockbench-replay.XXXXXX', TMPDIR => 1, CLEANUP => 1);
        return { uri => $uri, main => "$dir/db", make => 'PRAGMA journal_mode = WAL', enter => [] };
    }
    return { uri => $uri =~ s{^(postgres\w*://[^/]*/)[^?]*}{$1$main}r, main => $main, make => "CREATE DATABASE $main",
        drop => "DROP DATABASE IF EXISTS $main WITH (FORCE)", enter => undef } if $via eq 'pooler';
    return { uri => $uri, main => $main, make => "CREATE SCHEMA $main", drop => "DROP SCHEMA IF EXISTS $main CASCADE",
        enter => ["SET search_path = $main"] } if $uri =~ /^postgres/;
    return { uri => $uri, main => $main, make => "CREATE DATABASE $main", drop => "DROP DATABASE IF EXISTS $main", enter => ["USE $main"] };
}

# Returns (1, '') or (0, DIFFERENCE). Its own space is dropped at the end. $via comes from
# columns.tsv.
sub replayed
{
    my ($transcript, $uri, $via) = @_;
    my $main = "lockbench_replay_$$" . '_' . ++$serial;
    my $space = space_of($uri, $via // 'direct', $main);
    $main = $space->{main};
    my @nodes = map { $_ - 1 } @{ $transcript->{nodes} // [] };
    my @all;
    my $done = eval {
        my $control = start($uri, $uri =~ /^sqlite/ ? $main : "${main}_control");
        push @all, $control;
        made($control, $space->{make}, @{ $space->{enter} // [] });
        my @setup = grep { /\S/ } $transcript->{setup} =~ s/;\s*\z//r;
        my @watchers = ($control);
        if ($space->{enter}) { made($control, @setup) }
        else {
            push @all, start($space->{uri}, "${main}_setup");
            made($all[-1], @setup);
        }
        for my $node (grep { $_ > 0 } @nodes) { push @all, $watchers[$node] = start($uri, "${main}_watcher", $node) if !$watchers[$node] }
        my @sessions = map { opened($space->{uri}, "${main}_$_", $transcript->{opening}, $main, $nodes[$_]) } 0 .. $transcript->{sessions} - 1;
        push @all, @sessions;
        play($transcript, \@watchers, \@sessions);
        1;
    };
    my $wrong = $done ? '' : $@ =~ s/\s+/ /gr;
    stop($_) for reverse @all[1 .. $#all];
    if (@all && $space->{drop}) {
        eval { send_sql($all[0], 'ROLLBACK'); heard($all[0], 60); send_sql($all[0], $space->{drop}); heard($all[0], 60); 1 }
            or $wrong ne '' or $wrong = $@;
    }
    stop($all[0]) if @all;
    die "interrupted\n" if $wrong =~ /^interrupted/;
    return ($wrong eq '' ? 1 : 0, $wrong);
}

1;
