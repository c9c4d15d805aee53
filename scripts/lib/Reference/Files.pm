# What the commands of scripts/reference share: files, the rows and the columns, and how lockbench is run.
package Reference::Files;
use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempfile);
use JSON::PP;
our @EXPORT = qw(top slurp spew table rows columns encoded decoded said captured published seed);

my $top = abs_path(dirname(__FILE__) . '/../../..');
my $codec = JSON::PP->new->utf8->canonical->allow_nonref;

sub top     { return $top }
sub encoded { return $codec->encode($_[0]) }
sub decoded { return $codec->decode($_[0]) }
sub seed    { return $ENV{LB_TEST_SEED} // 1 }
sub said    { print STDERR "reference: @_\n"; return }

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$file> // '';
}

# A file is whole or is not there.
sub spew
{
    my ($path, $text) = @_;
    make_path(dirname($path));
    open my $file, '>', "$path.new" or die "$path.new: $!\n";
    print $file $text;
    close $file or die "$path.new: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
    return $path;
}

# Lines of a file of fields with tabs between them, under the names of the first line; "-" is nothing.
sub table
{
    my ($path) = @_;
    my ($head, @lines) = grep { !/^(?:#|\s*$)/ } split /\n/, slurp($path);
    my @names = split /\t/, $head;
    my @all;
    for my $line (@lines) {
        my @fields = split /\t/, $line, -1;
        @fields == @names or die "$path: $fields[0]: " . @fields . ' fields, and the first line has ' . @names . "\n";
        my %one;
        @one{@names} = map { $_ eq '-' ? '' : $_ } @fields;
        push @all, \%one;
    }
    return @all;
}

sub rows    { return table("$top/results/reference/rows.tsv") }
sub columns { return table("$top/results/reference/columns.tsv") }

# The published results: the newest file, or the named one.
sub published
{
    my ($path) = @_;
    ($path) = reverse sort glob "$top/results/reference/20??-??-??.json" if !defined $path;
    die "nothing is published yet in results/reference\n" if !defined $path;
    return decoded(slurp($path));
}

# Runs a command from the top of the tree; (exit status, standard output, standard error).
sub captured
{
    my (@command) = @_;
    my ($err, $path) = tempfile('lockbench-reference.XXXXXX', TMPDIR => 1, UNLINK => 1);
    my $pid = open my $out, '-|';
    defined $pid or die "fork: $!\n";
    if ($pid == 0) {
        chdir $top or die "$top: $!\n";
        open STDIN, '<', '/dev/null' or die "/dev/null: $!\n";
        open STDERR, '>', $path or die "$path: $!\n";
        exec { $command[0] } @command or die "$command[0]: $!\n";
    }
    local $/;
    my $text = <$out> // '';
    close $out;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    my $words = slurp($path);
    unlink $path;
    return ($status, $text, $words);
}

1;
