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

# The command that speaks to the server of this URI, within this space.
sub command_of
{
    my ($uri, $space) = @_;
    if ($uri =~ /^postgres/) {
        my $joined = $uri . ($uri =~ /\?/ ? '&' : '?') . "application_name=$space";
        return ('psql', '-X', '--csv', '-v', 'VERBOSITY=verbose', $joined);
    }
    return ('stdbuf', '-oL', 'sqlite3', '-batch', '-csv', $space) if $uri =~ /^sqlite/;
    my ($user, $password, $host, $query) = $uri =~ m{^mariadb://(?:([^:@/]*)(?::([^@/]*))?@)?([^/]*)/[^?]*(?:\?(.*))?$}
        or die "a URI of no known form\n";
    my @command = ('mariadb', '--no-defaults', qw(--batch --raw --skip-column-names --unbuffered --force));
    push @command, '--user=' . unescaped($user) if defined $user;
    my ($socket) = ($query // '') =~ /(?:^|&)socket=([^&,]*)/;    # the first node of several
    push @command, '--socket=' . unescaped($socket) if defined $socket;
    my ($name, $port) = split /:/, $host =~ s/,.*//r;
    push @command, "--host=$name", '--port=' . ($port // 3306) if !defined $socket;
    $ENV{MYSQL_PWD} = unescaped($password) if defined $password;
    return @command;
}

sub start
{
    my ($uri, $space) = @_;
    my %session = (name => $space, uri => $uri, text => '', n => 0);
    pipe my $child_in, my $in or die "pipe: $!\n";
    pipe my $out, my $child_out or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        open STDIN, '<&', $child_in or POSIX::_exit(99);
        open STDOUT, '>&', $child_out or POSIX::_exit(99);
        open STDERR, '>&', $child_out or POSIX::_exit(99);
        close $_ for $in, $out, $child_in, $child_out;
        my @command = command_of($uri, $space);
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

# What has been answered up to the mark within this time; undef: nothing yet.
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
    while (time < $end) {
        my $text = heard($session, 0.05);
        return $text if defined $text;
        $seen = waits($watcher, $session) ? $seen + 1 : 0;
        return if $seen >= ($is_to_wait ? 1 : 200);
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

# Runs the acts of all steps; dies with what was different.
sub play
{
    my ($transcript, $watcher, $sessions) = @_;
    for my $step (@{ $transcript->{steps} }) {
        my $session = $step->{session} >= 0 ? $sessions->[$step->{session}] : undef;
        if ($step->{death}) { stop($session); next }
        for my $act (@{ $step->{acts} }) {
            my $where = "step $step->{step}: $act->{sql}";
            send_sql($session, $act->{sql}) if !$act->{late};
            my $text = $act->{late} ? heard($session, $patience_s) : answer($watcher, $session, $act->{answer} eq 'blocked');
            die "$where: was to wait, and was answered: $text\n" if defined $text && $act->{answer} eq 'blocked';
            die "$where: waits\n" if !defined $text && $act->{answer} ne 'blocked';
            my $wrong = defined $text ? difference($act, $text) : '';
            die "$where: $wrong\n" if $wrong ne '';
        }
    }
    return;
}

sub opened
{
    my ($uri, $space, $opening, $main) = @_;
    my $session = start($uri, $uri =~ /^sqlite/ ? $main : $space);
    my @first = $uri =~ /^postgres/ ? ("SET search_path = $main") : $uri =~ /^mariadb/ ? ("USE $main") : ();
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

# (1, '') or (0, what was different). The space of its own is dropped in the end.
sub replayed
{
    my ($transcript, $uri) = @_;
    my $main = "lockbench_replay_$$" . '_' . ++$serial;
    my ($dir, @all);
    my ($make, $drop) = $uri =~ /^postgres/ ? ("CREATE SCHEMA $main", "DROP SCHEMA IF EXISTS $main CASCADE")
        : ("CREATE DATABASE $main", "DROP DATABASE IF EXISTS $main");
    if ($uri =~ /^sqlite/) {
        $dir = tempdir('lockbench-replay.XXXXXX', TMPDIR => 1, CLEANUP => 1);
        $main = "$dir/db";
    }
    my $done = eval {
        my $control = start($uri, $uri =~ /^sqlite/ ? $main : "${main}_control");
        push @all, $control;
        my @setup = $uri =~ /^sqlite/ ? ('PRAGMA journal_mode = WAL') : ($make);
        push @setup, $uri =~ /^postgres/ ? "SET search_path = $main" : "USE $main" if $uri !~ /^sqlite/;
        for my $sql (@setup, $transcript->{setup} =~ s/;\s*\z//r) {
            send_sql($control, $sql);
            my $text = heard($control, $patience_s) // die "set-up: no answer\n";
            die "set-up: $text\n" if $text =~ /^(?:ERROR|Parse error|Runtime error)/m;
        }
        my @sessions = map { opened($uri, "${main}_$_", $transcript->{opening}, $main) } 0 .. $transcript->{sessions} - 1;
        push @all, @sessions;
        play($transcript, $control, \@sessions);
        1;
    };
    my $wrong = $done ? '' : $@ =~ s/\s+/ /gr;
    stop($_) for reverse @all[1 .. $#all];
    if (@all && $uri !~ /^sqlite/) {
        eval { send_sql($all[0], 'ROLLBACK'); heard($all[0], 60); send_sql($all[0], $drop); heard($all[0], 60); 1 }
            or $wrong ne '' or $wrong = $@;
    }
    stop($all[0]) if @all;
    die "interrupted\n" if $wrong =~ /^interrupted/;
    return ($wrong eq '' ? 1 : 0, $wrong);
}

1;
