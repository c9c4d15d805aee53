#!/usr/bin/env perl
# Whatever a -d sqlite:... says, the user's files stay as they are: the path that lockbench guards is the one that
# SQLite opens.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Cwd 'getcwd';
use Lockbench;
use Test::More;

# The user's database has a table of the strategy's. It is made by lockbench itself, and says that it was kept.
my $strategy = good_lock();
my $home = scratch() . '/home';
mkdir $_ or die for $home, "$home/sub", "$home/file:sub", "$home/tmp", "$home/file:tmp", "$home/elsewhere", "$home/elsewhere/deep";
chdir $home or die;
my @run = ('run', '-s', $strategy, '--duration', '10m', '--count', '3', '--warmup', '0', '--quiet');
is((lockbench(@run, '-d', "sqlite:$home/user.db", '--keep'))[0], 0, 'the user has a database');
link 'user.db', 'hard.db' or die;
symlink 'user.db', 'soft.db' or die;
symlink 'nowhere.db', 'dangling.db' or die;
symlink 'elsewhere/deep', 'link' or die;
symlink 'nowhere-wal', 'side.db-wal' or die;
spew("home/$_", "text of the user's\n") for 'notes.txt';

sub state_of_home
{
    my @names = sort split /\n/, `find . -mindepth 1`;
    return join "\n", map { -f $_ ? "$_ " . unpack('%32C*', slurp($_)) . ' ' . -s $_ : $_ } @names;
}
my $before = state_of_home();

# [what -d says behind sqlite:, exit status]; 0: a file of its own is made, and removed.
my $enc = $home =~ s{/}{%2f}gr;
my @spellings = (
    map({ [$_, 2] } 'file:user.db', 'file:%75ser.db', 'file:./user.db', "file:$home/user.db", "file://$home/user.db", "file://localhost$home/user.db",
        "file:$enc%2fuser.db", 'file:sub/../user.db', 'file:user.db?mode=rw', 'file:user.db?mode=rw?journal=wal', 'file:user.db?journal=delete',
        'file:user.db?cache=shared&journal=wal', 'file::memory:', 'file:new.db', 'file:', ':memory:', ':memory:?journal=wal', '//user.db',
        'user.db?mode=rw', 'soft.db', 'dangling.db', 'sub', 'sub/', '.', '..', '/'),
    map({ [$_, 3] } 'user.db', './user.db', 'sub/../user.db', 'hard.db', "$home/user.db", "//$home/user.db", 'notes.txt', './file:sub/../user.db',
        'link/../../user.db', 'side.db', 'sub/no/new.db'),
    map({ [$_, 0] } 'new.db', './file:user.db', './file:user.db?journal=delete', './:memory:', '%75ser.db', 'link/../user.db', 'FILE:user.db', 'a b"c\'.db'));
for my $spelling (@spellings) {
    my ($path, $wanted) = @$spelling;
    my ($status, undef, $err) = lockbench(@run, '-d', "sqlite:$path");
    is($status, $wanted, "sqlite:$path: exit status") or diag $err;
    is(scalar(() = $err =~ /\n/g), $wanted == 0 ? 0 : 1, '... and lines of errors') or diag $err;
    is(state_of_home(), $before, '... and every file is as it was');
}

# A temporary file, too, is the one that is guarded.
for my $root ('file:tmp', "file:$home/tmp", 'file:tmp?mode=rw') {
    local $ENV{TMPDIR} = $root;
    my ($status, undef, $err) = lockbench(@run, '-d', 'sqlite:');
    is($status, $root eq 'file:tmp' ? 0 : 3, "TMPDIR=$root: exit status") or diag $err;
    is(state_of_home(), $before, '... and every file is as it was');
}
chdir '/';
done_testing();
