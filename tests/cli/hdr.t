#!/usr/bin/env perl
# The public HdrHistogram tools read our .hlog and find the values that were recorded.
#
# hdr-histogram-js comes from npm and hdrhistogram.jar from Debian's libhdrhistogram-java, both
# unpacked under the build directory, where they stay; a tool that cannot be had is skipped.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my $build = $ENV{LB_BUILD} or die "LB_BUILD is not set\n";
my $writer = "$build/tests/unit/hdr.t";
plan skip_all => "no $writer" unless -x $writer;
my $scratch = tempdir('lockbench-hdr.XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $said = qx('$writer' --write '$scratch');
is($?, 0, 'files are written') or BAIL_OUT($said);
diag($said) if $ENV{HARNESS_IS_VERBOSE};

open my $file, '<', "$scratch/expected" or die "expected: $!\n";
my %expected = map { my ($tag, @values) = split; $tag => \@values } <$file>;
close $file;
is_deeply([sort keys %expected], [qw(acquire hold release)], 'three operations');

sub near
{
    my ($got, $wanted, $bound) = @_;
    return $got =~ /^[\d.]+(?:e\+\d+)?$/ && abs($got - $wanted) <= $bound * $wanted + 1e-9;
}

# tag => [count, minimum, maximum, 50, 90, 99, 99.9 %], as a tool sees it.
sub compare
{
    my ($tool, $seen) = @_;
    is_deeply([sort keys %$seen], [sort keys %expected], "$tool: the tags");
    my @names = ('count', 'minimum', 'maximum', '50 %', '90 %', '99 %', '99.9 %');
    for my $tag (sort keys %expected) {
        for my $i (0 .. $#names) {
            my ($got, $wanted) = ($seen->{$tag}[$i] // 'nothing', $expected{$tag}[$i]);
            next if $got eq '-';
            # Ours are off by at most 0.2 %, theirs by 0.1 %; the extremes by theirs only.
            my $bound = $i == 0 ? 0 : $i < 3 ? 0.001 : 0.003;
            ok(near($got, $wanted, $bound), "$tool: $tag, $names[$i]")
                or diag("got $got, recorded $wanted");
        }
    }
}

SKIP: {
    my $modules = "$build/npm";
    skip 'no node', 1 if system('node --version >/dev/null 2>&1') != 0;
    if (!-e "$modules/node_modules/hdr-histogram-js") {
        # Without a network, npm would try again for minutes.
        system("npm install --silent --no-audit --no-fund --fetch-retries=0 --prefix '$modules' hdr-histogram-js\@3"
                . ' >/dev/null 2>&1');
    }
    skip 'hdr-histogram-js cannot be had from npm', 1
        unless -e "$modules/node_modules/hdr-histogram-js";
    open my $script, '>', "$scratch/read.js" or die;
    print $script <<'JS';
const hdr = require(process.argv[2] + "/node_modules/hdr-histogram-js");
const log = require("fs").readFileSync(process.argv[3], "utf8");
const reader = new hdr.HistogramLogReader(log, 64);
for (let h; (h = reader.nextIntervalHistogram()) != null;) {
    const at = [50, 90, 99, 99.9].map(p => h.getValueAtPercentile(p));
    console.log(h.tag, h.totalCount, h.minNonZeroValue, h.maxValue, ...at);
}
JS
    close $script;
    my @lines = qx(node '$scratch/read.js' '$modules' '$scratch/latency.hlog' 2>&1);
    is($?, 0, 'hdr-histogram-js reads the log') or diag(@lines);
    my %seen = map { my ($tag, @values) = split; ($tag // '') => \@values } @lines;
    # It tells the least value above 0; the exponential distribution around 50 ns has zeros.
    $seen{$_}[1] = '-' for grep { ($expected{$_}[1] // 0) == 0 } keys %seen;
    compare('hdr-histogram-js', \%seen);
}

SKIP: {
    skip 'no java', 1 if system('java -version >/dev/null 2>&1') != 0;
    my ($jar) = grep { -e } '/usr/share/java/hdrhistogram.jar',
        "$build/java/usr/share/java/hdrhistogram.jar";
    if (!$jar) {
        mkdir "$build/java";
        system("cd '$build/java' && apt-get download -qq libhdrhistogram-java >/dev/null 2>&1"
                . ' && dpkg -x libhdrhistogram-java_*.deb .');
        ($jar) = grep { -e } "$build/java/usr/share/java/hdrhistogram.jar";
    }
    skip 'libhdrhistogram-java cannot be had from apt', 1 unless $jar;
    my (%seen, $failed);
    for my $tag (sort keys %expected) {
        my @lines = qx(java -cp '$jar' org.HdrHistogram.HistogramLogProcessor \\
            -i '$scratch/latency.hlog' -tag '$tag' -outputValueUnitRatio 1 \\
            -percentilesOutputTicksPerHalf 1000 2>&1);
        $failed ||= $? ? "@lines" : '';
        # Lines of the whole log's distribution: value, percentile, count, ...
        my (@points, @summary);
        for (@lines) {
            push @points, [$1, $2, $3] if /^\s*([\d.]+)\s+([01]\.\d+)\s+(\d+)\b/;
            @summary = ($1, $2) if /^#\[Max\s*=\s*([\d.]+), Total count\s*=\s*(\d+)\]/;
        }
        my $at = sub {
            my ($q) = @_;
            my ($first) = grep { $_->[2] >= $q * $expected{$tag}[0] } @points;
            return $first ? $first->[0] : 'nothing';
        };
        $seen{$tag} = [$summary[1], $at->(0), $summary[0], map { $at->($_) } .5, .9, .99, .999];
    }
    ok(!$failed, 'HistogramLogProcessor reads the log') or diag($failed);
    compare('HistogramLogProcessor', \%seen);
}

# The distribution that we write ourselves has the form of theirs.
open $file, '<', "$scratch/acquire.hgrm" or die "acquire.hgrm: $!\n";
my @hgrm = <$file>;
close $file;
my @points = map { /^ *([\d.]+) (\d\.\d{12}) +(\d+)(?: +[\d.]+)?$/ ? [$1, $2, $3] : () } @hgrm;
cmp_ok(scalar @points, '>', 40, 'hgrm: points');
is(scalar(grep { $points[$_][0] < $points[$_ - 1][0] || $points[$_][2] < $points[$_ - 1][2] }
            1 .. $#points), 0, 'hgrm: values and counts never go down');
is($points[-1][1] + 0, 1, 'hgrm: ends with 100 %');
is($points[-1][0] * 1000, $expected{acquire}[2], 'hgrm: and with the maximum, in microseconds');

done_testing();
