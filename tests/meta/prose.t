#!/usr/bin/env perl
# Comments, messages and documents in plain English: counts phrases that stop a reader, such as a clause with "what" or
# "who" in place of a noun, for each 1,000 words, and compares the counts with limits for each folder and for the whole.
# A hit is a line to rewrite: "the caller" for "whoever calls", "locks of dead workers" for "what the dead held".
use strict;
use warnings;
use Test::More;

my $source = $ENV{LB_SOURCE} // '.';
my $verb   = qr/(?:is|are|was|were|has|have|had|can|may|must|will|would|does|do|did|comes?|came|takes?|took|holds?|held|wants?|waits?|says?|said|gives?|gave|asks?|asked)/;
my %shape  = (
    'a clause for a noun' => qr/(?:^|[.;:,(] ?|\b(?:and|or|but|of|to|by|for|from|with|in|on|at|than|is|are|as) )(?:[Ww]hat|[Ww]ho(?:ever|m)?|[Ww]hatever) (?!(?:is|are|was|does|do|did|if)\b[^.;:]*\?)(?:\w+ ){0,6}?$verb\b/,
    'hangs on'            => qr/\bhangs? on\b/,
    'so many'             => qr/\bso (?:many|much|few|often)\b(?! (?:that|as)\b)/,
    'goes by'             => qr/\bgo(?:es)? by\b/,
    'is told'             => qr/\b(?:is|are|was|were) told\b|\btells? of\b|\btold apart\b/,
    'says of'             => qr/\bsays? (?:nothing )?of\b/,
    'nobody'              => qr/\b(?:no|any|some|every)body\b/,
    'mend'                => qr/\bmend(?:s|ed|ing)?\b/,
);

# [line number, text] of each piece of prose in a file.
sub prose_of
{
    my ($path, $text) = @_;
    my ($n, $is_code, @pieces) = (0, 0);
    my $is_page = $path =~ /\.(?:md|[15])$/;
    if ($path =~ /\.[ch]$/) {
        while ($text =~ m{/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"}gs) {
            my ($piece, $line) = ($&, 1 + (substr($text, 0, $-[0]) =~ tr/\n//));
            next if $piece =~ /^"/ && ($piece =~ tr/ //) < 3;
            push @pieces, map { [$line++, s{^[/* "]+|[/* "]+$}{}gr] } split /\n/, $piece;
        }
        return @pieces;
    }
    for my $line (split /\n/, $text) {
        $n++;
        if (!$is_page) {
            push @pieces, [$n, $1] if $line =~ /^\s*(?:#|--|;)+ (.*)/;
        } elsif ($line =~ /^```|^\.E[XE]$/) {
            $is_code = !$is_code;
        } else {
            push @pieces, [$n, $line] if !$is_code && $line !~ /^(?:    |\||\.\\")/;
        }
    }
    return @pieces;
}

my (%words, %hits, @worst);
chdir $source or BAIL_OUT("$source: $!");
my @files = grep { -f && /\.(?:[ch]|md|[15]|pl|pm|t|sql|ini|sh|cmake)$|^scripts\/[\w-]+$/ && !m{^results/|^tests/(?:fuzz/corpus|histories)|^tests/meta/prose\.t} }
    split /\n/, `git ls-files 2>/dev/null`;
plan skip_all => 'no git' if !@files;
for my $path (@files) {
    open my $file, '<:raw', $path or BAIL_OUT("$path: $!");
    my $text   = do { local $/; <$file> } // '';
    my $folder = $path =~ m{^(bench/[^/]+)/} ? $1 : $path =~ m{^([^/]+)/} ? $1 : $path;
    for my $piece (prose_of($path, $text)) {
        my @words = split ' ', $piece->[1];
        $words{$folder} += @words;
        for my $name (sort keys %shape) {
            my $n = () = $piece->[1] =~ /$shape{$name}/g or next;
            $hits{$folder} += $n;
            push @worst, [$folder, "$path:$piece->[0]: $name: $piece->[1]"];
        }
    }
}

# The control: the counter finds each shape.
for (['a clause for a noun', 'of what the dead held'], ['hangs on', 'this hangs on it'], ['so many', 'so many runs'], ['goes by', 'it goes by time'],
    ['is told', 'it is told'], ['says of', 'it says nothing of it'], ['nobody', 'somebody waits'], ['mend', 'a mended lock'])
{
    my ($name, $text) = @$_;
    like($text, $shape{$name}, "found: $name");
}

# At most two in 1,000 words in each folder, and one in the whole.
my ($all_words, $all_hits) = (0, 0);
for my $folder (sort keys %words) {
    my $n = $hits{$folder} // 0;
    $all_words += $words{$folder};
    $all_hits  += $n;
    next if $words{$folder} < 500;
    cmp_ok(1000 * $n / $words{$folder}, '<=', 2, "$folder: at most 2 in 1,000 words")
        or diag map { "$_->[1]\n" } grep { $_->[0] eq $folder } @worst;
}
cmp_ok(1000 * $all_hits / $all_words, '<=', 1, 'at most 1 in 1,000 words of all');
note("$all_hits in $all_words words");
done_testing();
