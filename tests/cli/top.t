#!/usr/bin/env perl
# --top: a run on the whole terminal, which is given back afterwards with what the command prints; without a terminal
# one line.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

my ($status, $out, $err) = lockbench('run', '-s', good_lock(), '--top');
is($status, 2, 'without a terminal: exit status');
like($err, qr/^lockbench: option --top: standard error is no terminal to draw on; .*\n\z/, '... and one line');
is($out, '', '... and nothing is run');
for my $other (['-q', '--quiet'], ['-P', '--progress', '1']) {
    ($status, undef, $err) = lockbench('run', '-s', good_lock(), '--top', @{$other}[0, 2 .. $#$other]);
    is("$status $err", "2 lockbench: option --top: not together with $other->[1]\n", "not together with $other->[1]");
}

# All that a terminal is sent.
my $file = scratch() . '/typed';
sub on_terminal
{
    my ($columns, $lines, $command) = @_;
    my $script = spew('on_terminal.sh', "stty cols $columns rows $lines\nexec $ENV{LOCKBENCH} $command\n");
    system 'sh', '-c', "TERM=xterm LC_ALL=C.UTF-8 script -qec 'sh $script' $file </dev/null >/dev/null 2>&1";
    return slurp($file);
}

SKIP: {
    skip 'no script(1)', 1 if system('script -qc true /dev/null </dev/null >/dev/null 2>&1') != 0;
    my $text;
    my $command = '-S mutex-hot --workers 3 --hold 40ms --count 60 --duration 10m --warmup 0 --top';
    ok(wait_for(sub {
        $text = on_terminal(70, 20, 'run -s ' . open_door() . " $command");
        return $text =~ /OVERLAP: two held at once/ && $text =~ /^ +2 +\d+  \w/m;
    }), 'a run is shown, with its workers, and an overlap when it was seen') or diag $text;
    my @screens = $text =~ /\e\[\?1049([hl])/g;
    is("@screens", 'h l', 'on a screen of its own, which is left');
    my ($shown, $after) = split /\e\[\?1049l/, $text;
    unlike($after, qr/\e\[H/, '... for good');
    like($after, qr/VIOLATED exclusive/, '... and what the command prints comes after it');
    my @pictures = split /\e\[H/, $shown =~ s/.*?\e\[\?25l//sr;
    shift @pictures; # what is before the first
    my @wrong = grep { my $n = () = /\n/g; $n > 19 || grep({ length > 69 + (/[^\x00-\x7f]/ ? 200 : 0) } split /\r\n/, s/\e\[[KJ]//gr) } @pictures;
    is_deeply(\@wrong, [], 'no line is too long, and none too many') or diag explain \@wrong;
    like($text, qr/\e\[\?25h/, 'the cursor is given back');

    my $faults = '-S mutex-hot --workers 3 --fault pause --fault-interval 50ms --fault-length 100ms --duration 2s --warmup 0 --top';
    ok(wait_for(sub { return on_terminal(100, 30, 'run -s ' . good_lock() . " $faults") =~ /a fault was carried out \(\d so far\)/ }),
        'faults are told when they happen');
}
done_testing();
