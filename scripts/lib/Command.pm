# The command line of a Perl script: its options, the program, and the error for a call that cannot
# work: one line on standard error, and the exit status that lockbench itself would use.
package Command;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(basename);
use FindBin;
use Getopt::Long qw(GetOptions);

our @EXPORT_OK = qw(cannot help lockbench misused options options_only slurp spew);

sub say_and_exit
{
    my ($status, $text) = @_;
    print STDERR basename($0), ": $text\n";
    exit $status;
}

# Handles uncaught errors: Perl's own exit status would be the errno of the last failed system call,
# for example 2.
$SIG{__DIE__} = sub {
    my ($text) = @_;
    die $text if !defined $^S || $^S || ref $text;
    chomp $text;
    my $name = basename($0);
    say_and_exit(3, $text =~ s/^\Q$name\E: //r);
};

# A mistake in the arguments.
sub misused { return say_and_exit(2, "$_[0]; see --help") }

# Something is missing here.
sub cannot { return say_and_exit(3, $_[0]) }

sub slurp
{
    my ($path) = @_;
    open my $file, '<', $path or cannot("$path: $!");
    local $/;
    return scalar <$file> // '';
}

# Returns the path.
sub spew
{
    my ($path, $text) = @_;
    open my $file, '>', $path or cannot("$path: $!");
    print {$file} $text;
    close $file or cannot("$path: $!");
    return $path;
}

# As GetOptions; the first mistake ends the script. Other arguments stay in @ARGV.
sub options
{
    my @wanted = @_;
    local $SIG{__WARN__} = sub {
        my ($text) = @_;
        chomp $text;
        # It names options without their dashes.
        misused($text =~ /^Unknown option: (\S+)/ ? 'unknown option ' . (length $1 > 1 ? '--' : '-') . $1 : lcfirst $text);
    };
    GetOptions(@wanted) or misused('a mistake in the options');
    return;
}

sub options_only
{
    options(@_);
    misused("unexpected argument '$ARGV[0]'") if @ARGV;
    return;
}

# Prints the comment at the script's head, and ends it.
sub help
{
    open my $script, '<', $0 or cannot("$0: $!");
    while (<$script>) {
        next if $. == 1;
        last if !/^#/;
        print s/^# ?//r;
    }
    exit 0;
}

# The program to ask: LOCKBENCH, or that of a preset's build.
sub lockbench
{
    my ($preset) = @_;
    my $program = $ENV{LOCKBENCH} // "$FindBin::Bin/../build/$preset/lockbench";
    cannot("no program at $program: build it (cmake --preset $preset, cmake --build --preset $preset), or set LOCKBENCH")
        if !-f $program || !-x _;
    return $program;
}

1;
