#!/usr/bin/env perl
# The report page in a real browser, over results that are made here: no script error, nothing from
# the network, the numbers of run.json, violations with their witnesses, and text of a result that
# looks like markup stays text. One strategy and twenty; a phone, dark mode, and paper.
# Only with scripts/test --all: it needs Chromium.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Lockbench;
use Browser;
use Test::More;

plan skip_all => 'no chromium to look at a page with' if !browser();

sub result_of
{
    my ($name, @args) = @_;
    my $dir = scratch() . "/$name";
    my ($status, undef, $err) = lockbench(@args, '-o', $dir, '-q');
    like($status, qr/^[0145]$/, "$name: a result") or diag $err;
    my ($result) = glob "$dir/*";
    return ($result, decode_json(slurp("$result/run.json")));
}

sub page_of
{
    my ($name, @results) = @_;
    my $path = scratch() . "/$name.html";
    my ($status, $out, $err) = lockbench('report', @results, '-o', $path);
    is("$status $err", '0 ', "$name: a page") or diag $out;
    return $path;
}

# Checks for every page.
sub looks_right
{
    my ($name, $path, $dom) = @_;
    my ($root) = $dom =~ /<html([^>]*)>/;
    like($root, qr/data-drawn="yes"/, "$name: is drawn to its end");
    unlike($root, qr/data-error/, "$name: no script error");
    my $html = slurp($path);
    $html =~ s{<script type="(?:application/json|text/plain)".*?</script>}{}gs;
    my @references = grep { !m{^http://www\.w3\.org/} } $html =~ m{((?:https?|ftp|wss?)://[^\s"'<>)]+)}g;
    is_deeply(\@references, [], "$name: refers to nothing outside");
    unlike($html, qr/<(?:link|img|iframe|object|embed)\b|\bsrc=|\@import|\burl\((?!#)/, "$name: loads nothing");
    like($html, qr/Content-Security-Policy" content="default-src 'none'/, "$name: may load nothing");
}

sub is_number
{
    my ($got, $expected, $what) = @_;
    if (!defined $expected) { is($got->{text}, 'n/a', $what); return }
    return ok(abs($got->{value} - $expected) <= 1e-7 * abs($expected), $what) || diag "$got->{value} is not $expected";
}

# A number for people, back: three digits of it.
sub parsed
{
    my ($text) = @_;
    my %factor = (ns => 1, "\x{b5}s" => 1e3, ms => 1e6, s => 1e9, k => 1e3, M => 1e6, G => 1e9, '' => 1);
    my ($number, $unit) = $text =~ /^([\d.]+)\s*(ns|\x{b5}s|ms|s|k|M|G|)/ or return -1;
    return $number * $factor{$unit};
}

sub has_numbers
{
    my ($name, $dom, $run) = @_;
    my ($numbers, $verdicts) = (table_of($dom, 'numbers'), table_of($dom, 'verdicts'));
    my @keys = qw(successes_per_s attempts_per_success p50_ns p90_ns p95_ns p99_ns p999_ns max_ns jain cpu_us_per_success);
    my $wrong = 0;
    for my $i (0 .. $#{ $run->{cells} }) {
        my $cell = $run->{cells}[$i] or next;
        next if !$cell->{summary};
        my $row = $numbers->{$i};
        for my $key (@keys) {
            my ($got, $expected) = ($row->{$key}, $cell->{summary}{$key});
            my $same = !defined $expected ? $got->{text} eq 'n/a' : abs($got->{value} - $expected) <= 1e-7 * abs($expected);
            my $scale = $key eq 'cpu_us_per_success' ? 1000 : 1;
            my $seen = !defined $expected || $key eq 'jain' || abs(parsed($got->{text}) - $scale * $expected) <= 0.0051 * $scale * $expected;
            next if $same && $seen;
            $wrong++;
            diag "$cell->{strategy} $key: ", explain($got), ' is not ', $expected // 'null';
        }
        for my $guarantee (keys %{ $cell->{guarantees} }) {
            my $verdict = $cell->{guarantees}{$guarantee}{verdict};
            my $got = $verdicts->{$i}{$guarantee};
            next if !$got && $verdict eq 'not claimed';
            next if $got && $got->{value} eq $verdict;
            $wrong++;
            diag "$cell->{strategy} $guarantee is not $verdict";
        }
    }
    is($wrong, 0, "$name: the numbers and verdicts of run.json");
    is(scalar keys %$numbers, scalar(grep { $_->{summary} } @{ $run->{cells} }), "$name: every cell");
}

# --- one strategy, no violation, no history ---
{
    my ($result, $run) = result_of('one', 'run', '-s', good_lock(), '--duration', '10m', '--count', '60', '--warmup', '0ms');
    open my $file, '>', "$result/mutants.json" or die $!;
    print $file encode_json({ strategy => 'my-lock', engine => 'sqlite', summary => 'Of 1 clauses 1 are needed', mutants => [
        { number => 1, line => 7, section => 'acquire', clause => 'owner <b>IS</b> NULL', verdict => 'needed', violated => 'exclusive',
          question => 'explore', witness => 'two hold it', reason => undef }] });
    close $file;
    my $path = page_of('one', $result);
    my $dom = dumped($path);
    looks_right('one', $path, $dom);
    like(decoded($dom), qr{Clauses.*my-lock on sqliteOf 1 clauses.*\Q7acquireowner <b>IS</b> NULLneededexclusive, by explore: two hold it\E}s,
        'one: the clauses of mutate');
    has_numbers('one', $dom, $run);
    like(decoded($dom), qr/Of 1 case that ran, 1 kept all that they claim\./, 'one: the summary');
}

# --- aged tables: alone, beside runs, and files of another kind ---
{
    my (undef, $text) = lockbench('age', '-s', "$ENV{LB_SOURCE}/tests/aged/walks-delayed.sql", '--aged', 'finished,delayed,dead', '--rows', 1000, '--format', 'json');
    my $age = decode_json($text);
    my $put = $age->{aged}{finished}{operations}{put};
    $put->{points}[0]{cost} = 0;
    $put->{points}[2]{plan} = 'another <b>plan</b>';
    @$put{qw(plan_may_change_at plan_may_become)} = (50000, 'a third');
    my $error = $age->{aged}{finished}{operations}{error};
    @$error{qw(points not_measured)} = ([], 'it was <i>refused</i>');
    delete @$error{qw(grows at_1000000)};
    pop @{ $age->{aged}{finished}{operations}{complete}{points} };
    my $file = spew('aged.json', encode_json($age) . "\n" . $text);
    my $path = page_of('aged', $file);
    my $dom = dumped($path);
    looks_right('aged', $path, $dom);
    my ($section) = $dom =~ m{<section id="aged".*?>(.*?)</section>}s;
    my $plain = decoded($section =~ s/<[^>]*>/ /gr);
    like(decoded($dom), qr/Ageing of walks-delayed.*: claim reads 6\.\d+k steps more for each 1,000 delayed items\./s, 'aged: a title, and what grows');
    like($plain, qr/Not measured with dead items: SQLite keeps no dead rows/, 'aged: a state that was not measured');
    my @charts = $section =~ m{<svg role="img".*?>(.*?)</svg>}gs;
    is(scalar @charts, 8, 'aged: a chart for each operation of each result');
    is(scalar(grep { /steps \(log scale\).*items|items \(log scale\).*steps/s && /data-state="delayed"/ && m{d="M[\d.]+,[\d.]+L[\d.]+,} } @charts), 8, 'aged: each has labelled axes and a line');
    is(scalar(grep { /data-state="finished"/ } @charts), 7, 'aged: an operation that was not measured has no line');
    my $nbsp = "\x{202f}";
    my ($top) = $age->{aged}{delayed}{operations}{claim}{points}[2]{cost} =~ s/^(\d)(\d{3})\b.*/$1$nbsp$2/r;
    like($section, qr{<title>1${nbsp}000 delayed items: $top steps</title>}, 'aged: a point');
    my ($claim) = grep { /class="bad-line" data-state="delayed"/ } @charts;
    my @heights = map { (split /,/)[1] } split /L/, ($claim =~ m{data-state="delayed" d="M([^"]*)"})[0];
    cmp_ok($heights[2], '<', $heights[0] - 10, 'aged: what grows goes up');
    unlike($section, qr/NaN|undefined|Infinity/, 'aged: each place is a number');
    my %rows;
    while ($section =~ m{<tr data-aged="([^"]*)">(.*?)</tr>}gs) { push @{ $rows{$1} }, $2 }
    for my $state (qw(finished delayed)) {
        for my $op (qw(put claim complete error)) {
            my ($row, $o) = ($rows{"$state $op"}[0], $age->{aged}{$state}{operations}{$op});
            my %cost = map { $_->{items} => $_->{cost} } @{ $o->{points} };
            my %seen = $row =~ m{data-key="at-(\d+)" class="num"(?: data-value="([^"]*)")?}g;
            is(join(' ', map { $seen{$_} // 'none' } 60, 248, 1000), join(' ', map { $cost{$_} // 'none' } 60, 248, 1000), "aged: costs of $op with $state items");
        }
    }
    is(scalar(() = $rows{'finished error'}[0] =~ m{>n/a<}g), 4, 'aged: n/a where nothing was measured');
    like(decoded($rows{'finished error'}[0]), qr/not measured: \Qit was <i>refused<\/i>\E/, 'aged: ... and why');
    like($plain, qr/Plans that change.*finished\s+put\s+measured\s+248 to 1\W000\s+\Qanother <b>plan<\/b>\E/, 'aged: both plans of a change');
    like($plain, qr/put\s+by the planner.s estimates\s+about 50\W000\s+\Qanother <b>plan<\/b>\E\s+a third/, 'aged: a change that may come');
    my ($result) = result_of('beside', 'run', '-s', good_lock(), '--duration', '10m', '--count', '20', '--warmup', '0ms');
    spew("$1/age.json", $text) if $result =~ m{([^/]+/[^/]+)$};
    my $both = page_of('beside', $result);
    my $beside = dumped($both);
    looks_right('beside', $both, $beside);
    like($beside, qr{<section id="verdicts".*<section id="aged"}s, 'aged: beside a run');
    spew("$1/age.json", '{"strategy": "x"}') if $result =~ m{([^/]+/[^/]+)$};
    my ($status, undef, $err) = lockbench('report', $result);
    like("$status $err", qr/^2 .*age\.json: it is no output of lockbench age --format json$/, 'aged: a file that is none');
}

# --- a violation, with its history, and text like markup everywhere that a user can put some ---
my $open_door = open_door();
my ($result, $run) = result_of('open', 'compare', '-s', "$open_door," . good_lock(), '--duration', '10m', '--count', '150', '--warmup', '50ms',
    '--workers', '3', '--repeat', '3', '--keep-history', '--costs');
{
    my $evil = q{</script><script>document.title='caught'</script><img src=x onerror=alert(1)><!--};
    $run->{cells}[0]{question} = $run->{cells}[0]{runs}[0]{server_settings}{$evil} = $evil;
    $run->{cells}[0]{guarantees}{exclusive}{witnesses}[0]{text} .= $evil;
    $run->{environment}{machine} = $evil;
    open my $file, '>', "$result/run.json" or die $!;
    print $file encode_json($run);
    close $file;
    my $path = page_of('open', $result);
    my $dom = dumped($path);
    looks_right('open', $path, $dom);
    has_numbers('open', $dom, $run);
    unlike($dom, qr/<title>caught|<img/, 'open: text of a result is no markup');
    like(decoded($dom), qr/\Q<img src=x onerror=alert(1)>\E/, 'open: it is there as text');
    my $witness = $run->{cells}[0]{guarantees}{exclusive}{witnesses}[0];
    my $said = $witness->{text} =~ s/(\d) us\b/$1 \x{b5}s/gr;
    like(decoded($dom), qr/\Q$said\E/, 'open: the witness');
    like($dom, qr/Holds around the violation of exclusive/, 'open: its holds');
    my ($plain, $rates) = (decoded($dom =~ s/<[^>]*>/ /gr), grep { $_->{measured} eq 'rate' } @{ $run->{rankings} });
    like($plain, qr/\Q$rates->{$_}\E/, "open: the comparison in the words of the result, $_") for qw(answer choice power p99 cpu);
    my $clicks = q{<script>document.querySelector("#verdicts button[aria-expanded]").click();}
        . q{document.querySelectorAll("#numbers thead button")[3].click();document.querySelectorAll("figure details").forEach(function (d) { d.open = true; });</script></body>};
    my $clicked = dumped(spew('clicked.html', slurp($path) =~ s{</body>}{$clicks}r));
    looks_right('clicked', scratch() . '/clicked.html', $clicked);
    like($clicked, qr{aria-expanded="true".*?<tr class="witness">.*?<svg}s, 'clicked: the witness below its row');
    like(decoded($clicked), qr/\QAgain: $run->{cells}[0]{reproduce}\E/, 'clicked: and the command that repeats it');
    like($clicked, qr/aria-sort="ascending"/, 'clicked: a table is sorted');
    my $opened = decoded($clicked =~ s/<[^>]*>/ /gr);
    for my $c (@{ $run->{comparisons} }) {
        like($opened, qr/\Q$c->{strategy}\E +\Q$c->{text}\E +$c->{rounds} +$c->{letters} +\Q$c->{is}\E/, "open: its ratio, interval and letters, $c->{measured}");
    }
    my ($data) = slurp($path) =~ m{<script type="application/json" id="data">(.*?)</script>}s;
    my $cell = decode_json($data)->{results}[0]{run}{cells}[0];
    my $zoom = $cell->{history}{zooms}[0];
    my ($op) = grep { $_->{op} eq 'acquire' } @{ $witness->{operations} };
    ok((grep { $_->[0] == $op->{worker} && $_->[2] == $op->{end_ns} } @{ $zoom->{holds} }), 'open: the hold of the witness is where its acquire ended');
    my $shown = $run->{cells}[0]{runs}[ $cell->{history}{run} - 1 ];
    is($cell->{history}{events}, $shown->{events}, 'open: the history of that run');
    my ($holds, $over) = (0, 0);
    $holds += $_->{holds}, $over += $_->{over} for @{ $cell->{history}{strips} };
    is($holds, $shown->{measures}{holds}, 'open: as many holds as the judge counted');
    cmp_ok($over, '>', 0, 'open: overlaps');
}

# --- a fault, and a sweep that is long enough for a fit ---
{
    my ($fault, undef) = result_of('fault', 'run', '-s', good_lock(), '--duration', '0', '--fault-count', '3', '--warmup', '0ms', '--fault', 'pause',
        '--fault-interval', '100ms', '--fault-length', '50ms', '--keep-history');
    my ($path, $dom, $n) = ('', '', 0);
    my $end = time + 600;
    do { # on a machine that stands still in some of its runs there may be no fit
        my ($sweep, $swept) = result_of('sweep' . ++$n, 'compare', '-s', good_lock(), '--workers', '1,2,3,4,5,6', '--duration', '100ms', '--warmup', '0ms', '--no-record',
            '--repeat', '1');
        $path = page_of('several', $fault, $sweep);
        $dom = dumped($path);
    } while (decoded($dom) !~ /serialised/ && time < $end);
    looks_right('several', $path, $dom);
    like(decoded($dom), qr/Faults are shaded/, 'several: faults over time');
    like($dom, qr/class="fault"/, 'several: are drawn');
    like(decoded($dom), qr/Scaling with workers.*serialised/s, 'several: the law is fitted');
}

# --- claims of several sizes: the rows of run.json, and a chart of each strategy ---
{
    my ($sizes, $swept) = result_of('sizes', 'compare', '-s', 'skip-locked,delete-on-claim', '-d', 'sqlite:', '-S', 'drain', '--backlog', '200',
        '--workers', '1', '--hold', '0', '--duration', '10m', '--batch', '1,5,20', '--repeat', '1');
    my $evil = q{<img src=x onerror=alert(1)>};
    $swept->{batches}[0]{at_a_death} .= $evil;
    open my $file, '>', "$sizes/run.json" or die $!;
    print $file encode_json($swept);
    close $file;
    my $path = page_of('sizes', $sizes);
    my $dom = dumped($path);
    looks_right('sizes', $path, $dom);
    my ($section) = $dom =~ m{<section id="batches"(.*?)</section>}s;
    $section //= '';
    like($section, qr{<table[^>]* aria-label="By items per claim"}, 'sizes: a table with a name');
    my $rows = table_of($dom, 'batches');
    is(scalar keys %$rows, 6, 'sizes: a row for each case');
    for my $b (@{ $swept->{batches} }) {
        my $row = $rows->{ $b->{cell} };
        is_number($row->{$_}, $b->{$_}, "sizes: $b->{strategy} $b->{batch}: $_") for qw(batch successes_per_s in_hand_ns);
        is($row->{at_a_death}{text}, $b->{at_a_death}, "sizes: $b->{strategy} $b->{batch}: what a death costs");
    }
    unlike($dom, qr/<img/, 'sizes: text of a result is no markup');
    my @charts = $section =~ m{<figure>(.*?)</figure>}gs;
    is_deeply([map { m{<strong[^>]*>(.*?)</strong>} } @charts], ['skip-locked on sqlite, drain', 'delete-on-claim on sqlite, drain'], 'sizes: a chart of each strategy');
    is_deeply([map { scalar(() = /class="dot"/g) } @charts], [3, 3], 'sizes: with a point for each size');
    unlike(dumped(page_of('one size', (glob scratch() . '/one/*')[0])), qr/id="batches"/, 'sizes: nothing of them where there is one');
}

# --- a result that says as little as one can ---
{
    mkdir scratch() . '/least';
    my %cell = (strategy => 'x', engine => 'y', scenario => 'z');
    my %least = (schema => 'lockbench-result', schema_version => 1, cells => [ { %cell, runs => [] }, { %cell, runs => [ {} ] } ]);
    spew('least/run.json', encode_json(\%least));
    my $path = page_of('least', scratch() . '/least');
    looks_right('least', $path, dumped($path));
}

# --- a run of four ranks on two hosts ---
{
    mkdir scratch() . '/ranks';
    my %row = (workers => 2, successes => 300, cpu_ns => 3e7, clock_offset_ns => 0, clock_uncertainty_ns => 0, clock_exchanges => 40, late_ns => 0, lost => JSON::PP::false);
    my @rows = ({ %row, host => '<b>one' }, { %row, host => '<b>one', clock_offset_ns => -1e12, clock_uncertainty_ns => 150_000 },
        { %row, host => 'two', clock_offset_ns => 3e12, clock_uncertainty_ns => 250_000 }, { %row, host => 'two', successes => 0, lost => JSON::PP::true });
    my $ranks = { rows => \@rows, uncertainty_ns => 250_000, possible => { exclusive => { violations => 2, settles_ns => 90_000 } } };
    spew('ranks/run.json', encode_json({ schema => 'lockbench-result', schema_version => 1,
        cells => [ { strategy => 'x', engine => 'y', scenario => 'z', runs => [ { ranks => $ranks } ] } ] }));
    my $path = page_of('ranks', scratch() . '/ranks');
    my $dom = dumped($path);
    looks_right('ranks', $path, $dom);
    my $plain = decoded($dom =~ s/<[^>]*>/ /gr);
    like($plain, qr/rank 2 +two +2 +300 +33\.3 % +100 \x{b5}s/, 'ranks: a row for each');
    like($plain, qr/rank 3 +two \(lost\)/, 'ranks: who is lost');
    like($plain, qr/Work of each host.*<b>one +2 +4 +600/, 'ranks: a row for each host');
    like($plain, qr/exclusive: 2 possible violations, none certain; clocks known to within 90\.0 \x{b5}s would settle it/, 'ranks: what is possible');
    like($plain, qr/rank 1: \x{2212}1000 s.*rank 2: 3000 s.*rank 1: 150 \x{b5}s.*rank 2: 250 \x{b5}s/s, 'ranks: clocks are drawn');
}

# --- a plan ---
{
    my ($plan, $planned) = result_of('plan', 'plan', '-s', good_lock(), '--workers', '1,2,3,4,5,6', '--duration', '60ms', '--warmup', '0ms',
        '--repeat', '1', '--no-record', '--demand', '100/s');
    my $path = page_of('plan', $plan);
    my $dom = dumped($path);
    looks_right('plan', $path, $dom);
    has_numbers('plan', $dom, $planned);
    my ($answer) = @{ $planned->{plans}[0]{answers} };
    like(decoded($dom), qr/Capacity.*\Q$answer->{text}\E/s, 'plan: its answers');
    my ($head) = $dom =~ m{<header[^>]*>(.*?)</header>}s;
    like($head // '', qr{Plan of good-lock on sqlite</h1><p class="lead answer">}, 'plan: a title and a headline for people');
}

# --- twenty strategies, three ways to look ---
{
    my $names = 'fifo-poll,fifo-poll-safe,lease-update-safe,lease-upsert,lease-version,lock-row,table-lock,slots,counter,unique-mutex,none,'
        . 'read-then-write,count-gate,release-unowned,pthread-mutex,row-lock,row-lock-nowait,advisory-session,advisory-xact,lease-now';
    my ($many, $twenty) = result_of('twenty', 'compare', '-s', $names, '--duration', '10m', '--count', '8', '--warmup', '0ms', '--repeat', '1');
    my $path = page_of('twenty', $many);
    my $dom = dumped($path);
    my %strategies = map { $_->{strategy} => 1 } @{ $twenty->{cells} };
    is(scalar keys %strategies, 20, 'twenty: strategies') or diag join ' ', sort keys %strategies;
    looks_right('twenty', $path, $dom);
    has_numbers('twenty', $dom, $twenty);
    my $phone = dumped($path, '--window-size=390,844');
    looks_right('phone', $path, $phone);
        my ($light, $dark, $pdf) = map { scratch() . "/$_" } qw(light.png dark.png page.pdf);
    my @size = ('--window-size=800,1200');
    ok(screenshot($path, $light, @size), 'light: a picture');
    ok(screenshot($path, $dark, @size, '--force-dark-mode'), 'dark: a picture');
    ok(slurp($light) ne slurp($dark), 'dark: is another one');
    cmp_ok(printed($path, $pdf), '>', 20_000, 'print: pages');
}

# --- what is no result ---
my @wrong = (
    [[scratch() . '/nowhere'], qr{^lockbench: .*/nowhere.*: .*No such file}i],
    [[$open_door, '-o', scratch() . '/x.html'], qr{^lockbench: .*good|open-door\.sql:\d+: }],
    [[], qr{^lockbench: report takes results}],
    [[$result, $result], qr{^lockbench: report of several results needs -o}],
    [[$result, '-o', scratch()], qr{is a directory; give it a file's name}],
);
for my $case (@wrong) {
    my ($status, $out, $err) = lockbench('report', @{ $case->[0] });
    is("$status$out", '2', 'refused');
    like($err, $case->[1], 'says why');
    is(($err =~ tr/\n//), 1, 'in one line');
}
{
    my $text = slurp("$result/run.json") =~ s/"schema_version":2/"schema_version":99/r;
    mkdir scratch() . '/newer';
    spew('newer/run.json', $text);
    my ($status, undef, $err) = lockbench('report', scratch() . '/newer');
    like("$status $err", qr{^2 .*schema version 99, this lockbench reads 1 to 2$}, 'a newer format');
    my ($history) = glob "$result/*.lbh";
    open my $file, '>', $history or die $!;
    print $file 'not a history';
    close $file;
    ($status, undef, $err) = lockbench('report', $result);
    like("$status $err", qr{^2 lockbench: \Q$history\E: not a lockbench history}, 'a broken history');
    ok(!-e "$result/report.html", 'no half page is left');
    is_deeply([glob "$result/*.tmp"], [], 'nor a temporary file');
}

done_testing();
