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
            . ($found && ($found->{cost} || $found->{aged}) ? Reference::Site::cell_words($found) : verdict_words(($found // { verdict => 'not tested' })->{verdict})) . ')';
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

my $undisturbed = qr{^(?!.*-(?:kill|pause|disconnect|cost|aged|failover-\w+)/)};    # a fault breaks more than one thing

# From docs/hazards.md: {title, mechanism, shown, broken, mended, columns, repair, seen}; from
# docs/replication.md: its advice.
sub hazards
{
    my %more = map { $_->{hazard} => $_ } table("$home/hazards.tsv");
    my @all = map { /^\| (?!hazard|---)(.*?) \| (.*?) \| (.*) \|$/ ? { title => $1, mechanism => $2, shown => $3 } : () }
        split /\n/, slurp(top() . '/docs/hazards.md');
    my ($advice) = slurp(top() . '/docs/replication.md') =~ /^## Advice\n(.*)/ms;
    push @all, { title => "$1", mechanism => $2 =~ s/\s+/ /gr, shown => 'docs/replication.md has what was measured' }
        while ($advice // '') =~ /^- \*\*(.*?)\*\*: (.*?)(?=\n- |\z)/msg;
    for my $hazard (@all) {
        my $own = delete $more{ slug($hazard->{title}) } // die "hazards.tsv: nothing about: $hazard->{title}\n";
        my %broken = map { $_ => 1 } split /,/, $own->{rows};
        my @controls = $hazard->{shown} =~ /\bcontrols? ((?:`[^`]+`(?:, | and )?)+)/g;
        my @twins = $hazard->{shown} =~ /\btwins? ((?:`[^`]+`(?:, | and )?)+)/g;
        $broken{$_} = 1 for map { /`([a-z-]+)/g } @controls;
        delete $broken{'skip-locked'} if $hazard->{shown} =~ /skip-locked --opt/;
        $hazard->{broken} = [sort keys %broken];
        $hazard->{mended} = [map { /`([a-z-]+)/g } @twins];
        $hazard->{columns} = $own->{columns} eq '' ? $undisturbed : qr/$own->{columns}/;
        $hazard->{repair} = $own->{repair};
        $hazard->{seen} = [map { [split / /, $_, 2] } split / \| /, $own->{seen}];
    }
    die "hazards.tsv: no such hazard: $_\n" for sort keys %more;
    return @all;
}

sub hazard_cells
{
    my ($ids, $data, $cells, $verdict, $columns) = @_;
    my %wanted = map { $_ => 1 } @$ids;
    my $html = '';
    for my $row (grep { $wanted{ $_->{id} } } @{ $data->{rows} }) {
        my @found = grep { $_->{verdict} eq $verdict && $_->{column} =~ $columns } map { $cells->{"$row->{id}/$_->{id}"} } @{ $data->{columns} };
        next if !@found;
        $html .= '<li>' . link_to(2, $row->{id}, h($row->{id})) . ': ' . join(', ', map { link_to(2, $_->{id}, h($_->{column})) } @found) . "</li>\n";
    }
    return $html;
}

# The transcript that shows a hazard best: of a strategy broken in only this way, on the most common
# server, and short.
sub shortest
{
    my ($ids, $data, $columns) = @_;
    my %wanted = map { $_ => 1 } @$ids;
    my %group = map { $_->{id} => $_->{group} } @{ $data->{rows} };
    my @all;
    for my $cell (grep { $wanted{ $_->{row} } && $_->{column} =~ $columns } @{ $data->{cells} }) {
        my $distance = 20 * ($group{ $cell->{row} } ne 'control') + 10 * ($cell->{column} ne 'postgres-15/read-committed');
        push @all, map { [$distance + @{ $_->{steps} }, $_, $cell] } grep { $_->{replays} } @{ $cell->{transcripts} // [] };
    }
    my ($best) = sort { $a->[0] <=> $b->[0] || $a->[2]{id} cmp $b->[2]{id} } @all;
    return $best ? @{$best}[1, 2] : ();
}

# Reports of it: public issues and pull requests. "OWNER/NAME/issues/N" and a summary.
sub seen_html
{
    my ($seen) = @_;
    return '<p>No public report of just this is known to us.</p>' if !@$seen;
    my $html = '<ul>';
    for my $one (@$seen) {
        my ($path, $words) = @$one;
        my ($repository, $kind, $n) = $path =~ m{^([\w.-]+/[\w.-]+)/(issues|pull)/(\d+)$} or die "hazards.tsv: not OWNER/NAME/issues/N: $path\n";
        $html .= '<li><a href="https://github.com/' . h($path) . '" rel="noreferrer">' . h("$repository#$n") . '</a>'
            . ($kind eq 'pull' ? ' (a change)' : '') . ': ' . h($words) . "</li>\n";
    }
    return "$html</ul>";
}

sub hazard_page
{
    my ($hazard, $title, $data, $cells) = @_;
    my $resolve = sub { return '<code>' . h($_[1]) . '</code>' };
    my $sentence = sub { my $text = ucfirst $_[0]; return '<p>' . inline($text =~ /[.:]\s*$/ ? $text : "$text.", $resolve) . '</p>' };
    my $html = '<h2>Mechanism</h2>' . $sentence->($hazard->{mechanism});
    my ($transcript, $cell) = shortest($hazard->{broken}, $data, $hazard->{columns});
    $html .= '<h2>Transcript</h2>' . ($transcript
        ? '<p>Of ' . link_to(2, $cell->{id}, h($cell->{id})) . ': ' . h($transcript->{words}) . '</p>' . Reference::Site::transcript_html($transcript)
        : '<p>None: no cell of the survey shows it in a few steps of a client program. What shows it here is named at the end.</p>');
    $html .= '<h2>Who has met it</h2>' . seen_html($hazard->{seen});
    my $good = hazard_cells($hazard->{mended}, $data, $cells, 'held', qr//);
    $html .= '<h2>Repair</h2>' . ($hazard->{repair} ne '' ? $sentence->($hazard->{repair}) : '<p>The text above says what helps.</p>')
        . ($good ne '' ? "<p>Cells of what is repaired so:</p><ul>$good</ul>" : '');
    my $bad = hazard_cells($hazard->{broken}, $data, $cells, 'violated', $hazard->{columns});
    $html .= '<h2>Cells that show it</h2>' . ($bad ne '' ? "<ul>$bad</ul>" : '<p>None.</p>');
    return page($title, 2, "$html<h2>Shown by</h2>" . $sentence->($hazard->{shown}));
}

sub hazard_pages
{
    my ($data, $cells) = @_;
    my (%pages, @list);
    for my $hazard (hazards()) {
        my $title = ucfirst $hazard->{title} =~ s/`//gr;
        my $slug = slug($title);
        $pages{"hazards/$slug"} = hazard_page($hazard, $title, $data, $cells);
        push @list, '<li>' . link_to(1, "hazards/$slug", h($title)) . '</li>';
    }
    $pages{hazards} = page('How locks and queues in SQL fail', 1,
        '<p>Each page: the mechanism, a transcript, who has met it, the repair, and the cells that show it.</p><ul>' . join("\n", @list) . '</ul>');
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
        . verdict_words('measured') . ': what one lock or job costs, as counts; or what a claim reads with 1,000,000 finished / delayed / dead items.</li><li>'
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
