# The pages that are prose: guides of results/reference/guides, hazards of docs/hazards.md and docs/replication.md, and
# how to prove the survey wrong. A link to a cell that is not there ends the generator: no advice without its cells.
package Reference::Pages;
use strict;
use warnings;
use Reference::Files;
use Reference::Html;

my $home = top() . '/results/reference';

# The statements of a row, as they stand in the tree.
sub statements_of
{
    my ($row) = @_;
    my $file = "$home/$row->{strategy}";
    my @paths = $row->{strategy} =~ /\.sql$/ ? $file : glob top() . "/sql/$row->{strategy}/*.sql";
    return map { { name => s{^.*?((?:sql|results|tests|examples)/)}{$1}r =~ s{[^/]+/\.\./}{}gr =~ s{^results/\.\./}{}r, text => slurp($_) } } grep { -e } @paths;
}

# A link to a cell, with its verdict; or to a row.
sub cell_link
{
    my ($depth, $cells) = @_;
    return sub {
        my ($text, $to) = @_;
        my ($id, $guarantee) = $to =~ m{^cell:([^#]+)(?:#(.+))?$} or return '<a href="' . h($to) . '">' . h($text) . '</a>';
        my $cell = $cells->{$id} or die "a guide names the cell $id, which is not there\n";
        my $found = defined $guarantee ? $cell->{guarantees}{$guarantee} : $cell;
        return link_to($depth, $id . ($found && defined $guarantee ? "#$guarantee" : ''), h($text)) . ' ('
            . verdict_words(($found // { verdict => 'not tested' })->{verdict}) . ')';
    };
}

# Paragraphs, "- " lists, "## " headings and indented code.
sub prose
{
    my ($text, $resolve) = @_;
    my $html = '';
    for my $part (split /\n\s*\n/, $text) {
        if ($part =~ m{^## (.*)}) { $html .= '<h2>' . inline($1, $resolve) . "</h2>\n" }
        elsif ($part =~ /^    /) { $html .= '<pre>' . h($part =~ s/^    //gmr) . "</pre>\n" }
        elsif ($part =~ /^- /) {
            $html .= '<ul>' . join('', map { '<li>' . inline(s/\n\s*/ /gr, $resolve) . '</li>' } grep { /\S/ } split /^- /m, $part) . "</ul>\n";
        }
        else { $html .= '<p>' . inline($part =~ s/\n/ /gr, $resolve) . "</p>\n" }
    }
    return $html;
}

sub guides
{
    my ($cells) = @_;
    my (%pages, @list);
    for my $path (sort glob "$home/guides/*.md") {
        my ($name) = $path =~ m{/(?:\d+-)?([^/]+)\.md$};
        my ($title, $text) = slurp($path) =~ /^# (.*?)\n\s*(.*)/s or die "$path: no title\n";
        $pages{"guides/$name"} = page($title, 2, prose($text, cell_link(2, $cells)));
        push @list, '<li>' . link_to(1, "guides/$name", h($title)) . '</li>';
    }
    $pages{guides} = page('Choose by what you need', 1, '<p>Each advice links to the cells that it rests on.</p><ul>' . join("\n", @list) . '</ul>');
    return %pages;
}

# Of docs/hazards.md: {title, mechanism, shown, rows}; of docs/replication.md, its advice.
sub hazards
{
    my %rows;
    push @{ $rows{ $_->{hazard} } }, split /,/, $_->{rows} for table("$home/hazards.tsv");
    my @all = map { /^\| (?!hazard|---)(.*?) \| (.*?) \| (.*) \|$/ ? { title => $1, mechanism => $2, shown => $3 } : () }
        split /\n/, slurp(top() . '/docs/hazards.md');
    my ($advice) = slurp(top() . '/docs/replication.md') =~ /^## Advice\n(.*)/ms;
    push @all, { title => "$1", mechanism => $2 =~ s/\s+/ /gr, shown => 'docs/replication.md has what was measured' }
        while ($advice // '') =~ /^- \*\*(.*?)\*\*: (.*?)(?=\n- |\z)/msg;
    for my $hazard (@all) {
        my %broken = map { $_ => 1 } @{ delete $rows{ slug($hazard->{title}) } // [] };
        my @controls = $hazard->{shown} =~ /\bcontrols? ((?:`[^`]+`(?:, | and )?)+)/g;
        my @twins = $hazard->{shown} =~ /\btwins? ((?:`[^`]+`(?:, | and )?)+)/g;
        $broken{$_} = 1 for map { /`([a-z-]+)/g } @controls;
        delete $broken{'skip-locked'} if $hazard->{shown} =~ /skip-locked --opt/;
        $hazard->{broken} = [sort keys %broken];
        $hazard->{mended} = [map { /`([a-z-]+)/g } @twins];
    }
    die "hazards.tsv: no such hazard: $_\n" for sort keys %rows;
    return @all;
}

sub hazard_cells
{
    my ($ids, $data, $cells, $verdict) = @_;
    my %wanted = map { $_ => 1 } @$ids;
    my $html = '';
    for my $row (grep { $wanted{ $_->{id} } } @{ $data->{rows} }) {
        my @found = grep { $_->{verdict} eq $verdict } map { $cells->{"$row->{id}/$_->{id}"} } @{ $data->{columns} };
        next if !@found;
        $html .= '<li>' . link_to(2, $row->{id}, h($row->{id})) . ': ' . join(', ', map { link_to(2, $_->{id}, h($_->{column})) } @found) . "</li>\n";
    }
    return $html;
}

sub shortest
{
    my ($ids, $data, $cells) = @_;
    my %wanted = map { $_ => 1 } @$ids;
    my ($best, $of);
    for my $cell (grep { $wanted{ $_->{row} } } @{ $data->{cells} }) {
        for my $one (grep { $_->{replays} } @{ $cell->{transcripts} // [] }) {
            ($best, $of) = ($one, $cell) if !$best || @{ $one->{steps} } < @{ $best->{steps} };
        }
    }
    return ($best, $of);
}

sub hazard_pages
{
    my ($data, $cells) = @_;
    my (%pages, @list);
    my $resolve = sub { return '<code>' . h($_[1]) . '</code>' };
    for my $hazard (hazards()) {
        my $title = $hazard->{title} =~ s/`//gr;
        my $slug = slug($title);
        my $html = '<p>' . inline($hazard->{mechanism}, $resolve) . '.</p>';
        my ($transcript, $cell) = shortest($hazard->{broken}, $data, $cells);
        $html .= '<h2>Transcript</h2><p>Of ' . link_to(2, $cell->{id}, h($cell->{id})) . ': ' . h($transcript->{words}) . '</p>'
            . Reference::Site::transcript_html($transcript) if $transcript;
        $html .= '<h2>Transcript</h2><p>None: no cell of the survey shows it in a few steps of a client program. What shows it here is named below.</p>' if !$transcript;
        my $bad = hazard_cells($hazard->{broken}, $data, $cells, 'violated');
        my $good = hazard_cells($hazard->{mended}, $data, $cells, 'held');
        $html .= '<h2>Cells that show it</h2>' . ($bad ne '' ? "<ul>$bad</ul>" : '<p>None.</p>');
        $html .= '<h2>Repair</h2>' . ($good ne '' ? "<ul>$good</ul>" : '<p>No row of the survey repairs just this; the text below says what helps.</p>');
        $html .= '<h2>Shown by</h2><p>' . inline($hazard->{shown}, $resolve) . '</p>';
        $pages{"hazards/$slug"} = page($title, 2, $html);
        push @list, '<li>' . link_to(1, "hazards/$slug", h($title)) . '</li>';
    }
    $pages{hazards} = page('How locks and queues in SQL fail', 1, '<ul>' . join("\n", @list) . '</ul>');
    return %pages;
}

sub welcome
{
    my ($data) = @_;
    return '<p>Each cell says whether one protocol kept all its promises on one server, and how that was found out: '
        . h("lockbench $data->{lockbench}, $data->{date}") . '.</p><div class="box"><p><strong>A queue on PostgreSQL whose workers may die?</strong> Claim with '
        . '<code>FOR UPDATE SKIP LOCKED</code>, write the end of a lease and a token into the row in the same statement, and ask for the token when the job ends: '
        . link_to(0, 'guides/queue-workers-die', 'the statement, and why') . '.</p><p>' . link_to(0, 'guides', 'Other needs') . ' &#183; '
        . link_to(0, 'hazards', 'How such protocols fail') . '</p></div>';
}

sub legend
{
    return '<h2>How to read it</h2><ul><li>' . verdict_words('held') . ': every guarantee that was tested was kept, in what was run; with numbers, so many of those that are claimed were tested.</li><li>'
        . verdict_words('violated') . ': at least one guarantee was broken; the cell has the transcript or the witness.</li><li>'
        . verdict_words('skip') . ': nothing was tested; the cell says why.</li></ul>'
        . '<p>Held is of what was run, which each cell lists, and is no proof of anything else.</p>';
}

sub all
{
    my ($data, $cells) = @_;
    my ($title, $text) = slurp("$home/prove-us-wrong.md") =~ /^# (.*?)\n\s*(.*)/s;
    return (guides($cells), hazard_pages($data, $cells), prove => page($title, 1, prose($text, cell_link(1, $cells))));
}

1;
