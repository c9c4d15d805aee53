#!/usr/bin/env perl
# The table of docs/strategies.md equals the output of `lockbench list`, in the same order
# (LB_UPDATE=1 writes it anew). The scripts and files that README.md and the pages of docs/ name
# exist. README.md's own protocol fails by exactly the schedule that it prints, and its fixed form
# holds.
use strict;
use warnings;
use JSON::PP;
use File::Temp qw(tempdir);
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $lockbench = $ENV{LOCKBENCH} // 'build/dev/lockbench';
plan skip_all => "no program at $lockbench" if !-x $lockbench;

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file>;
}
my $table = "$source/docs/strategies.md";
my $page = slurp($table);
my $readme = slurp("$source/README.md");

my $listed = decode_json(scalar `$lockbench list strategies --format json`);
my $rows = ref $listed eq 'HASH' ? $listed->{strategies} : $listed;
cmp_ok(scalar @$rows, '>', 0, 'strategies are listed');

# | `name` | shape | engines | summary |
sub row
{
    my ($s) = @_;
    (my $engines = $s->{engines}) =~ s/,/, /g;
    my $mark = $s->{kind} eq 'control' ? ' (control)' : '';
    return "| `$s->{strategy}`$mark | $s->{shape} | $engines | $s->{summary} |";
}
my @expected = map { row($_) } @$rows;
my $row = qr/^\| `[a-z-]+`(?: \(control\))? \| (?:lock|queue) .*\|$/m;
if ($ENV{LB_UPDATE}) {
    my $rows = join "\n", @expected;
    $page =~ s/(?:$row\n)+/$rows\n/;
    open my $out, '>', $table or die "$table: $!";
    print $out $page;
    close $out or die "$table: $!";
}
my @found = $page =~ /($row)/g;
# The whole table is long: only the rows that differ are shown.
my %is = map { $_ => 1 } @found;
my %should = map { $_ => 1 } @expected;
is_deeply([grep { !$should{$_} } @found], [], 'no row but those of lockbench list');
is_deeply([grep { !$is{$_} } @expected], [], 'every row of lockbench list')
    or diag 'write the table: LB_UPDATE=1 prove tests/meta/readme.t';
is_deeply(\@found, \@expected, 'in the same order') if @found == @expected;

for my $script ($readme =~ m{\b(scripts/[a-z-]+)(?![\w.-])}g) {
    ok(-x "$source/$script", "$script exists");
}
for my $doc ('README.md', map { s{^\Q$source\E/}{}r } glob("$source/docs/*.md $source/docs/*/*.md $source/examples/*.md")) {
    (my $folder = $doc) =~ s{[^/]*$}{};
    for my $path (slurp("$source/$doc") =~ m{\]\(([^)#:]+)(?:#[^):]*)?\)}g) {
        ok(-e "$source/$folder$path", "$doc: link to $path");
    }
}

my $dir = tempdir(CLEANUP => 1);
my ($sql) = $readme =~ /^```sql\n(.*?)^```$/ms;
my ($shown) = $readme =~ /^```text\n( step .*?)^```$/ms;
sub explored
{
    my ($text) = @_;
    open my $out, '>', "$dir/my-lock.sql" or die "my-lock.sql: $!";
    print $out $text;
    close $out or die "my-lock.sql: $!";
    my $said = `'$lockbench' explore -s '$dir/my-lock.sql' -d sqlite: 2>&1`;
    return ($? >> 8, $said);
}
my ($status, $said) = explored($sql);
is($status, 1, 'the protocol of README.md is broken');
ok(index($said, $shown) >= 0, 'and fails as README.md shows') or diag $said;
(my $mended = $sql) =~ s/^-- require: row\nSELECT[^\n]*\n//m;
$mended =~ s/(UPDATE my_lock SET owner = :worker WHERE name = :resource);/$1 AND owner IS NULL;/;
($status, $said) = explored($mended);
is($status, 0, 'its mend holds') or diag $said;
my ($repaired) = slurp("$source/examples/guard.md") =~ /<<'SQL'\n(.*?)^SQL$/ms;
is($repaired, $mended, 'examples/guard.md goes on with this file');
done_testing();
