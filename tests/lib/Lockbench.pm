# What the tests of the command line share: running lockbench, and SQL files that need no strategy of
# the build.
package Lockbench;
use strict;
use warnings;
use Exporter 'import';
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use POSIX ();
use Test::Builder;
our @EXPORT = qw(lockbench start start_program finish side_by_side until_shown try_until wait_for slurp spew scratch own_database own_servers
    servers engine_uris explored good_lock open_door good_queue phased_queue);

my $program = $ENV{LOCKBENCH} or die "LOCKBENCH is not set\n";
my $scratch = tempdir('lockbench-cli.XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0711, $scratch;
$ENV{TMPDIR} = $scratch;
# Ctrl-C in the middle leaves nothing behind: temporary files are removed at the end, by this
# process alone.
my $owner = $$;
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = sub { $$ == $owner ? exit 130 : POSIX::_exit(130) };
delete $ENV{NO_COLOR};
$ENV{TERM} = 'xterm';    # of the terminals that tests make
my $runs = 0;

sub scratch { return $scratch }

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/;
    return scalar <$file> // '';
}

sub spew
{
    my ($name, $text) = @_;
    my $path = "$scratch/$name";
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# A database of the test's own on a PostgreSQL server, which other tests use at the same time: its URI and its name. Empty:
# no right to make one. It is dropped at the end.
my %databases;

sub own_database
{
    my ($uri) = @_;
    my $name = join '_', 'lockbench', $0 =~ /(\w+)\.t$/, $$, scalar keys %databases;
    return if system('psql', '-XAtq', '-c', "CREATE DATABASE $name", $uri) != 0;
    $databases{$name} = $uri;
    return ($uri =~ s{(//[^/]*/)[^?]*}{$1$name}r, $name);
}

# The directory of the servers of a test.
my $servers_dir = "$scratch/servers";

# Servers of the test's own, which are stopped at its end: their URIs. The options and kinds are those of scripts/servers start. The test
# is skipped if they cannot be started.
sub own_servers
{
    my @uris = servers('start', @_);
    Test::Builder->new->plan(skip_all => "scripts/servers start @_: " . slurp("$servers_dir.log") =~ s/\n/ /gr) if $? != 0;
    return @uris;
}

# Any other command of scripts/servers, for these servers: the lines of its answer, and $? as system() leaves it.
sub servers
{
    my ($command, @arguments) = @_;
    my $pid = open(my $pipe, '-|') // die "fork: $!\n";
    if ($pid == 0) {
        open STDERR, '>', "$servers_dir.log" or POSIX::_exit(99);
        exec(($ENV{LB_SOURCE} // '.') . '/scripts/servers', $command, '--dir', $servers_dir, @arguments) or POSIX::_exit(99);
    }
    chomp(my @lines = <$pipe>);
    close $pipe;
    return @lines;
}

# Before File::Temp's own END, which removes the servers' directory.
END {
    local $?;
    if ($$ == ($owner // 0)) {
        system('psql', '-XAtq', '-c', "DROP DATABASE IF EXISTS $_ WITH (FORCE)", $databases{$_}) for keys %databases;
        servers('stop') if -d $servers_dir;
    }
}

# Starts it, with its output going to files.
sub start { return start_program($program, @_) }

# The same with another program, such as one that launches lockbench.
sub start_program
{
    my (@command) = @_;
    my $run = { out => "$scratch/out." . ++$runs, err => "$scratch/err.$runs" };
    $run->{pid} = fork() // die "fork: $!\n";
    if ($run->{pid} == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $run->{out} or POSIX::_exit(99);
        open STDERR, '>', $run->{err} or POSIX::_exit(99);
        exec @command or POSIX::_exit(99);
    }
    return $run;
}

# Waits for it: (exit status, stdout, stderr); the status is 128 + the number of a signal that ended
# it.
sub finish
{
    my ($run) = @_;
    waitpid $run->{pid}, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    # The address sanitizer says so of any fiber (bench/base/fiber.c): no words of lockbench's.
    my $err = slurp($run->{err}) =~ s/^==\d+==WARNING: ASan doesn't fully support makecontext[^\n]*\n//mgr;
    return ($status, slurp($run->{out}), $err);
}

sub lockbench { return finish(start(@_)) }

# Calls check for each part, side by side, because most tests wait: each in a process of its own, with its own
# directory for files. Then reports the results, in the order of the parts.
sub side_by_side
{
    my ($check, @parts) = @_;
    my %pid;
    for my $part (@parts) {
        $pid{$part} = fork() // die "fork: $!\n";
        check_part($check, $part) if $pid{$part} == 0;
    }
    my $builder = Test::Builder->new;
    for my $part (@parts) {
        waitpid $pid{$part}, 0;
        my $status = $?;
        for (split /\n/, slurp("$scratch/$part.tap")) {
            if (/^(not )?ok \d+(?: - (.*?))?(?: # skip (.*))?$/) {
                defined $3 ? $builder->skip($3) : $builder->ok(!$1, $2);
            } elsif (/^# ?(.*)/) {
                $builder->note($1);
            }
        }
        $builder->is_num($status, 0, "$part: ended") or $builder->diag(slurp("$scratch/$part.err") =~ s{^# ?}{}mgr);
    }
}

# The rest of a part's process: its results go to a file.
sub check_part
{
    my ($check, $part) = @_;
    my $builder = Test::Builder->new;
    open my $tap, '>', "$scratch/$part.tap" or POSIX::_exit(99);
    open my $err, '>', "$scratch/$part.err" or POSIX::_exit(99);
    $ENV{TMPDIR} = $scratch .= "/$part";
    mkdir $scratch or POSIX::_exit(99);
    $builder->reset;
    $builder->output($tap);
    $builder->failure_output($err);
    my $is_done = eval { $check->($part); 1 } or $builder->diag($@);
    $builder->done_testing;
    my $is_passing = $is_done && $builder->is_passing;
    close $_ for $tap, $err;
    POSIX::_exit($is_passing ? 0 : 1);
}

# Results that depend on chance, or that lockbench withholds if the machine stood still, get at most three tries, or
# LB_TEST_TRIES_MAX, or the number in { tries => N } in front of the check, with a comment that gives the reason. So a
# fall of the rate fails the test. The file LB_TEST_TRIES gets the number of tries that each result needed.
#
# Runs lockbench until its answer is the wanted one. Returns the last answer. Gives up at once if a server is gone.
sub until_shown
{
    my @limit = ref $_[0] eq 'HASH' ? shift : ();
    my ($is_there, @args) = @_;
    return try_until(@limit, sub { return $_[0] == 3 || $is_there->(@_) }, sub { return lockbench(@args) });
}

# Calls act until is_there is true of its answer. Returns the last answer.
sub try_until
{
    my $limit = ref $_[0] eq 'HASH' ? (shift)->{tries} : $ENV{LB_TEST_TRIES_MAX} // 3;
    my ($is_there, $act) = @_;
    my $depth = 0;
    $depth++ while (caller $depth)[1] eq __FILE__;
    my (undef, $file, $line) = caller $depth;
    for (my $tries = 1;; $tries++) {
        my @answer = $act->();
        my $is_shown = $is_there->(@answer);
        next if !$is_shown && $tries < $limit;
        count_tries("$file:$line", $tries, $is_shown);
        return wantarray ? @answer : $answer[0];
    }
}

sub count_tries
{
    my ($place, $tries, $is_shown) = @_;
    open my $file, '>>', $ENV{LB_TEST_TRIES} // return or die "$ENV{LB_TEST_TRIES}: $!\n";
    print $file "$tries\t$place\t" . ($is_shown ? 'shown' : 'NOT SHOWN') . "\n";
    close $file;
}

# Waits for an event, for ten minutes at most: whether it came.
sub wait_for
{
    my ($is_there) = @_;
    my $end = time + 600;
    until ($is_there->()) {
        return 0 if time > $end;
        select undef, undef, undef, 0.02;
    }
    return 1;
}

# The databases of LB_TEST_URIS by their engine: the first of each. SQLite is always there.
sub engine_uris
{
    my %engine = (sqlite => 'sqlite:');
    for my $uri (split /\n/, $ENV{LB_TEST_URIS} // '') {
        $engine{postgres} //= $uri if $uri =~ /^postgres/;
        $engine{mariadb} //= $uri if $uri =~ /^(?:mariadb|mysql)/;
    }
    return %engine;
}

# Explores for as long as it takes: (status, result, stderr).
sub explored
{
    my ($uri, $strategy, @args) = @_;
    my ($status, $out, $err) = lockbench('explore', '-s', $strategy, '-d', $uri, '--format', 'json', '--time', '10m', @args);
    my $result = eval { decode_json($out) };
    Test::Builder->new->diag("$strategy on $uri: $err$out") unless $result;
    return ($status, $result // {}, $err);
}

# A lock that excludes, everywhere.
sub good_lock
{
    return spew('good-lock.sql', <<'SQL');
-- strategy: good-lock
-- shape: lock
-- claims: exclusive, owner-release
-- option: form = plain | fancy

-- name: setup
CREATE TABLE good_lock (name varchar(100) PRIMARY KEY, owner varchar(100));
-- name: resource
INSERT INTO good_lock (name) VALUES (:resource);
-- name: acquire
UPDATE good_lock SET owner = :worker WHERE name = :resource AND owner IS NULL;
-- name: release
UPDATE good_lock SET owner = NULL WHERE name = :resource AND owner = :worker;
-- name: teardown
DROP TABLE good_lock;
SQL
}

# A lock that lets every worker in.
sub open_door
{
    return spew('open-door.sql', <<'SQL');
-- strategy: open-door
-- shape: lock
-- claims: exclusive

-- name: setup
CREATE TABLE open_door (name varchar(100) PRIMARY KEY);
-- name: resource
INSERT INTO open_door (name) VALUES (:resource);
-- name: acquire
SELECT name FROM open_door WHERE name = :resource;
-- name: release
SELECT name FROM open_door WHERE name = :resource;
-- name: teardown
DROP TABLE open_door;
SQL
}

# A queue on one table; SQLite has one writer, so the plain UPDATE is right there.
sub good_queue
{
    return spew('good-queue.sql', <<'SQL');
-- strategy: good-queue
-- shape: queue
-- claims: no-duplicate, no-loss, bounded-claim

-- name: setup
CREATE TABLE good_queue (id bigint PRIMARY KEY, payload text, state text NOT NULL DEFAULT 'new');
-- name: put
WITH RECURSIVE items (id) AS (SELECT :id UNION ALL SELECT id + 1 FROM items WHERE id < :id + :n - 1)
INSERT INTO good_queue (id, payload) SELECT id, :payload FROM items;
-- name: claim
UPDATE good_queue SET state = 'active'
WHERE id IN (SELECT id FROM good_queue WHERE state = 'new' ORDER BY id LIMIT :n)
RETURNING id, payload;
-- name: complete
UPDATE good_queue SET state = 'done' WHERE id = :id AND state = 'active';
-- name: teardown
DROP TABLE good_queue;
SQL
}

# A queue for SQLite that takes back what was taken longer ago than a limit, an expression in ms; header: further
# lines of its head.
sub phased_queue
{
    my ($name, $limit, $header) = (@_, '');
    return spew("$name.sql", <<"SQL");
-- strategy: $name
-- shape: queue
-- claims: no-duplicate, no-loss, owner-release, recovery
$header
-- name: setup
CREATE TABLE work (id INTEGER PRIMARY KEY, phase TEXT NOT NULL DEFAULT 'new', holder TEXT, taken_at INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0);
-- name: put
INSERT INTO work (id) VALUES (:id);
-- name: claim tx=one begin=immediate
-- require: row
SELECT id FROM work WHERE phase = 'new' ORDER BY id LIMIT 1;
UPDATE work SET phase = 'taken', holder = :worker, taken_at = :now, attempt = attempt + 1 WHERE id = :id
RETURNING id, attempt AS token;
-- name: complete
UPDATE work SET phase = 'done' WHERE id = :id AND phase = 'taken' AND attempt = :token;
-- name: recover
UPDATE work SET phase = 'new' WHERE phase = 'taken' AND taken_at < :now - $limit;
-- name: teardown
DROP TABLE work;
SQL
}

1;
