#!/usr/bin/env perl
# What lockbench exports for other tools' checkers, read by an EDN reader that shares nothing with
# lockbench's: every form is well-formed, and every operation has the keys and the shape that the
# models of Knossos and Jepsen take.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Lockbench;
use Test::More;

# --- EDN as its specification has it, but for tags, characters and sets
sub read_form
{
    my ($in) = @_;
    $$in =~ /\G(?:[\s,]|;[^\n]*)+/gc;
    if ($$in =~ /\G\{/gc) {
        my @items = read_until($in, qr/\}/);
        die "a map of an odd number of forms\n" if @items % 2;
        my %map;
        while (my ($key, $value) = splice @items, 0, 2) {
            die "the key $key twice\n" if exists $map{$key};
            $map{$key} = $value;
        }
        return \%map;
    }
    return [read_until($in, qr/\]/)] if $$in =~ /\G\[/gc;
    return $1 if $$in =~ m{\G(:[a-zA-Z*!_?<>=+.-][\w*!?<>=+.:#/-]*)}gc;
    return 0 + $1 if $$in =~ /\G([+-]?(?:0|[1-9][0-9]*))(?![\w.])/gc;
    return { nil => undef, true => \1, false => \0 }->{$1} if $$in =~ /\G(nil|true|false)(?![\w.])/gc;
    return \"$1" if $$in =~ /\G"((?:[^"\\]|\\[tnr\\"]|\\u[0-9a-fA-F]{4})*)"/gc;
    die 'no form at "' . substr($$in, pos($$in) // 0, 40) . "\"\n";
}

sub read_until
{
    my ($in, $end) = @_;
    my @items;
    for (;;) {
        $$in =~ /\G[\s,]+/gc;
        return @items if $$in =~ /\G$end/gc;
        push @items, read_form($in);
    }
}

sub read_all
{
    my ($text) = @_;
    my @forms;
    pos($text) = 0;
    until ($text =~ /\G[\s,]*\z/gc) {
        push @forms, read_form(\$text);
    }
    return @forms;
}

for my $broken ('{:a 1', '{:a}', '{:a 1 :a 2}', '[1 2', '{:a "x}', '{:a 01}', ':', '{:a ]}') {
    ok(!eval { read_all($broken); 1 }, "the reader refuses $broken");
}
is_deeply([read_all("[{:a 1, :b [nil -2]}]\n:c")], [[{ ':a' => 1, ':b' => [undef, -2] }], ':c'],
    'the reader reads');

# --- exports
my $scratch = scratch();

sub exported
{
    my ($strategy, $scenario, @flags) = @_;
    my ($status, undef, $err) = lockbench('run', '-s', $strategy, '-S', $scenario, '-d', 'sqlite:',
        '--workers', 3, '--duration', '10m', '--count', '20', '--warmup', 0, '--keep-history', '-o', "$scratch/$strategy",
        '--quiet');
    my ($history) = glob "$scratch/$strategy/*/history.lbh";
    ok(defined $history, "$strategy: a history was kept") or diag "status $status: $err";
    (undef, my $text) = lockbench('check', '--export', 'edn', @flags, $history);
    my @forms = eval { read_all($text) };
    is($@, '', "$strategy @flags: every form is EDN");
    return @forms;
}

# Operations: of a process one at a time, invoke and then its end, of the same name.
sub shaped
{
    my ($name, $value_ok, @ops) = @_;
    my (%open, %retired, @wrong);
    my ($index, $time, $n_ok) = (-1, -1, 0);
    for my $op (@ops) {
        my ($type, $f, $process) = @$op{qw(:type :f :process)};
        my $why =
            ref $op ne 'HASH' ? 'no map'
          : $type !~ /^:(?:invoke|ok|fail|info)$/ ? 'type'
          : $process !~ /^\d+$/ ? 'process'
          : !exists $op->{':value'} ? 'no value'
          : $op->{':index'} <= $index ? 'index'
          : $op->{':time'} < $time ? 'time'
          : $retired{$process} ? 'a process goes on after an info'
          : $type eq ':invoke' && $open{$process} ? 'two invokes'
          : $type ne ':invoke' && ($open{$process} // '') ne $f ? 'an end of nothing'
          : !$value_ok->($op) ? 'value'
          : undef;
        push @wrong, "$why: " . join ' ', map { "$_ " . ($op->{$_} // 'nil') } sort keys %$op if $why;
        ($index, $time) = @$op{qw(:index :time)};
        $open{$process} = $type eq ':invoke' ? $f : undef;
        $retired{$process} = 1 if $type eq ':info';
        $n_ok += $type eq ':ok';
    }
    cmp_ok($n_ok, '>', 4, "$name: there are operations");
    is_deeply(\@wrong, [], "$name: each is what the models take");
}

# knossos.model/mutex, fenced-mutex: acquire and release, no value or a fence.
shaped('a mutex', sub { $_[0]{':f'} =~ /^:(?:acquire|release)$/ && !defined $_[0]{':value'} },
    exported('pthread-mutex', 'mutex-hot', '--plain'));
shaped('a fenced lock', sub {
        my ($op) = @_;
        my $value = $op->{':value'};
        $op->{':f'} =~ /^:(?:acquire|release)$/
          && (!defined $value || (ref $value eq 'HASH' && $value->{':fence'} =~ /^\d+$/));
    }, exported('lease-update-safe', 'mutex-hot', '--plain'));
# knossos.model/unordered-queue, fifo-queue: enqueue of a value, dequeue that brings one.
shaped('a queue', sub {
        my ($op) = @_;
        my ($f, $value) = @$op{qw(:f :value)};
        return $f eq ':enqueue' ? $value =~ /^-?\d+$/
          : $f eq ':dequeue' && ($op->{':type'} eq ':ok' ? $value =~ /^-?\d+$/ : !defined $value);
    }, exported('merge-table-lock', 'steady', '--plain'));
# All known data: notes are operations of Jepsen's nemesis, not of a client.
my @full = exported('nowait', 'steady');
is(scalar(grep { !exists $_->{':type'} || !exists $_->{':f'} || !exists $_->{':process'} } @full), 0,
    'all that is known: type, f and process everywhere');
cmp_ok(scalar(grep { $_->{':process'} eq ':nemesis' } @full), '>', 0,
    'all that is known: notes are of the nemesis');
done_testing();
