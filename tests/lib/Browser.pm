# A page in headless Chromium: its document after its scripts ran, and pictures of it.
package Browser;
use strict;
use warnings;
use Exporter 'import';
use File::Temp qw(tempdir);
our @EXPORT = qw(browser dumped screenshot printed decoded table_of);

# The program, or undef.
sub browser
{
    my ($found) = grep { -x } map { ("$_/chromium", "$_/chromium-browser") } split /:/, $ENV{PATH};
    return $found;
}

sub run_browser
{
    my ($path, @options) = @_;
    my $profile = tempdir('lockbench-browser.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my @command = (browser(), qw(--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
        --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars
        --virtual-time-budget=5000), "--user-data-dir=$profile", @options, "file://$path");
    open my $pipe, '-|', 'sh', '-c', 'exec timeout 600 "$@" 2>/dev/null </dev/null', 'sh', @command
        or die "$command[0]: $!\n";
    binmode $pipe, ':utf8';
    local $/;
    my $text = <$pipe> // '';
    close $pipe;
    return $text;
}

sub dumped     { return run_browser(@_, '--dump-dom') }
sub screenshot { my ($path, $to, @options) = @_; run_browser($path, "--screenshot=$to", @options); return -s $to }

sub printed { my ($path, $to) = @_; run_browser($path, "--print-to-pdf=$to"); return -s $to // 0 }

sub decoded
{
    my ($text) = @_;
    $text =~ s/<[^>]*>//g;
    my %names = (lt => '<', gt => '>', quot => '"', amp => '&', nbsp => ' ');
    $text =~ s/&(lt|gt|quot|amp|nbsp);/$names{$1}/g;
    return $text;
}

# The rows of the tables in section $id that are of a cell: {cell => {key => {text, value}}}.
sub table_of
{
    my ($dom, $id) = @_;
    my ($section) = $dom =~ m{<section id="$id".*?>(.*?)</section>}s or return {};
    my %rows;
    while ($section =~ m{<tr data-cell="(\d+)".*?>(.*?)</tr>}gs) {
        my ($cell, $row) = ($1, $2);
        while ($row =~ m{<t[dh]([^>]*)>(.*?)</t[dh]>}gs) {
            my ($attributes, $text) = ($1, decoded($2));
            my ($key) = $attributes =~ /data-key="([^"]*)"/;
            my ($value) = $attributes =~ /data-value="([^"]*)"/;
            $rows{$cell}{ $key // 'name' } = { text => $text, value => $value };
        }
    }
    return \%rows;
}

1;
