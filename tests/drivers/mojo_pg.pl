#!/usr/bin/env perl
# Mojo::Pg: statements that wait in an event loop, transactions, JSON, publish and subscribe.
use strict;
use warnings;
use Mojo::IOLoop;
use Mojo::Pg;

my $pg = Mojo::Pg->new($ENV{LB_URI});
my $db = $pg->db;
$db->query('DROP TABLE IF EXISTS m');
$db->query('CREATE TABLE m (id int, j jsonb)');
$db->insert('m', {id => $_, j => {-json => {n => $_}}}) for 1 .. 3;
print join(',', map { $_->{j}{n} } @{$db->select('m', '*', undef, 'id')->expand->hashes}), "\n";
{
    my $tx = $db->begin;
    $db->query('DELETE FROM m');
}
print $db->query('SELECT count(*) FROM m')->array->[0], "\n";
my @got;
$db->query_p('SELECT id FROM m WHERE id = ?', 2)->then(sub { push @got, $_[0]->array->[0] })->wait;
$pg->db->query_p('SELECT 1 / 0')->catch(sub { push @got, $_[0] =~ /division by zero/ ? 'refused' : $_[0] })->wait;
$pg->pubsub->listen(news => sub { push @got, $_[1]; Mojo::IOLoop->stop });
$pg->db->notify(news => 'it works');
Mojo::IOLoop->start;
print join(',', @got), "\n";
