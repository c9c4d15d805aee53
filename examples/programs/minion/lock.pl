#!/usr/bin/perl
# Minion's named locks: minion->lock(name, seconds) and minion->unlock(name).
#
#   examples/programs/minion/install
#   lockbench verify -s examples/programs/minion/lock.pl -d postgresql://...
#
# A lock is a lease. unlock has a name and no owner: it releases the lock that would end first, even
# another worker's.
use strict;
use warnings;
use JSON::PP;
use Minion;
use Mojo::Pg;

my $json = JSON::PP->new->canonical;
my ($minion, $ttl_s);
$| = 1;

# By parts: Mojo::Pg takes no directory of a socket in a URI's parameters.
sub connection
{
    my ($target) = @_;
    my $host = $target->{host} || $target->{socket};
    my $dsn = "dbi:Pg:dbname=$target->{database}" . ($host ? ";host=$host" : '') . ($target->{port} ? ";port=$target->{port}" : '');
    return Mojo::Pg->new->dsn($dsn)->username($target->{user} // '')->password($target->{password} // '');
}

my %do = (
    open => sub {
        my ($request) = @_;
        $minion = Minion->new(Pg => connection($request->{target}));
        $ttl_s = $request->{options}{ttl_ms} / 1000; # whole seconds: the SQL function takes an int
        return { ok => JSON::PP::true, session => $minion->backend->pg->db->pid };
    },
    setup => sub { $minion->backend->pg->migrations->migrate; return { ok => JSON::PP::true } },
    teardown => sub { return { ok => JSON::PP::true } },
    acquire => sub { return { ($minion->lock($_[0]{resource}, $ttl_s) ? 'ok' : 'busy') => JSON::PP::true } },
    release => sub { return { ($minion->unlock($_[0]{resource}) ? 'ok' : 'refused') => JSON::PP::true } },
);

print $json->encode({ hello => 1, strategy => 'minion-lock', version => "$Minion::VERSION", shape => 'lock',
    lease => JSON::PP::true, lease_unit_ms => 1000, engines => ['postgres'], claims => ['exclusive', 'owner-release'] }), "\n";
while (my $text = <STDIN>) {
    my $request = $json->decode($text);
    last if $request->{do} eq 'close';
    my $answer = eval { $do{$request->{do}}->($request) } // { error => $@ =~ s/\s+$//r, unknown => JSON::PP::true };
    print $json->encode({ id => $request->{id}, %$answer }), "\n";
}
