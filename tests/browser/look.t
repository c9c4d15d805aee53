#!/usr/bin/env perl
# The report page as people meet it: on a phone, on a desk, in the dark, on paper, in colours of their own, by
# keyboard alone. No text lies on another or beyond the window, every table has a name, axe-core finds nothing
# serious. All views with LB_TEST_SOAK=1, the narrowest and the widest else.
# Only with scripts/test --all: it needs Chromium.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA;
use File::Temp qw(tempdir);
use JSON::PP;
use Lockbench;
use Browser;
use Test::More;

plan skip_all => 'no chromium to look at a page with' if !browser();
plan skip_all => 'no node to talk to it with' if system('node --version >/dev/null 2>&1') != 0;

# The one version that is asked, from npm, once per user; undef where it cannot be had.
sub axe
{
    my ($version, $sum) = ('4.14.1', '29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c');
    my $cache = ($ENV{XDG_CACHE_HOME} // ($ENV{HOME} // '/tmp') . '/.cache') . '/lockbench';
    my $file = "$cache/axe-core-$version.js";
    if (!-s $file) {
        my $temp = scratch() . '/axe';
        mkdir $temp;
        system('sh', '-c', 'command -v npm >/dev/null && cd "$1" && npm pack --silent --fetch-retries=0 "axe-core@$2" '
                . '</dev/null >/dev/null 2>&1 && tar -xzf ./*.tgz package/axe.min.js && mkdir -p "$3" '
                . '&& cp package/axe.min.js "$4.$$" && mv "$4.$$" "$4"', 'sh', $temp, $version, $cache, $file);
    }
    return undef if !-s $file;
    is(Digest::SHA->new(256)->addfile($file)->hexdigest, $sum, "axe-core $version is what it was");
    return $file;
}

my @views = $ENV{LB_TEST_SOAK} ? ('phone', 'tablet', 'desktop', 'dark', 'forced colours', 'print') : ('phone', 'desktop');

sub look
{
    my ($page, $axe) = @_;
    my $profile = tempdir('lockbench-browser.XXXXXX', TMPDIR => 1, CLEANUP => 1);
    open my $pipe, '-|', 'node', "$FindBin::Bin/look.js", browser(), $profile, $page, join(',', @views), $axe // () or die "node: $!\n";
    my $text = do { local $/; <$pipe> };
    close $pipe;
    return eval { decode_json($text // '') };
}

# Results kept with the tests: the page is measured, the same on every machine.
sub page_of
{
    my ($name, @results) = @_;
    my @dirs = map { my $dir = scratch() . "/$_"; mkdir $dir; spew("$_/run.json", slurp("$ENV{LB_SOURCE}/tests/fuzz/corpus/result/$_.json")); $dir } @results;
    my ($status, undef, $err) = lockbench('report', @dirs, '-o', scratch() . "/$name.html");
    is($status, 0, "$name: a page") or diag $err;
    return scratch() . "/$name.html";
}

my $axe = axe();
my %pages = (compare => page_of('compare', 'compare', 'skip-locked-sqlite-drain-batches'));
$pages{all} = page_of('all', map { s{.*/(.*)\.json}{$1}r } glob "$ENV{LB_SOURCE}/tests/fuzz/corpus/result/*-*.json") if $ENV{LB_TEST_SOAK};
for my $name (sort keys %pages) {
    my $seen = look($pages{$name}, $axe);
    ok($seen, "$name: is looked at") or next;
    is(scalar @{ $seen->{views} }, scalar @views, "$name: in each view");
    for my $view (@{ $seen->{views} }) {
        my $where = "$name, $view->{name}";
        cmp_ok($view->{texts}, '>', 100, "$where: there is text");
        is_deeply($view->{overlaps}, [], "$where: no text lies on another");
        is_deeply($view->{outside}, [], "$where: no text is beyond the window");
        cmp_ok($view->{scroll}, '<=', 1, "$where: nothing is wider than the window") if $view->{name} ne 'print';
        is("$view->{mains} $view->{unnamed_tables}", '1 0', "$where: one main part, no table without a name");
      SKIP: {
            skip 'no axe-core: npm is missing, or could not fetch it', 1 if !$axe;
            my @grave = map { "$_->{impact} $_->{id}: $_->{nodes}[0]" } grep { $_->{impact} =~ /serious|critical|moderate/ } @{ $view->{axe} };
            is_deeply(\@grave, [], "$where: accessible, says axe-core");
        }
    }
    my $keys = $seen->{keyboard};
    cmp_ok($keys->{reached}, '>', 15, "$name: by keyboard");
    is_deeply($keys->{missed}, [], "$name: Tab reaches all that can be pressed");
    is_deeply($keys->{unseen}, [], "$name: what has the focus shows it");
    is($keys->{opened}, 1, "$name: Enter opens a violation") if $name eq 'compare';
    cmp_ok($seen->{pages}, '<', 12, "$name: on few pages of paper");
}

# The measure measures: a page with each of the faults.
if (open my $file, '>', my $bad = scratch() . '/bad.html') {
    print $file '<!DOCTYPE html><html lang="en" data-drawn="yes"><title>x</title><div id="page"><p>one text</p><p style="margin-top:-1.6em">upon another</p>'
        . '<p style="position:absolute;left:2000px;white-space:nowrap">far out</p><table><tr><td>1</table><button style="outline:none">b</button></div>';
    close $file;
    my $seen = look($bad);
    is(scalar @{ $seen->{views}[0]{overlaps} }, 1, 'an overlap is seen');
    is_deeply($seen->{views}[0]{outside}, ['far out'], '... and what is out of the window');
    cmp_ok($seen->{views}[0]{scroll}, '>', 100, '... and that it scrolls');
    is("$seen->{views}[0]{mains} $seen->{views}[0]{unnamed_tables}", '0 1', '... and a table without a name');
    is(scalar @{ $seen->{keyboard}{unseen} } > 0, 1, '... and focus that does not show');
}
done_testing();
