#!/usr/bin/env perl
# A program for lockbench that, given its database, runs the command in LB_BATTERY with the
# connection in the environment, and writes its output to LB_BATTERY_OUT. Its lock is no lock.
use strict;
use warnings;
use JSON::PP;

$| = 1;
my $say = sub { print encode_json($_[0]), "\n" };
$say->({hello => 1, strategy => 'battery', shape => 'lock', claims => ['exclusive'], engines => ['postgres']});
while (<STDIN>) {
    my $request = decode_json($_);
    exit 0 if $request->{do} eq 'close';
    if ($request->{do} eq 'open' && $request->{worker} !~ /setup|teardown/) {
        my $target = $request->{target};
        my ($command, $out) = @ENV{qw(LB_BATTERY LB_BATTERY_OUT)};
        local @ENV{qw(PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE LB_URI)} =
          ($target->{host} // $target->{socket}, $target->{port}, $target->{user}, $target->{password} // '', $target->{database}, $request->{uri});
        system("$command > '$out' 2>&1 < /dev/null");
        open my $file, '>>', $out or die "$out: $!\n";
        print $file "status $?\nat $ENV{PGHOST}\n";
    }
    $say->({id => $request->{id}, ok => JSON::PP::true});
}
