#!/usr/bin/env perl
# DBD::Pg: placeholders, prepared statements, transactions, errors, COPY, notifications, asynchronous statements, cancel.
use strict;
use warnings;
use DBI;
use DBD::Pg qw(:async);

my $db = DBI->connect('dbi:Pg:', undef, undef, {RaiseError => 1, PrintError => 0, PrintWarn => 0, AutoCommit => 1});
$db->do('SET client_min_messages = warning');
$db->do('DROP TABLE IF EXISTS l');
$db->do('CREATE TABLE l (id int, what text)');
my $insert = $db->prepare('INSERT INTO l VALUES (?, ?) RETURNING id');
print $insert->execute($_, "it's $_"), ' ', $insert->fetchrow_array, "\n" for 1 .. 5;
print join(',', map { "@$_" } @{$db->selectall_arrayref('SELECT * FROM l WHERE id > ? ORDER BY id', undef, 3)}), "\n";
eval { $db->do('SELECT 1 / ?::int', undef, 0) };
print $db->state, "\n";
$db->begin_work;
$db->do('DELETE FROM l');
$db->rollback;
print $db->selectrow_array('SELECT count(*) FROM l'), "\n";
$db->do('COPY l FROM STDIN');
$db->pg_putcopydata("$_\tcopied\n") for 1 .. 3000;
$db->pg_putcopyend;
$db->do('COPY (SELECT id FROM l ORDER BY id DESC LIMIT 2) TO STDOUT');
my $line = '';
print $line while $db->pg_getcopydata($line) >= 0;
$db->do('LISTEN n');
$db->do("NOTIFY n, 'said'");
my $notify = $db->pg_notifies;
print "$notify->[0] $notify->[2]\n";
my $watcher = DBI->connect('dbi:Pg:', undef, undef, {RaiseError => 1});
$db->do('SELECT pg_sleep(600)', {pg_async => PG_ASYNC});
1 until $watcher->selectrow_array("SELECT 1 FROM pg_stat_activity WHERE pid = ? AND wait_event = 'PgSleep'", undef, $db->{pg_pid});
print $db->pg_cancel, "\n";
print $db->selectrow_array("SELECT 'still here'"), "\n";
