#!/usr/bin/env perl
# A new engine is a folder of bench/db and one line in cmake/LbEngines.cmake. The made-up engine "fable" is the engine for SQLite
# under another name. It is added to a copy of the tree, of which only the new files are compiled; the rest is linked as built.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(basename);
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my $source = abs_path($ENV{LB_SOURCE} // '.');
my $build = abs_path($ENV{LB_BUILD} // 'build') // '';
plan skip_all => 'no build by ninja to add to' if !-e "$build/build.ninja" || system('ninja --version >/dev/null 2>&1') != 0;
plan skip_all => 'no lockbench in the build' if !-x "$build/lockbench" || abs_path($ENV{LOCKBENCH}) ne "$build/lockbench";
my $copy = scratch() . '/copy';

# The tree with links to all that is not new.
sub link_all
{
    my ($folder, @but) = @_;
    make_path("$copy/$folder");
    for my $path (glob "$source/$folder/*") {
        my $name = basename($path);
        next if grep { $_ eq $name } @but, 'build';
        symlink $path, "$copy/$folder/$name" or die "$path: $!\n";
    }
}
sub write_file
{
    my ($path, $text) = @_;
    open my $out, '>', "$copy/$path" or die "$path: $!\n";
    print $out $text;
    close $out or die "$path: $!\n";
}
link_all('.', 'bench', 'cmake');
link_all('bench', 'db');
link_all('bench/db');
link_all('cmake', 'LbEngines.cmake');

# The folder: its dialect and its client library keep their names.
make_path("$copy/bench/db/fable");
for my $path (glob "$source/bench/db/sqlite/*.[ch]") {
    my $text = slurp($path);
    $text =~ s/SQLite/Fable/g;
    $text =~ s/(?<!<)(?<!LB_SQL_)sqlite(?!3|_schema|_master|_sequence|_stat)/fable/g;
    $text =~ s/(?<!LB_SQL_)SQLITE(?=_\w+_H\b)/FABLE/g;
    write_file('bench/db/fable/' . basename($path) =~ s/sqlite/fable/r, $text);
}
# The line.
my $list = slurp("$source/cmake/LbEngines.cmake");
is($list =~ s/^(    mariadb=.*\n)/$1    fable=sqlite3\n/m, 1, 'one line is added');
write_file('cmake/LbEngines.cmake', $list);

my ($compiler) = slurp("$build/CMakeCache.txt") =~ /^CMAKE_C_COMPILER:\w+=(.*)$/m;
my ($type) = slurp("$build/CMakeCache.txt") =~ /^CMAKE_BUILD_TYPE:\w+=(.*)$/m;
my ($sanitize) = slurp("$build/CMakeCache.txt") =~ /^LB_SANITIZE:\w+=(.*)$/m;
my $said = `cmake -G Ninja -S '$copy' -B '$copy/build' -DCMAKE_C_COMPILER='$compiler' -DCMAKE_BUILD_TYPE='$type' -DLB_SANITIZE='$sanitize' 2>&1`;
is($?, 0, 'the tree with the engine is configured') or BAIL_OUT($said);
my @objects = grep { m{/bench/db/fable/|engine_list} } map { /^(\S+\.o):/ } `cd '$copy/build' && ninja -t targets all`;
cmp_ok(scalar @objects, '>', 5, 'the build compiles the folder and the list');
$said = `cd '$copy/build' && ninja @objects 2>&1`;
is($?, 0, 'they compile') or BAIL_OUT($said);
my ($link) = grep { m{ -o lockbench } } split /\n/, `cd '$build' && ninja -t commands lockbench`;
@objects = map { "$copy/build/$_" } @objects;
$link =~ s/ -o lockbench / -o $copy\/lockbench /;
$link =~ s{ (\S+\.a) }{ @objects $1 };
$said = `cd '$build' && $link 2>&1`;
is($?, 0, 'the program is linked') or BAIL_OUT("$link\n$said");

sub added
{
    my (@words) = @_;
    return finish(start_program("$copy/lockbench", @words));
}
my ($status, $out, $err) = added('list', 'engines');
like($out, qr/^fable\b.*fable:/m, 'the engine is listed') or diag $err;
($status, $out, $err) = added('run', '-s', 'cas', '-d', 'fabel:');
like($err, qr/no engine takes a target like "fabel:?.*fable:\[PATH\]/, 'a misspelled target is refused with the new one');

# A file with statements for all engines, and one with statements for this engine.
my %strategy = ('any' => '', 'own' => ' [fable]');
for my $name (sort keys %strategy) {
    my $for = $strategy{$name};
    my $file = scratch() . "/$name.sql";
    open my $sql, '>', $file or die "$file: $!\n";
    print $sql <<"SQL";
-- strategy: $name-flag
-- shape: lock
-- claims: exclusive, owner-release
-- rows: shared
-- lease: none
-- name: setup$for
CREATE TABLE flags (resource varchar(40) PRIMARY KEY, owner varchar(100));
-- name: resource$for
INSERT INTO flags (resource) VALUES (:resource);
-- name: acquire$for
-- require: row
UPDATE flags SET owner = :worker WHERE resource = :resource AND owner IS NULL;
-- name: release$for
-- require: row
UPDATE flags SET owner = NULL WHERE resource = :resource AND owner = :worker;
SQL
    close $sql or die "$file: $!\n";
    ($status, $out, $err) = added('run', '-s', $file, '-d', 'fable:', '--count', '20', '--duration', '10m', '--warmup', '0', '--format', 'csv', '-q');
    is($status, 0, "$name: the engine runs it") or diag "$out$err";
    like($out, qr/\bfable\b/, "$name: the result names the engine");
    ($status, $out, $err) = added('explore', '-s', $file, '-d', 'fable:', '-q');
    is($status, 0, "$name: explore steps it") or diag "$out$err";
    like($out, qr/exclusive/, "$name: explore judges its claims");
}
($status, $out, $err) = added('run', '-s', scratch() . '/own.sql', '-d', 'sqlite:', '-q');
isnt($status, 0, 'the statements for this engine are not for another');
like($out . $err, qr/no section \w+ for sqlite/, 'and the reason is said');
done_testing();
