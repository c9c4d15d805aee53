#!/usr/bin/env perl
# What ps shows of a run: no password.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

# A server that takes the connection and says nothing, so that lockbench waits.
use IO::Socket::INET;
my $silent = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or plan skip_all => "no socket: $!";
my $port = $silent->sockport;
my @targets = ("mariadb://me:s3cret-word\@127.0.0.1:$port/x", "postgresql://me:s3cret-word\@127.0.0.1:$port/x",
    "host=127.0.0.1 port=$port user=me password=s3cret-word dbname=x", "host=127.0.0.1 port=$port password = 's3cret-word x' user=me",
    "postgresql://127.0.0.1:$port/x?user=me&password=s3cret-word");
for my $target (@targets) {
    for my $form (['-d', $target], ["-d$target"], ["--database=$target"]) {
        my $run = start('run', '-s', 'advisory-session', @$form, '--quiet');
        vec(my $ready = '', fileno $silent, 1) = 1;
        select my $got = $ready, undef, undef, 600; # it connects: the arguments were read
        my $title = slurp("/proc/$run->{pid}/cmdline") =~ s/\0/ /gr;
        my $client = $silent->accept;
        close $client;
        kill 'KILL', $run->{pid};
        my (undef, $out, $err) = finish($run);
        like($title, qr/lockbench run -s advisory-session -+d/, 'the title is there');
        unlike($title, qr/s3cret-word/, "no password in the title of: @$form[0 .. 0] " . substr($target, 0, 12));
        unlike("$out$err", qr/s3cret-word/, 'nor in what is said');
    }
}

SKIP: {
    my ($uri) = grep { /^mariadb:/ } split /\n/, $ENV{LB_TEST_TCP_URIS} // '';
    skip 'no MariaDB over TCP in LB_TEST_TCP_URIS', 4 if !defined $uri;
    my ($password) = $uri =~ m{//[^:]+:([^@]+)@};
    my $without = $uri =~ s/:\Q$password\E@/@/r;
    my @run = ('run', '-s', good_lock(), '--duration', '100ms', '--warmup', '0', '--quiet', '-d');
    local $ENV{MYSQL_PWD} = $password;
    is((lockbench(@run, $without))[0], 0, 'MYSQL_PWD is taken');
    my $tls = `MYSQL_PWD='$password' mariadb --protocol=tcp -N -B -u lockbench -h 127.0.0.1 -P @{[$uri =~ /:(\d+)\//]} -e "SELECT \@\@have_ssl" 2>/dev/null`;
    my ($status, undef, $err) = lockbench(@run, "$uri?ssl-mode=required");
    if ($tls =~ /YES/) {
        is($status, 0, 'ssl-mode=required: encrypted') or diag $err;
    } else {
        is($status, 3, 'ssl-mode=required: a server without TLS is refused');
        like($err, qr/\Alockbench: cannot connect to MariaDB: [^\n]*(?:TLS|SSL)[^\n]*\n\z/, 'ssl-mode=required: one line');
    }
    is((lockbench(@run, "$uri?ssl-mode=disabled"))[0], 0, 'ssl-mode=disabled');
}
done_testing();
