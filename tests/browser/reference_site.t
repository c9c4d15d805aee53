#!/usr/bin/env perl
# The site of the reference in a real browser: nothing from the network, every cell of the data and every link there, the
# filters, text of the data that looks like markup stays text, and no page is wider than a phone.
# Only with scripts/test --all: it needs Chromium.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/../../scripts/lib";
use Browser;
use File::Basename qw(dirname);
use File::Find qw(find);
use JSON::PP;
use Lockbench;
use Reference::Files ();
use Test::More;

plan skip_all => 'no chromium to look at a page with' if !browser();

my $source = $ENV{LB_SOURCE} // "$FindBin::Bin/../..";
my $evil = q{</script><script>document.title='caught'</script><img src=x onerror=alert(1)>};
my $data = Reference::Files::published();

sub site_of
{
    my ($name, $of) = @_;
    my $file = spew("$name.json", JSON::PP->new->utf8->encode($of));
    my $dir = scratch() . "/$name";
    my ($status, undef, $err) = Reference::Files::captured("$source/scripts/reference", 'site', $dir, '--data', $file);
    return ($dir, $status, $err);
}

# --- text like markup, wherever text may stand ---
my $clone = decode_json(encode_json($data));
$clone->{lockbench} .= $evil;
$_->{title} .= $evil for @{ $clone->{rows} }, @{ $clone->{columns} };
for my $cell (@{ $clone->{cells} }) {
    $cell->{reason} .= $evil if defined $cell->{reason};
    $_->{witness} .= $evil for grep { defined $_->{witness} } values %{ $cell->{guarantees} // {} };
    $_->{command} .= $evil for @{ $cell->{runs} // [] };
    for my $transcript (@{ $cell->{transcripts} // [] }) {
        $transcript->{$_} .= $evil for qw(words setup again difference);
        for my $step (@{ $transcript->{steps} }) {
            $step->{note} .= $evil;
            $_->{sql} .= $evil, $_->{result} .= $evil for @{ $step->{acts} };
        }
    }
}
my ($dir, $status, $err) = site_of('hostile', $clone);
is($status, 0, 'a site is made') or BAIL_OUT($err);

my (%page, @wrong);
find({ no_chdir => 1, wanted => sub { $page{$File::Find::name} = slurp($_) if /\.html$/ } }, $dir);
cmp_ok(scalar keys %page, '>', scalar @{ $data->{cells} }, 'a page for each cell, and more');
is_deeply([grep { !$page{"$dir/$_/index.html"} } map { $_->{id} } @{ $data->{cells} }, @{ $data->{rows} }], [], 'each has the address of its id');
for my $path (sort keys %page) {
    my $html = $page{$path} =~ s{<style>.*?</style>|<script>\(function.*?</script>|<script>//.*?</script>}{}gsr;
    push @wrong, "$path: loads" if $html =~ /<(?:script|link|img|iframe|object|embed)\b|<[^>]*\s(?:src|onerror)=/;
    push @wrong, "$path: may load" if $html !~ /Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-/;
    for my $to ($html =~ /<a [^>]*href="([^"]*)"/g) {
        my ($file, $anchor) = $to =~ /^([^#]*)(?:#(.*))?$/;
        next if $file =~ m{^https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+$};    # who has met a hazard
        if ($file =~ m{^[a-z]+:}) { push @wrong, "$path: refers to $to"; next }
        my $target = $file eq '' ? $path : dirname($path) . "/$file";
        1 while $target =~ s{[^/]+/\.\./}{};
        push @wrong, "$path: $to is not there" if !$page{$target} || (defined $anchor && $page{$target} !~ /id="\Q$anchor\E"/);
    }
}
is_deeply([grep { defined } @wrong[0 .. 9]], [], 'no page loads anything, and every link leads somewhere');

my ($violated) = grep { @{ $_->{transcripts} // [] } } @{ $data->{cells} };
my $dom = dumped("$dir/$violated->{id}/index.html");
like($dom, qr/<title>\Q$violated->{row}\E/, 'a cell: its title is its own');
like(decoded($dom), qr/\Q<img src=x onerror=alert(1)>\E/, 'a cell: what looks like markup is text');
my ($guarantee) = @{ $violated->{transcripts}[0]{violated} };
like($dom, qr/<h2 id="\Q$guarantee\E">/, 'a cell: each guarantee has its address');

# --- the table and its filters ---
my $html = slurp("$dir/index.html");
my %n;
$n{ $_->{verdict} }++ for @{ $data->{cells} };
for my $verdict (sort keys %n) {
    is(scalar(() = $html =~ /<td data-verdict="$verdict">/g), $n{$verdict}, "the table: cells that are $verdict");
}
# A copy whose policy lets the test's own script in.
sub tried
{
    my ($name, $script) = @_;
    return dumped(spew("$name.html", $html =~ s{<meta http-equiv[^>]*>}{}r =~ s{</body>}{<script>$script</script></body>}r));
}
like(dumped("$dir/index.html"), qr/<html[^>]*data-ready="yes"/, 'the table: its script runs under its policy');
my $filtered = tried('filtered', q{var f = document.getElementById("filters"); f.elements.engine.value = "sqlite"; f.elements.verdict.value = "violated";
    f.dispatchEvent(new Event("input"));});
my %sqlite = map { $_->{row} => $_->{verdict} } grep { $_->{column} =~ m{^sqlite/} } @{ $data->{cells} };
my @bad = grep { $sqlite{$_} eq 'violated' } sort keys %sqlite;
is_deeply([sort map { m{href="([^/"]+)/} ? $1 : () } grep { !/^<tr[^>]* hidden/ } $filtered =~ m{(<tr data-need.*?</tr>)}gs], \@bad, 'the filters: what is violated on SQLite');
like($filtered, qr{id="shown"[^>]*>${\scalar @bad} of }, 'the filters: and it says how many');
my @narrow = ('', "$violated->{id}/");
push @narrow, map { "$_/" } qw(guides/queue-workers-die hazards/read-then-write prove), $violated->{row} if $ENV{LB_TEST_SOAK};
for my $page (@narrow) {
    my $text = slurp("$dir/${page}index.html") =~ s{<meta http-equiv[^>]*>}{}r;
    $text =~ s{</body>}{<script>document.documentElement.dataset.wide = Math.max.apply(null, Array.prototype.map.call(document.querySelectorAll("body > *, main > *"), function (e) { return e.getBoundingClientRect().right; }));</script></body>};
    my $path = spew('narrow.html', $text =~ s{<body>}{<body style="width:360px;margin:0">}r);
    my ($wide) = dumped($path) =~ /data-wide="([\d.]+)"/;
    cmp_ok($wide // 9999, '<=', 360, "/$page fits a phone");
}
if ($ENV{LB_TEST_SOAK}) {
    cmp_ok(printed("$dir/index.html", scratch() . '/table.pdf'), '>', 1000, 'it can be printed');
}

# --- what the generator refuses ---
for my $case ([{ %$data, schema_version => 2 }, qr/another form/], [{ %$data, cells => [{ %{ $data->{cells}[0] }, id => '../../x' }] }, qr/not an id/]) {
    my ($of, $says) = @$case;
    my (undef, $got, $told) = site_of('refused', $of);
    is($got, 3, 'refused');
    like($told, $says, 'and it says why');
}
done_testing;
