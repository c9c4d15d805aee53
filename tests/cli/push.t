#!/usr/bin/env perl
# A program that pushes: its library calls a handler, and it says so. The right one is held; its
# twin, which takes another worker's item, is caught; one that loses an item is not accused, as it
# may still have it; and forbidden actions in this mode are refused in one line.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Test::More;

plan skip_all => 'no python3 with sqlite3' if system('python3 -c "import sqlite3" 2>/dev/null') != 0;
my @patient = ('--opt', 'start_ms=600000', '--opt', 'answer_ms=600000', '--warmup', '0', '--progress-bound', '10m');

my $hello = '{"hello":1,"strategy":"pushing","mode":"push","shape":"queue","claims":["no-duplicate","no-loss"],"engines":["sqlite"]}';
my $right = <<"PY";
#!/usr/bin/env python3
import json, queue, sqlite3, sys, threading, time
hello = '''$hello'''
PY
$right .= <<'PY';
TAKE = "UPDATE job SET owner = ? WHERE id = (SELECT id FROM job WHERE owner IS NULL ORDER BY id LIMIT 1) RETURNING id"
lock = threading.Lock()
ends = queue.Queue()
db = None
def say(line):
    with lock:
        print(json.dumps(line), flush=True)
def connect(path):
    return sqlite3.connect(path, timeout=600, isolation_level=None)
# The library: it asks for a job again and again, and calls the handler.
def work(path, me):
    mine = connect(path)
    while True:
        rows = mine.execute(TAKE, (me,)).fetchall()
        if not rows:
            time.sleep(0.002)
            continue
        say({"event": "claimed", "item": rows[0][0]})
        request = ends.get()
        mine.execute("DELETE FROM job WHERE id = ?", rows[0])
        say({"id": request["id"], "ok": True})
print(hello, flush=True)
for line in sys.stdin:
    r = json.loads(line)
    do = r["do"]
    if do == "close":
        break
    if do == "complete":
        ends.put(r)
        continue
    if do == "open":
        path, me = r["target"]["path"], r["worker"]
        db = connect(path)
    elif do == "setup":
        db.execute("CREATE TABLE job (id integer PRIMARY KEY, owner text)")
    elif do == "put":
        db.execute("INSERT INTO job (id) VALUES (?)", (r["item"],))
    elif do == "work":
        threading.Thread(target=work, args=(path, me), daemon=True).start()
    say({"id": r["id"], "ok": True})
PY

sub program
{
    my ($name, $text) = @_;
    my $path = spew("$name.py", $text);
    chmod 0755, $path;
    return $path;
}

sub changed
{
    my ($name, $from, $to) = @_;
    my $text = $right;
    $text =~ s/\Q$from\E/$to/ or die "$name: nothing to change\n";
    return program($name, $text);
}

sub cell
{
    my ($path, @more) = @_;
    my ($status, $out, $err) = lockbench('run', '-s', $path, '-d', 'sqlite:', '-S', 'drain', '--workers', '3', '--backlog', '60', '--duration', '10m',
        '--format', 'json', '-q', @patient, @more);
    my $json = eval { decode_json($out) };
    return ($status, $json->{cells}[0] // {}, $err);
}
sub verdict { return $_[0]{guarantees}{$_[1]}{verdict} // 'none' }

my $good = program('right', $right);
my ($status, $cell, $err);
my $end = time + 600;
# A machine that runs no worker for three seconds looks like a queue without items.
do { ($status, $cell, $err) = cell($good) } until verdict($cell, 'no-loss') ne 'not tested' || time > $end;
is($status, 0, 'a program that pushes') or diag $err;
is(verdict($cell, $_), 'held', "... holds $_") for 'no-duplicate', 'no-loss';
cmp_ok($cell->{runs}[0]{operations}{acquire}{succeeded}, '>=', 60, '... and each item was pushed');

# The control takes any worker's item, until it is gone.
my $twin = changed('twin', 'WHERE owner IS NULL ORDER BY id LIMIT 1', 'ORDER BY random() LIMIT 1');
$end = time + 600;
do { ($status, $cell, $err) = cell($twin, '--hold', '5ms') } until $status != 0 || time > $end;
is($status, 1, 'its twin takes what others have') or diag $err;
is(verdict($cell, 'no-duplicate'), 'violated', '... and is caught');

# An item that is never pushed may come yet.
($status, $cell, $err) = cell(changed('loser', 'WHERE owner IS NULL ORDER', 'WHERE owner IS NULL AND id <> 7 ORDER'), '--workers', '2', '--backlog', '10');
isnt(verdict($cell, 'no-loss'), 'violated', 'who pushes all but one is not accused');
isnt(verdict($cell, 'no-loss'), 'held', '... nor acquitted') or diag $err;

# Forbidden actions.
sub refused
{
    my ($what, $path, $want, @command) = @_;
    @command = ('run', '-S', 'drain', '--workers', '1', '--backlog', '3', '--duration', '10m', '-q', @patient) if !@command;
    my ($got, $out, $said) = lockbench(@command, '-s', $path, '-d', 'sqlite:');
    is($got, 2, "$what: status") or diag $out;
    like($said, $want, "$what: says so");
}
refused('two at once', changed('two', 'request = ends.get()', 'say({"event": "claimed", "item": 2}); request = ends.get()'),
    qr/claims another item while one is in hand/);
refused('too early', changed('early', 'elif do == "setup":', "elif do == 'setup':\n        say({'event': 'claimed', 'item': 2})"),
    qr/an event before it received "work"/);
refused('another event', changed('event', '"event": "claimed"', '"event": "grabbed"'), qr/an event must be "claimed"/);
refused('no number', changed('number', '"item": rows[0][0]', '"item": "x"'), qr/an event must be "claimed", with a whole number/);
refused('a lock', changed('lock', '"shape":"queue","claims":["no-duplicate","no-loss"]', '"shape":"lock","claims":["exclusive"]'),
    qr/"mode" can be "push" of a queue only/);
refused('a lease', changed('lease', '"mode":"push"', '"mode":"push","lease":true'), qr/cannot have "lease"/);
refused('an order', changed('order', '"no-loss"', '"fifo"'), qr/cannot claim "fifo"/);
refused('a recovery', changed('recovery', '"mode":"push"', '"mode":"push","operations":["put","claim","complete","recover"]'),
    qr/cannot have the operation "recover"/);
refused('explored', $good, qr/is a program that pushes/, 'explore');
done_testing();
