# The site: the table, a page of each row and of each cell, the guides, the hazards, and how to prove it wrong.
package Reference::Site;
use strict;
use warnings;
use Exporter 'import';
use Reference::Files;
use Reference::Html;
use Reference::Pages;
use Reference::Transcript;
our @EXPORT = qw(site);

sub held_of
{
    my ($cell) = @_;
    my @all = values %{ $cell->{guarantees} // {} };
    my $held = grep { $_->{verdict} eq 'held' } @all;
    return $cell->{verdict} eq 'held' && $held < @all ? "$held of " . @all : undef;
}

sub table_page
{
    my ($data, $cells) = @_;
    my %engines = map { ($_->{id} =~ m{^([^/]+)})[0] => 1 } @{ $data->{columns} };
    my %needs = map { $_->{need} => 1 } @{ $data->{rows} };
    my $select = sub {
        my ($name, $label, @values) = @_;
        return "<label>$label <select name=\"$name\"><option value=\"\">all</option>"
            . join('', map { '<option value="' . h($_) . '">' . h($_) . '</option>' } @values) . '</select></label>';
    };
    my $html = Reference::Pages::welcome($data)
        . '<form id="filters" hidden>' . $select->('engine', 'Server', sort keys %engines) . $select->('need', 'Need', sort keys %needs)
        . $select->('verdict', 'Verdict', qw(held violated measured skip)) . '<label>Row <input name="text" type="search"></label></form>'
        . '<p id="shown" role="status"></p><div class="wide" tabindex="0" role="region" aria-label="Verdicts"><table id="table"><thead><tr><th scope="col">row</th>'
        . join('', map { '<th scope="col" data-engine="' . h(($_->{id} =~ m{^([^/]+)})[0]) . '">' . h($_->{title}) . '</th>' } @{ $data->{columns} })
        . "</tr></thead><tbody>\n";
    for my $row (@{ $data->{rows} }) {
        $html .= '<tr data-need="' . h($row->{need}) . '"><th scope="row">' . link_to(0, $row->{id}, h($row->{id})) . '<br><small>' . h($row->{title}) . '</small></th>';
        for my $column (@{ $data->{columns} }) {
            my $cell = $cells->{"$row->{id}/$column->{id}"};
            $html .= '<td data-verdict="' . h($cell->{verdict}) . '">' . link_to(0, $cell->{id}, cell_words($cell)) . '</td>';
        }
        $html .= "</tr>\n";
    }
    return page('Locks and queues in SQL: what holds', 0, "$html</tbody></table></div>" . Reference::Pages::legend(), 1);
}

# What one costs, in a few words.
sub cost_words
{
    my ($cost) = @_;
    my @words;
    push @words, "$cost->{statements} statements" if defined $cost->{statements};
    push @words, sprintf('%.0f B of log', $cost->{wal_bytes}) if defined $cost->{wal_bytes};
    return join ', ', @words ? @words : 'see the cell';
}

# What a claim reads with finished / delayed / dead items: "16 / n/a / 32,600 pages".
sub aged_words
{
    my ($aged) = @_;
    my $number = sub { my ($n) = @_; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $n };
    my @states = map { $aged->{$_} // {} } qw(finished delayed dead);
    my ($unit) = grep { defined } map { $_->{unit} } @states;
    return join ' / ', map { !defined $_->{claim} ? 'n/a' : $number->($_->{claim}) . ($_->{unit} eq $unit ? '' : " $_->{unit}") } @states
        if grep { defined $_->{unit} && $_->{unit} ne $unit } @states;
    return join(' / ', map { defined $_->{claim} ? $number->($_->{claim}) : 'n/a' } @states) . " $unit";
}

sub cell_words
{
    my ($cell) = @_;
    return verdict_words('measured', aged_words($cell->{aged})) if $cell->{aged};
    return verdict_words('measured', cost_words($cell->{cost})) if $cell->{verdict} eq 'measured';
    return verdict_words($cell->{verdict}, held_of($cell));
}

sub act_html
{
    my ($act) = @_;
    my $answer = $act->{answer} eq 'blocked' ? 'waits' : $act->{result} ne '' ? $act->{result}
        : $act->{answer} ne 'ok' ? "refused: $act->{answer}" : $act->{sql} =~ /^\s*(?:INSERT|UPDATE|DELETE|WITH|MERGE)/i ? "$act->{changed} changed" : 'ok';
    return '<pre>' . h($act->{sql}) . ';</pre>' if $answer eq 'ok' && $act->{sql} =~ /^(?:BEGIN|COMMIT|ROLLBACK)/;
    return ($act->{late} ? '<p>goes on:</p>' : '<pre>' . h($act->{sql}) . ';</pre>') . '<p>&#8594; ' . h($answer) . '</p>';
}

sub transcript_html
{
    my ($transcript) = @_;
    my $n = $transcript->{sessions};
    my $html = '<div class="wide" tabindex="0" role="region" aria-label="Transcript"><table class="transcript"><thead><tr><th scope="col">step</th>'
        . join('', map { '<th scope="col">session ' . chr(65 + $_) . ($transcript->{nodes} ? ", node $transcript->{nodes}[$_]" : '') . '</th>' } 0 .. $n - 1) . "</tr></thead><tbody>\n";
    for my $step (@{ $transcript->{steps} }) {
        my $said = join('', map { act_html($_) } @{ $step->{acts} }) . ($step->{note} ne '' ? '<p><strong>' . h($step->{note}) . '</strong></p>' : '');
        $html .= '<tr><th scope="row">' . h($step->{step}) . '</th>'
            . ($step->{session} < 0 ? "<td colspan=\"$n\">$said</td>" : join '', map { '<td>' . ($_ == $step->{session} ? $said : '') . '</td>' } 0 .. $n - 1)
            . "</tr>\n";
    }
    return "$html</tbody></table></div>\n<p>"
        . ($transcript->{replays} ? 'Played with ' . h($transcript->{client}) . ', one for each session: every answer was as it stands here.'
            : 'It needs what the client program does not do (' . h($transcript->{difference}) . '); lockbench plays it.')
        . ($transcript->{schedule} ne '' ? ' With lockbench:' : ' Again:') . '</p><pre>' . h($transcript->{again}) . "</pre>\n<details><summary>As text, to paste</summary><pre>" . h(as_text($transcript)) . '</pre></details>';
}

sub guarantee_html
{
    my ($name, $found, $cell, $shown) = @_;
    my $html = '<h2 id="' . h($name) . '">' . h($name) . ': ' . verdict_words($found->{verdict}) . "</h2>\n";
    $html .= '<p>' . h($found->{reason}) . '</p>' if defined $found->{reason};
    $html .= '<p>' . h($found->{witness}) . '</p>' if defined $found->{witness};
    $html .= '<p>Under load, ' . h($found->{stressed}) . '</p>' if defined $found->{stressed};
    return $html if !defined $found->{transcript};
    my $seen = $shown->{ $found->{transcript} } //= $name;
    return "$html<p>The transcript stands <a href=\"#" . h($seen) . '">above</a>.</p>' if $seen ne $name;
    return $html . transcript_html($cell->{transcripts}[$found->{transcript}]);
}

sub runs_html
{
    my ($cell) = @_;
    my $html = "<h2>What was run</h2><ul>\n";
    for my $run (@{ $cell->{runs} }) {
        my $what = $run->{kind} eq 'cost' ? '500 of them, one worker' : $run->{kind} eq 'aged' ? 'one claim at each size' : $run->{kind} eq 'explore'
            ? "$run->{schedules} schedules, " . ($run->{complete} ? 'every one that matters' : "bounded: $run->{bounds}")
            : join ', ', map { "$_->{name}: $_->{runs} run of $_->{seconds} s" . ($_->{faults} ? ", $_->{faults} " . ($_->{faults} == 1 ? 'fault' : 'faults') : '') } @{ $run->{scenarios} };
        $html .= '<li>' . h("$run->{kind}: $what; $run->{seconds} s, $run->{date}") . '<pre>' . h($run->{command}) . "</pre></li>\n";
    }
    return "$html</ul><p>URI is that of your server; the commands start from the top of the source tree.</p>";
}

sub cell_page
{
    my ($cell, $row, $column) = @_;
    my $depth = 1 + (() = $cell->{id} =~ m{/}g);
    my $html = '<p>' . cell_words($cell) . ' &#183; ' . link_to($depth, $row->{id}, h($row->{title})) . '</p>';
    $html .= '<p>' . h($cell->{reason}) . '</p>' if defined $cell->{reason};
    $html .= '<p>' . h("$column->{title}" . (defined $cell->{version} ? ", version $cell->{version}" : '') . (defined $cell->{date} ? "; last run $cell->{date}" : '')) . '.</p>';
    if ($cell->{cost}) {
        my %name = (statements => 'statements', wal_bytes => 'bytes of the log that is written ahead', rows_read => 'rows read', dead_rows => 'dead rows left');
        $html .= '<h2>What one costs</h2><p>For each lock or item, from asking for it to giving it back, with one worker and nobody else there:</p><ul>'
            . join('', map { defined $cell->{cost}{$_} ? '<li>' . h("$cell->{cost}{$_} $name{$_}") . '</li>' : () } qw(statements wal_bytes rows_read dead_rows)) . '</ul>';
    }
    if ($cell->{aged}) {
        $html .= '<h2>What a claim reads with 1,000,000 other items</h2><p>Predicted by the law of its costs with at most 64,000; these are counts.</p><ul>'
            . join('', map { my $one = $cell->{aged}{$_}; '<li>' . h("$_: " . ($one->{reason} // "$one->{claim} $one->{unit}, $one->{grows}")) . '</li>' }
                grep { $cell->{aged}{$_} } qw(finished delayed dead)) . '</ul>';
    }
    my (%shown, %order);
    %order = (violated => 0, held => 1);
    my $of = $cell->{guarantees} // {};
    for my $name (sort { ($order{ $of->{$a}{verdict} } // 2) <=> ($order{ $of->{$b}{verdict} } // 2) || $a cmp $b } keys %$of) {
        $html .= guarantee_html($name, $of->{$name}, $cell, \%shown);
    }
    $html .= runs_html($cell) if $cell->{runs};
    return page("$row->{id} on $column->{title}", $depth, $html);
}

sub row_page
{
    my ($row, $data, $cells) = @_;
    my $html = '<p>' . h($row->{title}) . '. For: ' . h($row->{need}) . '.</p>'
        . ($row->{group} eq 'article' ? '<p class="box">Verdicts are of what this form claims. docs/articles of the source tree says what else was seen of the article: what is lost when an agent fails or dies, and what to use today.</p>' : '')
        . ($row->{group} eq 'protocol' ? '<p class="box">These are statements of ours, after the mechanism that the name stands for. No code of a library was run for this row, and no version of it is claimed.</p>' : '')
        . ($row->{group} eq 'program' ? '<p class="box">The library itself was run, in the version that the title names, by the adapter of examples/programs. docs/programs.md of the source tree has more of it.</p>' : '') . '<ul>';
    for my $column (@{ $data->{columns} }) {
        my $cell = $cells->{"$row->{id}/$column->{id}"};
        my @bad = grep { $cell->{guarantees}{$_}{verdict} eq 'violated' } sort keys %{ $cell->{guarantees} // {} };
        $html .= '<li>' . link_to(1, $cell->{id}, h($column->{title})) . ': ' . cell_words($cell) . h(@bad ? ": @bad" : '') . "</li>\n";
    }
    $html .= '</ul>';
    for my $sql (Reference::Pages::statements_of($row)) {
        $html .= '<h2>' . h($sql->{name}) . '</h2><pre>' . h($sql->{text}) . '</pre>';
    }
    return page("$row->{id}" . ($row->{options} ne '' ? " with $row->{options}" : ''), 1, $html);
}

sub site
{
    my ($dir, $file) = @_;
    my $data = published($file);
    die "the data is of another form: not lockbench-reference 1\n" if ($data->{schema} // '') ne 'lockbench-reference' || $data->{schema_version} != 1;
    my %cells = map { $_->{id} => $_ } @{ $data->{cells} };
    my %row = map { $_->{id} => $_ } @{ $data->{rows} };
    my %column = map { $_->{id} => $_ } @{ $data->{columns} };
    m{^[a-z0-9][a-z0-9./-]*$} && !m{\.\./} or die "not an id: $_\n" for keys %cells, keys %row, keys %column;
    my %pages = ('' => table_page($data, \%cells), Reference::Pages::all($data, \%cells));
    $pages{ $_->{id} } = row_page($_, $data, \%cells) for @{ $data->{rows} };
    $pages{ $_->{id} } = cell_page($_, $row{ $_->{row} }, $column{ $_->{column} }) for @{ $data->{cells} };
    for my $path (sort keys %pages) {
        my $text = $pages{$path};
        utf8::encode($text);
        spew("$dir/" . ($path eq '' ? '' : "$path/") . 'index.html', $text);
    }
    said("$dir: " . keys(%pages) . ' pages, first index.html');
    return 0;
}

1;
