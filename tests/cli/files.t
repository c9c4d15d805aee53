#!/usr/bin/env perl
# Strategies from files: lint, and every file in examples/ on every engine that it is for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

my $source = $ENV{LB_SOURCE} or die "LB_SOURCE is not set\n";
my @uris = ('sqlite:', grep { !/^sqlite:/ && length } split /\n/, $ENV{LB_TEST_URIS} // '');

# --- lint ---
my $good = good_lock();
my ($status, $out, $err) = lockbench('lint', $good);
is($status, 0, 'a good file: exit status');
like($out, qr/^good-lock: a lock, right as far as can be said without a server$/m, 'what is said');
is($err, '', 'nothing on stderr');
for my $uri (@uris) {
    ($status, $out, $err) = lockbench('lint', $good, '-d', $uri);
    is($status, 0, 'a good file, asked on a server') or diag $err;
    like($out, qr/^good-lock: every statement is prepared by /m, 'and prepared');
}

my $head = "-- strategy: bad\n-- shape: lock\n-- name: setup\nCREATE TABLE bad (a int);\n";
my $release = "-- name: release\nUPDATE bad SET a = 1;\n";
my @bad = (
    ['parameter', "$head-- name: acquire\nSELECT :nobody;\n$release", qr/:6: .*unknown parameter :nobody: .*; there are worker, resource, .*, unique_key\n/],
    ['section', "$head-- name: aquire\nSELECT 1;\n$release", qr/:5: unknown section "aquire"; did you mean acquire/],
    ['listed section', "$head-- name: frobnicate\nSELECT 1;\n$release", qr/:5: unknown section "frobnicate"; there are setup, .*acquire, .*release/],
    ['missing', "$head$release", qr/:1: section acquire is missing/],
    ['transaction', "$head-- name: acquire\nBEGIN;\nSELECT 1;\n$release", qr/:6: begin in section acquire.*tx=/],
);
for my $case (@bad) {
    my ($name, $text, $message) = @$case;
    my $file = spew($name =~ tr{ }{-}r . ".sql", $text);
    for my $command (['lint', $file], ['run', '-s', $file], ['verify', '-s', $file]) {
        my ($status, $out, $err) = lockbench(@$command);
        is($status, 2, "$name: exit status of $command->[0]");
        like($err, qr/\Q$file\E$message/, "$name: file:line: message");
        is(scalar(() = $err =~ /\n/g), 1, "$name: one line") or diag $err;
    }
}

# What editors and clients leave in a file.
is((lockbench('lint', spew('mark.sql', "\xEF\xBB\xBF" . slurp($good))))[0], 0, 'a byte order mark is none of it');
for my $command ('\set ON_ERROR_STOP on', 'DELIMITER $$') {
    my ($word) = $command =~ /^(\\|\w+)/;
    for my $text ("$command\n$head", "$head$command\n") {
        my $line = 1 + (substr($text, 0, index $text, $command) =~ tr/\n//);
        ($status, undef, $err) = lockbench('lint', spew('client.sql', "$text-- name: acquire\nUPDATE bad SET a = 2;\n$release"));
        is($status, 2, "$command: refused");
        like($err, qr/client\.sql:$line: \Q$word\E: a command of a client's, and no SQL: leave it out$/, '... in words');
    }
}

# A run's tables are in its space: objects made elsewhere are neither reset nor dropped.
for my $case (['CREATE SCHEMA app; CREATE TABLE bad (a int)', 'schema app'], ['CREATE UNLOGGED TABLE IF NOT EXISTS "app" . bad (a int)', 'something in "app"'],
    ['CREATE OR REPLACE FUNCTION app.f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$; CREATE TABLE bad (a int)', 'something in app'],
    ['CREATE SCHEMA IF NOT EXISTS app; CREATE TABLE app.bad (a int); -- teardown', 'schema app'],
    ['CREATE SCHEMA app; CREATE TABLE app.bad (a int); -- teardown', undef],
    ["CREATE TABLE bad (a int); CREATE INDEX ON bad (a); COMMENT ON TABLE bad IS 'CREATE TABLE app.bad'", undef],
    ['CREATE TEMP TABLE pg_temp.t (a int); CREATE TABLE bad (a int)', undef])
{
    my ($setup, $what) = @$case;
    for my $engine ('postgres', 'sqlite') {
        my $text = "$head-- name: acquire\nUPDATE bad SET a = 2;\n$release";
        $text =~ s/setup\nCREATE TABLE bad \(a int\)/setup\n$setup/;
        $text .= "-- name: teardown\nDROP SCHEMA IF EXISTS App CASCADE;\n" if $setup =~ /teardown/;
        $text =~ s/^(-- name: \w+)/$1 [$engine]/mg;
        ($status, undef, $err) = lockbench('lint', spew('space.sql', $text));
        is($status, $what && $engine ne 'sqlite' ? 2 : 0, "$setup, $engine: exit status") or diag $err;
        like($err, qr/space\.sql:4: setup makes \Q$what\E: each run has a space of its own/, '... in words')
            if $what && $engine ne 'sqlite';
    }
}

# Likely mistakes.
my $odd = spew('odd.sql', "-- strategy: odd\n-- shape: lock\n-- claims: exclusive, fenced, owner-release, recovery\n-- option: never = 5\n"
    . "-- option: form = a | b\n-- name: setup\nCREATE TABLE odd (a int);\n-- name: acquire when form=a\nUPDATE odd SET a = 1 WHERE a = 0;\n"
    . "-- name: acquire when form=b\nUPDATE odd SET a = 2 WHERE a = 0;\n-- name: release\nUPDATE odd SET a = 0;\n");
($status, $out, $err) = lockbench('lint', $odd);
is($status, 0, 'warnings are no mistakes') or diag $err;
my @warned = $out =~ /^\Q$odd\E:(\d+): warning: /mg;
is("@warned", '4 9 13', 'each with its line, once') or diag $out;
like($out, qr/^\Q$odd\E:4: warning: option never is used by no statement/m, 'an option that nothing uses');
like($out, qr/^\Q$odd\E:9: warning: it claims fenced/m, 'fenced without a token');
like($out, qr/^\Q$odd\E:13: warning: .* release asks for neither holder nor token$/m, 'an end of anybody');
my $unknown = spew('unknown.sql', "-- the first lock of ours\n-- broken: so far\n--\n-- strategy: unknown\n-- engines: postgres\n"
    . "-- shape: lock\n-- name: setup\nCREATE TABLE u (a int);\n-- retries: 3\n-- name: acquire\nUPDATE u SET a = 1 WHERE a = 0;\n"
    . "-- name: release\n-- since: it is held\nUPDATE u SET a = 0;\n");
($status, $out, $err) = lockbench('lint', $unknown);
is($status, 0, 'comments that look like directives are no mistakes') or diag $err;
@warned = $out =~ /^\Q$unknown\E:(\d+): warning: "(\S+):" is not a directive: this line is a comment and changes nothing; lockbench-strategy\(5\) has all directives$/mg;
is("@warned", '5 engines 9 retries 13 since', '... but warned of beside directives; elsewhere they are prose') or diag $out;
(undef, $out) = lockbench('verify', '-s', $unknown, '-d', 'sqlite:', '-q', '--budget', '1s');
like($out, qr/^# warning: \Q$unknown\E:5: "engines:" is not a directive/m, '... and verify says so, too');
($status, undef, $err) = lockbench('run', '--check-file', $good);
is($status, 2, '--check-file is gone');
like($err, qr/: lockbench lint FILE$/, 'and it is said what to use');

# Conditions checked on a replica only.
my $lease = "-- strategy: looks\n-- shape: lock\n-- name: setup\nCREATE TABLE lease (name text, owner text);\n"
    . "-- name: release\nUPDATE lease SET owner = NULL WHERE owner = :worker;\n-- name: acquire\n-- on: replica\n-- require: row\n"
    . "SELECT 1 FROM lease WHERE name = :resource AND (owner IS NULL OR length(owner) = 0);\nUPDATE lease SET owner = :worker WHERE name = :resource";
($status, $out, $err) = lockbench('lint', my $looks = spew('looks.sql', "$lease;\n"));
is($status, 0, 'a replica is asked, and the primary not') or diag $err;
like($out, qr/^\Q$looks\E:10: warning: a replica lags, and the primary is not asked again/m, 'it is said') or diag $out;
($status, $out) = lockbench('lint', spew('asks.sql', "$lease AND (owner IS NULL OR length(owner) = 0);\n"));
unlike($out, qr/warning/, 'and not where it is asked again');
for my $command (['run'], ['explore'], ['verify', '-S', 'mutex-hot']) {
    ($status, undef, $err) = lockbench(@$command, '-s', $looks, '-d', 'sqlite:', '--quiet');
    isnt($status, 0, "$command->[0] on one server") or diag $err;
    like($err, qr/looks reads on a replica/, 'says what is missing') if $command->[0] ne 'verify';
}

# Mistakes that only a server can find.
my $rejected = spew('rejected.sql', "$head-- name: acquire\n-- require: row\nSELECT 1;\nUPDATE nothing SET a = 1;\n$release");
($status) = lockbench('lint', $rejected);
is($status, 0, 'a table that is not there: nothing to see without a server');
for my $uri (@uris) {
    ($status, $out, $err) = lockbench('lint', $rejected, '-d', $uri);
    is($status, 2, 'rejected by the server: exit status');
    like($err, qr/\Q$rejected\E:8: .*nothing/, 'with file:line: and what the server says');
}
my $setup = spew('setup.sql', "-- strategy: bad\n-- shape: lock\n-- name: setup\nCREATE TABEL bad (a int);\n"
    . "-- name: acquire\nSELECT 1;\n-- name: release\nSELECT 1;\n");
($status, $out, $err) = lockbench('lint', $setup, '-d', 'sqlite:');
is($status, 2, 'a setup that is rejected: exit status');
like($err, qr/\Q$setup\E:4: /, 'with its line');

# --- a put of one item at a time, and one of items of its own ---
my $one = spew('one-by-one.sql', slurp(good_queue()) =~ s/good-queue/one-by-one/r
    =~ s/(-- name: put\n).*?(?=-- name: claim)/$1INSERT INTO good_queue (id, payload) VALUES (:id, :payload);\n/sr);
($status, $out, $err) = lockbench('verify', '-s', $one, '--backlog', '300', '--quiet');
is($status, 0, 'a put without :n is run for each item') or diag $out, $err;
like($out, qr/^ok \d+ - one-by-one sqlite drain no-loss\n(?:  .*\n)*?  tested: 300\n/m, 'and none is lost');
my $own = spew('own-ids.sql', slurp($one) =~ s/one-by-one/own-ids/r
    =~ s/\(id, payload\) VALUES \(:id, :payload\)/(payload) VALUES (:payload)/r);
($status, $out, $err) = lockbench('verify', '-s', $own);
is($status, 2, 'a put without :id is refused');
like($err, qr/\Q$own\E:7: section put does not use :id/, 'with its line and the reason');

# --- the answer of put: its last statement with :id, with any statement after it ---
my $outbox = <<'SQL';
-- strategy: outbox
-- shape: queue
-- claims: no-duplicate, no-loss
-- name: setup
CREATE TABLE outbox (id bigint NOT NULL UNIQUE, class varchar(30));
CREATE TABLE classes (class varchar(30) PRIMARY KEY);
-- name: put tx=one
INSERT INTO outbox (id, class) VALUES (:id, :class);
INSERT INTO classes (class) VALUES (:class) ON CONFLICT DO NOTHING;
-- name: claim
DELETE FROM outbox WHERE id = (SELECT min(id) FROM outbox) RETURNING id;
-- name: complete
-- name: teardown
DROP TABLE outbox;
DROP TABLE classes;
SQL
$own = spew('outbox.sql', $outbox);
($status, $out, $err) = lockbench('run', '-s', $own, '-d', 'sqlite:', '-S', 'drain', '--backlog', 20, '--quiet');
is($status, 0, 'a class that is known already says nothing of the item') or diag $out, $err;
$own = spew('outbox-none.sql', $outbox =~ s/VALUES \(:id, :class\);/SELECT :id, :class WHERE false;/r);
($status, $out, $err) = lockbench('run', '-s', $own, '-d', 'sqlite:', '-S', 'drain', '--backlog', 20, '--quiet');
is($status, 3, 'an item that is not put is said not to be') or diag $out, $err;

# --- examples ---
my %scenario = ('semaphore' => 'limited', 'readers-writer' => 'readers-writers');
my @examples = glob "$source/examples/*.sql";
cmp_ok(scalar @examples, '>=', 6, 'there are examples');
for my $file (@examples) {
    my ($name) = $file =~ m{([^/]+)\.sql$};
    my ($status, $out, $err) = lockbench('lint', $file);
    is($status, 0, "$name: checked") or diag $err;
    my $text = slurp($file);
    my $is_lock = $text =~ /^-- shape: lock/m;
    my $scenario = $scenario{$name} // ($is_lock ? 'mutex-hot' : 'drain');
    my $ran = 0;
    for my $uri (@uris) {
        my ($engine) = $uri =~ /^(sqlite|postgres|mariadb)/;
        my @short = $is_lock ? ('--duration', '500ms') : ('--backlog', '100');
        my ($status, $out, $err) = lockbench('verify', '-s', $file, '-d', $uri, '-S', $scenario, @short, '--quiet');
        next if $status == 2 && $err =~ /has no section|needs/ || $out =~ /SKIP .*(no section|needs|has no)/;
        $ran++;
        is($status, 0, "$name on $engine: $scenario") or diag $out, $err;
        like($out, qr/^ok 1 - \Q$name\E /m, "$name on $engine: something was judged");
    }
    SKIP: {
        skip "$name: needs a server that LB_TEST_URIS does not name", 1 if $ran == 0;
        pass("$name: ran on $ran targets");
    }
}
# --- two files of one name, and one of a built-in's ---
{
    my $text = slurp(good_lock());
    my ($first, $second) = (spew('first.sql', $text), spew('second.sql', $text));
    my @short = ('-S', 'mutex-pair', '--duration', '100ms', '--warmup', '0', '--repeat', '1', '-q', '--format', 'json');
    my ($status, $out, $err) = lockbench('compare', '-s', "$first,$second", @short);
    my $json = eval { decode_json($out) } // {};
    my @names = map { $_->{strategy} } @{ $json->{cells} // [] };
    # A long path is cut to its end.
    my $named = sub { join ' ', map { s{\(.*/}{(}r } @{ $_[0] } };
    is($named->(\@names), 'good-lock(first.sql) good-lock(second.sql)', 'two files of one name are told apart by their paths')
        or diag $err;
    my $mine = spew('row-lock.sql', $text =~ s/^-- strategy: .*/-- strategy: lease-upsert/mr);
    (undef, $out) = lockbench('compare', '-s', "lease-upsert,$mine", @short);
    @names = map { $_->{strategy} } @{ (eval { decode_json($out) } // {})->{cells} // [] };
    is($named->(\@names), 'lease-upsert lease-upsert(row-lock.sql)', "a built-in's name stays its own");
    ($status, undef, $err) = lockbench('compare', '-s', "$first,$first", @short);
    is($status, 2, 'one file twice is a mistake');
    like($err, qr/^lockbench: option -s: \Q$first\E is given twice$/, '... and named');
}

done_testing();
