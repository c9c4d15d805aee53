#!/usr/bin/perl
# Minion, the job queue of Mojolicious, through its own worker object: dequeue, finish, fail, retry, repair.
#
#   examples/programs/minion/install
#   lockbench verify -s examples/programs/minion/queue.pl -d postgresql://...
#
# A worker whose heartbeat is older than missing_after is taken for dead, and its jobs are failed and tried again.
# The heartbeat here is Minion's own register, before each dequeue and five times within the limit.
#
# Called as keyed.pl, a worker takes the lock of its job's key, as Minion's documentation advises, and gives the job back
# for a moment if another job has it. --opt lock=no leaves it out.
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Minion;
use Mojo::Pg;

my $json = JSON::PP->new->canonical;
my %job; # by lockbench's number of the item
my $is_keyed = $0 =~ m{/keyed\.pl$};
my ($minion, $worker, $heartbeat_s, $attempts, $locks);

sub say_line { my ($line) = @_; syswrite STDOUT, $json->encode($line) . "\n" }

sub end_job
{
    my ($request, $how, @args) = @_;
    my $job = $job{$request->{item}} or return { refused => JSON::PP::true };
    my $done = $job->$how(@args);
    delete $job{$request->{item}};
    $minion->unlock($job->args->[2]) if $locks;
    return { ($done ? 'ok' : 'refused') => JSON::PP::true };
}

# True if no other job of its key is at work; a job whose key is taken is due again later.
sub has_key
{
    my ($job) = @_;
    return 1 if !$locks || $minion->lock($job->args->[2], 3600, { limit => 1 });
    $job->retry({ delay => 0.02 });
    return 0;
}

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
        $minion->backoff(sub { 0 });
        $minion->add_task(work => sub { });
        $attempts = $request->{options}{attempts};
        $locks = $is_keyed && $request->{options}{lock} eq 'yes';
        $heartbeat_s = $request->{options}{limit_ms} / 5000;
        my $session = $minion->backend->pg->db->pid;
        $worker = $minion->worker->register;
        return { ok => JSON::PP::true, session => $session };
    },
    setup => sub { $minion->backend->pg->migrations->migrate; return { ok => JSON::PP::true } },
    teardown => sub { return { ok => JSON::PP::true } },
    put => sub {
        my ($request) = @_;
        $minion->enqueue(work => [@$request{qw(item payload key)}], { attempts => $attempts });
        return { ok => JSON::PP::true };
    },
    claim => sub {
        my ($request) = @_;
        my @items;
        $worker->register;
        while (@items < $request->{n} && (my $job = $worker->dequeue(0))) {
            next if !has_key($job);
            $job{$job->args->[0]} = $job;
            push @items, { item => $job->args->[0] };
        }
        return @items ? { ok => JSON::PP::true, items => \@items } : { empty => JSON::PP::true };
    },
    complete => sub { return end_job($_[0], 'finish') },
    free => sub { return end_job($_[0], 'retry') },
    retry => sub { return end_job($_[0], 'fail') }, # Minion retries it, while attempts are left
    recover => sub {
        my ($request) = @_;
        $minion->missing_after($request->{older_than_ms} / 1000);
        $minion->repair;
        return { ok => JSON::PP::true };
    },
);

say_line({ hello => 1, strategy => $is_keyed ? 'minion-keyed' : 'minion', version => "$Minion::VERSION", shape => 'queue', engines => ['postgres'],
    claims => ['no-duplicate', 'no-loss', 'owner-release', 'attempts', $is_keyed ? 'key-limit' : ()], lease_unit_ms => 1000,
    $is_keyed ? (attributes => ['key'], key_limit => 1, due => 'later') : (), options => { attempts => '1000', $is_keyed ? (lock => 'yes') : () }, attempts => 'attempts', operations => [qw(put claim complete free retry recover)] });
my $input = IO::Select->new(\*STDIN);
my $text = '';
while (1) {
    if (!$input->can_read($heartbeat_s // 3600)) {
        $worker->register;
        next;
    }
    sysread(STDIN, $text, 65536, length $text) or last;
    while ($text =~ s/^(.*)\n//) {
        my $request = $json->decode($1);
        exit 0 if $request->{do} eq 'close';
        my $answer = eval { $do{$request->{do}}->($request) }
            // { error => $@ =~ s/\s+$//r, unknown => JSON::PP::true };
        say_line({ id => $request->{id}, %$answer });
    }
}
