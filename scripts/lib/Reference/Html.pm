# The frame of every page, and its parts. Pages load nothing: style and script are embedded.
package Reference::Html;
use strict;
use warnings;
use Digest::SHA qw(sha256_base64);
use Exporter 'import';
use Reference::Files;
our @EXPORT = qw(h page link_to verdict_words inline slug);

my %escape = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;');

sub h
{
    my ($text) = @_;
    return ($text // '') =~ s/([&<>"'])/$escape{$1}/gr =~ s/([\x00-\x08\x0b-\x1f\x7f])/sprintf '\\x%02x', ord $1/ger;
}

sub slug { return lc($_[0]) =~ s/[^a-z0-9]+/-/gr =~ s/^-|-$//gr }

# From a page that lies $depth folders deep.
sub link_to
{
    my ($depth, $to, $text) = @_;
    my ($path, $anchor) = $to =~ /^([^#]*)(?:#(.*))?$/s;
    return '<a href="' . h(('../' x $depth) . ($path eq '' ? '' : "$path/") . 'index.html' . (defined $anchor ? "#$anchor" : '')) . "\">$text</a>";
}

my %words = (held => ['held', '&#10003; held'], violated => ['violated', '&#10007; violated'], skip => ['skip', '&#8211; skip'],
    measured => ['measured', '&#8776; measured'],
    'not tested' => ['untested', '? not tested']);

# A verdict as word and symbol: colour alone says nothing to some readers.
sub verdict_words
{
    my ($verdict, $more) = @_;
    my ($class, $text) = @{ $words{$verdict} // ['skip', h($verdict)] };
    return "<span class=\"v $class\">$text" . (defined $more ? ' ' . h($more) : '') . '</span>';
}

# `code`, **strong** and [text](address) of a line of Markdown; addresses by $resolve->(text, address), which gives HTML.
sub inline
{
    my ($text, $resolve) = @_;
    my $html = '';
    while ($text =~ /\G(?:`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)|\*\*(.+?)\*\*|([^`\[*]+|.))/gs) {
        $html .= defined $1 ? '<code>' . h($1) . '</code>'
            : defined $2 ? $resolve->($2, $3)
            : defined $4 ? '<strong>' . h($4) . '</strong>' : h($5);
    }
    return $html;
}

my $style = slurp(top() . '/results/reference/site.css');
my $script = slurp(top() . '/results/reference/site.js');

sub page
{
    my ($title, $depth, $body, $scripted) = @_;
    my $policy = "default-src 'none'; style-src 'sha256-" . padded(sha256_base64($style)) . "'"
        . ($scripted ? "; script-src 'sha256-" . padded(sha256_base64($script)) . "'" : '');
    my $nav = join ' ', map { link_to($depth, @$_) } ['', 'Table'], ['guides', 'Choose'], ['hazards', 'How they fail'], ['prove', 'Prove us wrong'];
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        . "<meta http-equiv=\"Content-Security-Policy\" content=\"" . h($policy) . "\">\n"
        . "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" . h($title) . "</title>\n"
        . "<style>$style</style>\n</head>\n<body>\n<a class=\"skip-nav\" href=\"#main\">To the content</a>\n"
        . "<header><nav aria-label=\"Pages\">$nav</nav></header>\n<main id=\"main\">\n<h1>" . h($title) . "</h1>\n$body\n</main>\n"
        . ($scripted ? "<script>$script</script>\n" : '') . "</body>\n</html>\n";
}

sub padded { my ($text) = @_; $text .= '=' while length($text) % 4; return $text }

1;
