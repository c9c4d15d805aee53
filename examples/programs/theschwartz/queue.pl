#!/usr/bin/perl
# TheSchwartz: find_job_for_workers and completed; a job is grabbed for whole seconds.
#
#   examples/programs/theschwartz/install
#   lockbench verify -s examples/programs/theschwartz/queue.pl -d postgresql://...
#
# It writes columns in the order of Perl's hashes, another one in each process; so that `record` can compare processes:
#   PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 lockbench record -s examples/programs/theschwartz/queue.pl -d postgresql://...
#
# Called as keyed.pl, an item has its unique key as uniqkey and its priority. The library grabs one of the 50 most urgent jobs,
# by chance; --opt batch=1 grabs the most urgent one. --opt uniqkey=no and --opt priority=no leave them out.
use strict;
use warnings;
use DBI;
use Data::ObjectDriver::Driver::DBI;
use JSON::PP;
use Storable;
use TheSchwartz;
use TheSchwartz::Worker;

package Work;
our @ISA = ('TheSchwartz::Worker');
our ($grab_s, $attempts) = (1, 1000);
sub grab_for { return $grab_s }
sub max_retries { return $attempts - 1 }
sub retry_delay { return 0 }

package main;

my $json = JSON::PP->new->canonical;
my $is_keyed = $0 =~ m{/keyed\.pl$};
my (%job, $client, $dbh, $options);
$| = 1;

my %do = (
    open => sub {
        my ($request) = @_;
        my $target = $request->{target};
        my $host = $target->{host} || $target->{socket};
        my $dsn = "dbi:Pg:dbname=$target->{database}" . ($host ? ";host=$host" : '') . ($target->{port} ? ";port=$target->{port}" : '');
        $Work::grab_s = $request->{options}{ttl_ms} / 1000;
        $Work::attempts = $request->{options}{attempts};
        $dbh = DBI->connect($dsn, $target->{user}, $target->{password}, { RaiseError => 1, PrintError => 0, PrintWarn => 0 });
        my $driver = Data::ObjectDriver::Driver::DBI->new(dbh => $dbh);
        $client = TheSchwartz->new(databases => [{ driver => $driver }]);
        $client->can_do('Work');
        $options = $request->{options};
        if ($is_keyed) {
            $client->set_prioritize($options->{priority} eq 'yes');
            $client->set_batch_size($options->{batch});
        }
        return { ok => JSON::PP::true, session => $dbh->{pg_pid} };
    },
    # The library's schema for PostgreSQL, as Debian's package has it.
    setup => sub {
        my $path = '/usr/share/doc/libtheschwartz-perl/schema-postgres.sql';
        open my $file, '<', $path or die "$path: $!\n";
        $dbh->do(do { local $/; <$file> });
        return { ok => JSON::PP::true };
    },
    teardown => sub { return { ok => JSON::PP::true } },
    put => sub {
        my ($request) = @_;
        my $job = TheSchwartz::Job->new(funcname => 'Work', arg => { item => $request->{item}, payload => $request->{payload} });
        $job->uniqkey($request->{unique_key}) if $is_keyed && $options->{uniqkey} eq 'yes';
        $job->priority($request->{priority}) if $is_keyed;
        return { ($client->insert($job) ? 'ok' : $is_keyed ? 'refused' : die "insert\n") => JSON::PP::true };
    },
    claim => sub {
        my ($request) = @_;
        my @items;
        while (@items < $request->{n} && (my $job = $client->find_job_for_workers)) {
            $job{$job->arg->{item}} = $job;
            push @items, { item => $job->arg->{item} };
        }
        return @items ? { ok => JSON::PP::true, items => \@items } : { empty => JSON::PP::true };
    },
    complete => sub { (delete $job{$_[0]{item}})->completed; return { ok => JSON::PP::true } },
    retry => sub { (delete $job{$_[0]{item}})->failed('it failed'); return { ok => JSON::PP::true } },
);

my %keyed = (attributes => [qw(unique_key priority)], unique => 'until-done', priority => 'highest-first');
print $json->encode({ hello => 1, strategy => $is_keyed ? 'theschwartz-keyed' : 'theschwartz', version => "$TheSchwartz::VERSION", shape => 'queue',
    lease => JSON::PP::true, lease_unit_ms => 1000, engines => ['postgres'],
    claims => ['no-duplicate', 'no-loss', 'owner-release', 'attempts', $is_keyed ? qw(unique priority) : ()], attempts => 'attempts',
    options => { attempts => '1000', $is_keyed ? (uniqkey => 'yes', priority => 'yes', batch => '50') : () }, ($is_keyed ? %keyed : ()),
    operations => [qw(put claim complete retry)] }), "\n";
while (my $text = <STDIN>) {
    my $request = $json->decode($text);
    last if $request->{do} eq 'close';
    my $answer = eval { $do{$request->{do}}->($request) } // { error => $@ =~ s/\s+$//r, unknown => JSON::PP::true };
    print $json->encode({ id => $request->{id}, %$answer }), "\n";
}
