# Changes of a strategy's file that keep its meaning: comments, case, brackets, operands, names. The verdict on the changed file must be
# the same. The tokens are this module's own, independent of the lexer of lockbench.
package Rewrite;
use strict;
use warnings;
use Exporter qw(import);
use List::Util qw(any first);

our @EXPORT_OK = qw(built_in changes differences mixed rewrite);

# --- tokens: [kind, text]; joined again they are the text ---

my $token = qr{
      (?<blank>\s+)
    | (?<comment>--[^\n]*|/\*.*?\*/)
    | (?<string>'(?:[^']|'')*'|\$(?<tag>\w*)\$.*?\$\k<tag>\$)
    | (?<name>"[^"]*"|`[^`]*`|\[[A-Za-z_]\w*\])
    | (?<param>:[A-Za-z_]\w*|\{\w+\})
    | (?<word>[A-Za-z_]\w*)
    | (?<number>\d[\w.]*)
    | (?<sign>::|:=|<=>|<>|!=|<=|>=|\|\||->>|->|=>|@>|<@|.)
}xs;

sub tokens
{
    my ($text) = @_;
    my @list;
    while ($text =~ /\G$token/g) {
        my ($kind) = grep { defined $+{$_} } qw(blank comment string name param word number sign);
        push @list, [$kind, $+{$kind}];
    }
    return \@list;
}

sub joined { return join '', map { $_->[1] } @{ $_[0] } }
sub is { return defined $_[0] && $_[0][0] =~ /^(?:word|sign)$/ && lc $_[0][1] eq $_[1] }
sub is_any { my ($one, @words) = @_; return any { is($one, $_) } @words }
sub is_space { return $_[0][0] eq 'blank' || $_[0][0] eq 'comment' }

# Without blanks and comments; those in front of a token go with it.
sub dense
{
    my ($list) = @_;
    my ($before, @dense) = ('');
    for my $one (@$list) {
        if (is_space($one)) { $before .= $one->[1]; next }
        push @dense, [$one->[0], $one->[1], $before];
        $before = '';
    }
    push @dense, ['end', '', $before];
    return \@dense;
}

sub spread { return join '', map { ($_->[2] // '') . $_->[1] } @{ $_[0] } }

# --- a file: lines of its header, and sections of lines and statements ---

# [kind, text, section, line of its name]: 'sql' is one statement without the semicolon, 'other' all that is between two.
sub pieces
{
    my ($text) = @_;
    my @pieces = (['other', '', '', '']);
    my ($section, $head) = ('', '');
    for my $one (@{ tokens($text) }) {
        my ($kind, $part) = @$one;
        my $in_sql = $pieces[-1][0] eq 'sql';
        if ($kind eq 'comment' && $part =~ /^--\s*name:\s*(\w+)/) { ($section, $head) = (lc $1, $part) }
        if ($in_sql && $part eq ';') { push @pieces, ['other', ';', $section, $head]; next }
        if (!$in_sql && !is_space($one) && $section ne '') { push @pieces, ['sql', $part, $section, $head]; next }
        $pieces[-1][1] .= $part;
    }
    return \@pieces;
}

sub whole { return join '', map { $_->[1] } @{ $_[0] } }

# Tables and columns, as setup declares them: { table => { column => type } }.
sub schema
{
    my ($pieces) = @_;
    my %schema;
    for my $piece (grep { $_->[0] eq 'sql' && $_->[2] eq 'setup' } @$pieces) {
        my $sql = $piece->[1] =~ s/--[^\n]*//gr;
        my ($table, $columns) = $sql =~ /^\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)\s*\((.*)\)/is or next;
        my $flat = $columns;
        1 while $flat =~ s/\([^()]*\)//;
        for my $column (split /,/, $flat) {
            my ($name, $type) = $column =~ /^\s*(\w+)\s+(\w+)/ or next;
            $schema{$table}{$name} = lc $type if $name !~ /^(?:primary|unique|foreign|constraint|check|key|index)$/i;
        }
    }
    return \%schema;
}

# --- where a condition stands: the places of the tokens behind WHERE, up to the clause's end ---

my @clause_ends = qw(order limit for returning group having union offset fetch on window except intersect ; set);

# [from, to) for each WHERE of a statement, in dense tokens.
sub conditions
{
    my ($t) = @_;
    my @found;
    for my $i (grep { is($t->[$_], 'where') } 0 .. $#$t) {
        my ($depth, $k) = (0, $i + 1);
        for (; $t->[$k][0] ne 'end'; $k++) {
            last if $depth == 0 && (is_any($t->[$k], @clause_ends) || is($t->[$k], ')') || (is($t->[$k], 'lock') && is($t->[$k + 1], 'in')));
            $depth++ if is($t->[$k], '(');
            $depth-- if is($t->[$k], ')');
        }
        push @found, [$i + 1, $k];
    }
    return @found;
}

# The conditions between the ANDs of one, as [from, to); none if it has an OR, BETWEEN or CASE outside of brackets.
sub conjuncts
{
    my ($t, $from, $to) = @_;
    my ($depth, @cut) = (0, $from);
    for my $k ($from .. $to - 1) {
        $depth++ if is($t->[$k], '(');
        $depth-- if is($t->[$k], ')');
        next if $depth > 0;
        return if is_any($t->[$k], qw(or between case));
        push @cut, $k + 1 if is($t->[$k], 'and');
    }
    push @cut, $to + 1;
    return map { [$cut[$_], $cut[$_ + 1] - 1] } 0 .. $#cut - 1;
}

# One operand at $i or before it: [from, to), of a name, a column of a table, a parameter or a constant; undef: something else.
sub operand_from
{
    my ($t, $i) = @_;
    return if $t->[$i][0] !~ /^(?:word|name|param|number|string)$/ || is_any($t->[$i], qw(select null any all some interval case not cast extract exists date timestamp row array));
    my $to = $i + 1;
    $to += 2 while is($t->[$to], '.');
    return if is($t->[$to], '(') || is($t->[$to], '::');
    return [$i, $to];
}

sub operand_to
{
    my ($t, $to) = @_;
    my $from = $to - 1;
    $from -= 2 while $from > 1 && is($t->[$from - 1], '.');
    return if $from < 0 || (($t->[$from - 1][1] // '') eq '::');
    my $one = operand_from($t, $from);
    return $one && $one->[1] == $to ? $one : undef;
}

my @before = ('(', qw(where and or not when on));
my @behind = (qw(and or then), ')', @clause_ends);

# Calls back with (tokens of the left, the sign, tokens of the right), in conditions only, where both are plain operands. What it returns
# stands there instead; undef: as it was.
sub comparisons
{
    my ($sql, $signs, $change) = @_;
    my $t = dense(tokens($sql));
    my %is_in;
    for my $one (conditions($t)) { $is_in{$_} = 1 for $one->[0] .. $one->[1] - 1 }
    my $changed = 0;
    for my $i (sort { $b <=> $a } grep { $is_in{$_} && $t->[$_][0] eq 'sign' && $t->[$_][1] =~ /^(?:$signs)$/ } keys %is_in) {
        my ($left, $right) = (operand_to($t, $i), operand_from($t, $i + 1));
        next if !$left || !$right || !is_any($t->[$left->[0] - 1], @before);
        next if !is_any($t->[$right->[1]], @behind) && $t->[$right->[1]][0] ne 'end';
        my $first = $t->[$left->[0]][2];
        my @left = map { [@$_] } @$t[$left->[0] .. $left->[1] - 1];
        $left[0][2] = '';
        my @right = map { [@$_] } @$t[$right->[0] .. $right->[1] - 1];
        $right[0][2] = '';
        my $new = $change->(spread(\@left), $t->[$i][1], spread(\@right)) // next;
        splice @$t, $left->[0], $right->[1] - $left->[0], ['sql', $new, $first eq '' && !is($t->[$left->[0] - 1], '(') ? ' ' : $first];
        $changed++;
    }
    return $changed ? spread($t) : undef;
}

# --- the changes ---
# Each gets one statement and { engine, section, schema, file }, and returns it changed; undef: it has nothing to change.

my @keywords = qw(select from where and or not null is in update set insert into values delete returning order by limit for skip locked with as on conflict do
    create table primary key default unique references drop index case when then else end exists between desc asc group having join left using);
my %keyword = map { $_ => 1 } @keywords;
# Names that have a meaning for lockbench, in what a statement returns.
my %kept = map { $_ => 1 } qw(id payload token resource ticket granted left_ms n now worker mode group process state_of items tokens free);
my $never = qr/^\s*(?:create|drop|alter|do|lock|call|set|listen|notify|unlisten)\b/i;
my $draws = qr/nextval|advisory|random|get_lock|release_lock|pg_notify|gen_random|currval|last_insert|changes\s*\(/i;

sub between # something in place of each blank
{
    my ($sql, $with) = @_;
    my $changed = 0;
    my $list = tokens($sql);
    my $line = ''; # the end of a comment of one line stays
    for my $one (@$list) {
        if ($one->[0] eq 'blank') { $one->[1] = $line . $with; $changed++ }
        $line = $one->[0] eq 'comment' && $one->[1] =~ /^--/ ? "\n" : '';
    }
    return $changed ? joined($list) : undef;
}

sub cased
{
    my ($sql, $how) = @_;
    my $list = tokens($sql);
    $_->[1] = $how->($_->[1]) for grep { $_->[0] eq 'word' && $keyword{lc $_->[1]} } @$list;
    my $new = joined($list);
    return $new ne $sql ? $new : undef;
}

sub renamed
{
    my ($pieces, $map) = @_; # word => word
    my $changed = 0;
    for my $piece (grep { $_->[0] eq 'sql' } @$pieces) {
        my $list = tokens($piece->[1]);
        for my $one (grep { $_->[0] eq 'word' && defined $map->{ $_->[1] } } @$list) { $one->[1] = $map->{ $one->[1] }; $changed++ }
        $piece->[1] = joined($list);
    }
    return $changed ? whole($pieces) : undef;
}

# Columns that may have another name: none that lockbench reads, none that is a table's or a function's, too.
sub free_columns
{
    my ($c, $pieces) = @_;
    my $sql = join ' ', map { $_->[1] } grep { $_->[0] eq 'sql' } @$pieces;
    return if $sql =~ /\bfunction\b|\btrigger\b|\$\$/i;
    my %table = map { $_ => 1 } keys %{ $c->{schema} };
    my %column = map { %$_ } values %{ $c->{schema} };
    return grep { my $name = $_; !$kept{ lc $name } && !$table{$name} && !$keyword{ lc $name } && $sql !~ /\b$name\s*\(|:$name\b/ && $sql !~ /\bas\s+$name\b/i } sort keys %column;
}

sub quoted
{
    my ($c, $pieces, $open, $close) = @_;
    my %name = map { $_ => "$open$_$close" } grep { $_ eq lc $_ } keys %{ $c->{schema} }, free_columns($c, $pieces);
    return renamed($pieces, \%name);
}

# SELECT ...: the whole statement.
sub in_cte
{
    my ($sql, $c) = @_;
    return if $sql !~ /^\s*select\b/i || $sql =~ /\binto\b|$draws/i || $c->{section} =~ /^(?:setup|teardown)$/;
    return if $sql =~ /\bfor\s+(?:no\s+key\s+)?(?:update|share)|\block\s+in\b/i && $c->{engine} ne 'postgres';
    return "WITH lb_rows AS ($sql) SELECT * FROM lb_rows";
}

# The statements that run within an operation of a worker.
sub in_worker { my ($c) = @_; return $c->{section} !~ /^(?:setup|teardown|count|permits)$/ }

sub bracketed_conditions
{
    my ($sql) = @_;
    my $t = dense(tokens($sql));
    my $changed = 0;
    for my $one (reverse conditions($t)) {
        my ($from, $to) = @$one;
        next if $to <= $from;
        $t->[$to - 1][1] .= ')';
        $t->[$from][1] = '(' . $t->[$from][1];
        $changed++;
    }
    return $changed ? spread($t) : undef;
}

sub bracketed_conjuncts
{
    my ($sql) = @_;
    my $t = dense(tokens($sql));
    my @parts = map { conjuncts($t, @$_) } conditions($t); # of all, before a bracket is no token of its own any more
    for my $part (@parts) {
        $t->[$part->[1] - 1][1] .= ')';
        $t->[$part->[0]][1] = '(' . $t->[$part->[0]][1];
    }
    return @parts ? spread($t) : undef;
}

sub swapped_conjuncts
{
    my ($sql) = @_;
    return if $sql =~ $draws;
    my $t = dense(tokens($sql));
    for my $one (reverse conditions($t)) {
        my @parts = conjuncts($t, @$one);
        next if @parts < 2;
        my @texts = map { spread([@$t[$_->[0] .. $_->[1] - 1]]) } @parts;
        splice @$t, $one->[0], $one->[1] - $one->[0], ['sql', join(' AND', map { / ^\s/x ? $_ : " $_" } reverse @texts), ''];
        return spread($t); # one of them: the places behind it have moved
    }
    return;
}

sub swapped_assignments
{
    my ($sql, $c) = @_;
    return if $c->{engine} eq 'mariadb' || $sql !~ /^\s*update\b/i;
    my $t = dense(tokens($sql));
    my ($i) = grep { is($t->[$_], 'set') } 0 .. $#$t;
    my ($depth, @cut) = (0, ($i // return) + 1);
    my $k = $i + 1;
    for (; $t->[$k][0] ne 'end'; $k++) {
        $depth++ if is($t->[$k], '(');
        $depth-- if is($t->[$k], ')');
        last if $depth == 0 && is_any($t->[$k], qw(where from returning));
        push @cut, $k + 1 if $depth == 0 && is($t->[$k], ',');
    }
    return if @cut < 2;
    push @cut, $k + 1;
    my @texts = map { spread([@$t[$cut[$_] .. $cut[$_ + 1] - 2]]) } 0 .. $#cut - 1;
    splice @$t, $i + 1, $k - $i - 1, ['sql', join(',', map { /^\s/ ? $_ : " $_" } reverse @texts), ''];
    return spread($t);
}

sub without_as
{
    my ($sql) = @_;
    return if $sql =~ $never;
    my $t = dense(tokens($sql));
    my $changed = 0;
    my $depth = 0;
    for my $i (grep { is($t->[$_], 'as') } reverse 1 .. $#$t) {
        next if $t->[$i + 1][0] ne 'word' || is_any($t->[$i + 1], qw(materialized not int integer bigint text real varchar char numeric decimal signed unsigned interval date));
        next if is($t->[$i + 2], '(') || spread([@$t[0 .. $i]]) =~ /cast\s*\([^()]*(?:\([^()]*\)[^()]*)*$/i;
        splice @$t, $i, 1;
        $changed++;
    }
    return $changed ? spread($t) : undef;
}

# FROM t, UPDATE t or INTO t, without a name of its own: with one, or with the database's.
sub named_tables
{
    my ($sql, $c, $words, $how) = @_;
    return if $sql =~ $never;
    my $t = dense(tokens($sql));
    my $changed = 0;
    for my $i (reverse 0 .. $#$t - 1) {
        my $name = $t->[$i + 1][1];
        next if !is_any($t->[$i], @$words) || !exists $c->{schema}{$name};
        next if is_any($t->[$i + 2], '.', 'as') || ($i > 0 && is($t->[$i], 'update') && is_any($t->[$i - 1], qw(for key do)));
        my $new = $how->($name, $t, $i) // next;
        $t->[$i + 1][1] = $new;
        $changed++;
    }
    return $changed ? spread($t) : undef;
}

sub aliased
{
    my ($sql, $c) = @_;
    return if $c->{engine} eq 'mariadb' && $sql =~ /^\s*delete\b/i; # DELETE t FROM t AS x
    return if $c->{engine} eq 'mariadb' && $c->{file} =~ /\block\s+tables?\b/i; # it locks the names that it lists
    my $n = 0;
    return named_tables($sql, $c, ['from', 'update'], sub {
        my ($name, $t, $i) = @_;
        return if any { is($t->[$_], lc $name) && (is($t->[$_ + 1], '.') || is($t->[$_ - 1], 'of')) } 1 .. $#$t - 1;
        my $next = $t->[$i + 2];
        return if $next->[0] eq 'word' && !$keyword{ lc $next->[1] } && !is($next, 'returning');
        return "$name AS lb_" . ++$n;
    });
}

# Columns of whole numbers that no statement makes negative.
sub is_natural
{
    my ($c, $column) = @_;
    my ($name) = $column =~ /(\w+)$/;
    return if $c->{file} =~ /-\s*\d/ || $c->{file} =~ /\b$name\s*-/ || !defined $name;
    return any { ($_->{$name} // '') =~ /^(?:int|integer|bigint|smallint|tinyint)/ } values %{ $c->{schema} };
}

my %mirror = ('<' => '>', '>' => '<', '<=' => '>=', '>=' => '<=');
my %opposite = ('<' => '>=', '>' => '<=', '<=' => '>', '>=' => '<');

my @changes = (
    # --- blanks and comments ---
    ['apostrophe in comments' => sub { between($_[0], " /* it's ' */ ") }],
    ['quote in comments' => sub { between($_[0], ' /* " ` */ ') }],
    ['line comments' => sub { between($_[0], " -- it's \"here\"\n    ") }],
    ['words in comments' => sub { between($_[0], ' /* lease 5 minutes, attempts < 3, nowait, advisory, returning id; */ ') }],
    ['comment in front' => sub { "/* it's :now */ $_[0]" }],
    ['comment behind' => sub { "$_[0] /* that's all */" }],
    ['line breaks' => sub { between($_[0], "\n") }],
    ['tabs' => sub { between($_[0], "\t") }],
    ['many blanks' => sub { between($_[0], "  \n  ") }],
    ['no blanks beside signs' => sub { my $new = $_[0] =~ s/(?<=[\w)]) (<>|<=|>=|=|<|>) (?=[\w:(])/$1/gr; $new ne $_[0] ? $new : undef }],
    # --- case ---
    ['upper case' => sub { cased($_[0], sub { uc $_[0] }) }],
    ['lower case' => sub { cased($_[0], sub { lc $_[0] }) }],
    ['first letters' => sub { cased($_[0], sub { ucfirst lc $_[0] }) }],
    # --- brackets ---
    ['brackets around conditions' => sub { bracketed_conditions($_[0]) }],
    ['brackets around each condition' => sub { bracketed_conjuncts($_[0]) }],
    ['brackets around parameters' => sub {
        my ($sql, $c) = @_;
        my $list = tokens($sql);
        my $last = '';
        my $changed = 0;
        for my $one (grep { !is_space($_) } @$list) {
            my $is = $one->[0] eq 'param' && $one->[1] =~ /^:(?!ids$|items$|tokens$)/ && $last !~ /^(?:limit|offset|interval|any|in)$/;
            $last = lc $one->[1];
            next if !$is;
            $one->[1] = "($one->[1])";
            $changed++;
        }
        return $changed ? joined($list) : undef;
    }],
    ['brackets around constants' => sub { comparisons($_[0], '=|<>', sub { $_[2] =~ /^\d+$/ ? "$_[0] $_[1] ($_[2])" : undef }) }],
    # --- operators ---
    ['operands of = swapped' => sub { comparisons($_[0], '=', sub { "$_[2] = $_[0]" }) }],
    ['operands of < swapped' => sub { comparisons($_[0], '<=?|>=?', sub { "$_[2] $mirror{$_[1]} $_[0]" }) }],
    ['NOT (a >= b) for a < b' => sub { comparisons($_[0], '<=?|>=?', sub { "NOT ($_[0] $opposite{$_[1]} $_[2])" }) }],
    ['NOT (a <> b) for a = b' => sub { comparisons($_[0], '=', sub { "NOT ($_[0] <> $_[2])" }) }],
    ['NOT (a = b) for a <> b' => sub { comparisons($_[0], '<>|!=', sub { "NOT ($_[0] = $_[2])" }) }],
    ['!= for <>' => sub { my $list = tokens($_[0]); my $n = grep { $_->[0] eq 'sign' && $_->[1] eq '<>' && ($_->[1] = '!=') } @$list; $n ? joined($list) : undef }],
    ['<> for !=' => sub { my $list = tokens($_[0]); my $n = grep { $_->[0] eq 'sign' && $_->[1] eq '!=' && ($_->[1] = '<>') } @$list; $n ? joined($list) : undef }],
    ['IN for =' => sub { comparisons($_[0], '=', sub { "$_[0] IN ($_[2])" }) }],
    ['BETWEEN for =' => sub { comparisons($_[0], '=', sub { $_[2] =~ /^\d+$/ ? "$_[0] BETWEEN $_[2] AND $_[2]" : undef }) }],
    ['two comparisons for =' => sub { comparisons($_[0], '=', sub { "($_[0] <= $_[2] AND $_[0] >= $_[2])" }) }],
    ['x < 1 for x = 0' => sub { my $c = $_[1]; comparisons($_[0], '=', sub { $_[2] eq '0' && is_natural($c, $_[0]) ? "$_[0] < 1" : undef }) }],
    ['x <= 0 for x = 0' => sub { my $c = $_[1]; comparisons($_[0], '=', sub { $_[2] eq '0' && is_natural($c, $_[0]) ? "$_[0] <= 0" : undef }) }],
    ['conditions swapped' => sub { swapped_conjuncts($_[0]) }],
    ['assignments swapped' => sub { swapped_assignments(@_) }],
    ['NOT (x IS NOT NULL) for x IS NULL' => sub { my $new = $_[0] =~ s/\b((?:\w+\.)?\w+)\s+IS\s+NULL\b/NOT ($1 IS NOT NULL)/gir; $new ne $_[0] && $_[0] !~ /\)\s+IS\s+NULL/i && $_[0] !~ $never ? $new : undef }],
    ['+ on the other side for -' => sub { my $new = $_[0] =~ s/\b((?:\w+\.)?[a-z]\w*)\s*(<=?)\s*:now\s*-\s*(:\w+)(?=\s*(?:\)|and\b|or\b|returning\b|;|$))/$1 + $3 $2 :now/gir; $new ne $_[0] ? $new : undef }],
    # --- names ---
    ['aliases' => sub { aliased(@_) }],
    ['AS removed' => sub { without_as($_[0]) }],
    ['a CTE around SELECT' => sub { in_cte(@_) }],
    ['name of the database' => sub {
        my ($sql, $c) = @_;
        return if $c->{engine} ne 'sqlite';
        return named_tables($sql, $c, [qw(from update into join)], sub { "main.$_[0]" });
    }],
    ['CURRENT_TIMESTAMP for now()' => sub { my ($sql, $c) = @_; return if $c->{engine} eq 'sqlite'; my $new = $sql =~ s/\bnow\s*\(\s*\)/CURRENT_TIMESTAMP/gir; $new ne $sql ? $new : undef }],
    ['dollar quotes' => sub {
        my ($sql, $c) = @_;
        return if $c->{engine} ne 'postgres' || $sql =~ /\$/;
        my $list = tokens($sql);
        my ($n, $before) = (0, '');
        for my $one (@$list) {
            if ($one->[0] eq 'string' && $before !~ /^[eux&b]$/i) { $one->[1] = '$it$' . (substr($one->[1], 1, -1) =~ s/''/'/gr) . '$it$'; $n++ }
            $before = $one->[1];
        }
        return $n ? joined($list) : undef;
    }],
    ['a text added to :worker' => sub { my ($sql, $c) = @_; return if $c->{engine} ne 'sqlite'; comparisons($sql, '=', sub { $_[2] eq ':worker' ? "$_[0] = :worker || ''" : undef }) }],
);

# Of the whole file.
my @file_changes = (
    ['columns renamed' => sub { my ($pieces, $c) = @_; my $n = 0; renamed($pieces, { map { $_ => 'c' . ++$n } free_columns($c, $pieces) }) }],
    ['columns with misleading names' => sub {
        my ($pieces, $c) = @_;
        my @names = qw(attempts expires_at retry_count last_error due_at lease_until max_attempts priority heartbeat_at);
        my %used = map { %$_ } values %{ $c->{schema} };
        @names = grep { !exists $used{$_} } @names;
        return renamed($pieces, { map { @names ? ($_ => shift @names) : () } free_columns($c, $pieces) });
    }],
    ['tables renamed' => sub { my ($pieces, $c) = @_; my $n = 0; return if whole($pieces) =~ /\bfunction\b|\btrigger\b/i; my %column = map { %$_ } values %{ $c->{schema} }; renamed($pieces, { map { $_ => 't_' . ++$n } grep { !$kept{$_} && !$column{$_} } keys %{ $c->{schema} } }) }],
    ['quoted names' => sub { my ($pieces, $c) = @_; quoted($c, $pieces, $c->{engine} eq 'mariadb' ? ('`', '`') : ('"', '"')) }],
    ['names in other quotes' => sub { my ($pieces, $c) = @_; $c->{engine} eq 'sqlite' ? quoted($c, $pieces, '[', ']') : undef }],
    ['Windows line ends' => sub { my ($pieces) = @_; whole($pieces) =~ s/\r?\n/\r\n/gr }],
    ['directives in another order' => sub {
        my ($pieces) = @_;
        my $text = whole($pieces);
        my ($head, $rest) = $text =~ /\A(.*?^)(-- name:.*)\z/ms or return;
        my @lines = split /^/, $head;
        my @at = grep { $lines[$_] =~ /^-- (?:claims|lease|limit|summary|origin|needs|shape): /i } 0 .. $#lines;
        return if @at < 2;
        @lines[@at] = @lines[reverse @at];
        return join('', @lines) . $rest;
    }],
    ['sections in another order' => sub {
        my ($pieces) = @_;
        my $text = whole($pieces);
        my ($head, $rest) = $text =~ /\A(.*?)^(-- name:.*)\z/ms or return;
        my @sections = map { /\n\z/ ? $_ : "$_\n" } split /^(?=-- name:)/m, $rest;
        return $head . join '', reverse @sections;
    }],
    ['a log table' => sub {
        my ($pieces, $c) = @_;
        my $text = whole($pieces);
        # In front of the directives of the first statement.
        $text =~ s/^(-- name: (?:acquire|claim)\b.*\btx=one\b.*\n)/$1INSERT INTO lb_log VALUES (:worker, 1);\n/mg or return;
        $text =~ s/^(-- name: setup.*\n)/$1CREATE TABLE lb_log (worker varchar(64), at bigint);\n/mg;
        $text =~ s/^(-- name: teardown.*\n)/$1DROP TABLE lb_log;\n/mg;
        return $text;
    }],
);

sub changes { return map { $_->[0] } @changes, @file_changes }

# The text of a file, changed for this engine; undef: the change does not apply to it.
sub rewrite
{
    my ($text, $name, $engine) = @_;
    my $pieces = pieces($text);
    my %context = (engine => $engine, schema => schema($pieces), file => join(' ; ', map { $_->[1] } grep { $_->[0] eq 'sql' } @$pieces));
    my $whole = first { $_->[0] eq $name } @file_changes;
    return $whole->[1]->($pieces, \%context) if $whole;
    my $change = first { $_->[0] eq $name } @changes or die "no change is called $name\n";
    my $changed = 0;
    for my $piece (grep { $_->[0] eq 'sql' } @$pieces) {
        my $new = $change->[1]->($piece->[1], { %context, section => $piece->[2] }) // next;
        $changed ||= $new ne $piece->[1];
        $piece->[1] = $new;
    }
    return $changed ? whole($pieces) : undef;
}

# Several changes, each of its own: blanks, comments and names last, because the others look at the words. Returns the text, and the names
# of those that applied.
sub mixed
{
    my ($text, $engine, @names) = @_;
    my %wanted = map { $_ => 1 } @names;
    my @applied;
    for my $name (grep { $wanted{$_} } reverse(map { $_->[0] } @changes), map { $_->[0] } @file_changes) {
        my $new = rewrite($text, $name, $engine);
        next if !defined $new || $new eq $text;
        $text = $new;
        push @applied, $name;
    }
    return ($text, @applied);
}

# The file of a built-in strategy's statements; undef: it has none for this engine. Options are those that its sections ask for.
sub built_in
{
    my ($folder, $strategy, $engine) = @_; # of `lockbench list strategies --format json`
    open my $in, '<', "$folder/$strategy->{strategy}/$engine.sql" or return;
    my $sql = do { local $/; <$in> };
    my %values;
    for my $line ($sql =~ /^-- name: [^\n]*? when ([^\n]*)/mg) {
        for my $one ($line =~ /(\w+!?=[\w|]+)/g) {
            my ($name, $value) = split /!?=/, $one;
            for my $each (split /\|/, $value) { push @{ $values{$name} }, $each if !any { $_ eq $each } @{ $values{$name} // [] } }
        }
    }
    my $options = join '', map { my $list = $values{$_}; push @$list, 'other' if @$list < 2; "-- option: $_ = " . join(' | ', @$list) . "\n" } sort keys %values;
    return "-- strategy: $strategy->{strategy}\n-- shape: $strategy->{shape}\n-- claims: " . ($strategy->{claims} =~ s/,/, /gr) . "\n$options\n$sql";
}

# How two results of `explore --format json` differ: ([kind, text], ...). Kinds: 'changed' (a wrong verdict), 'asked' (a question instead of
# a verdict), 'judged' (an accusation instead of a question), 'cut' (one of the two explorations was not complete).
sub differences
{
    my ($was, $is) = @_;
    my $found = qr/^violated/;
    my @list;
    for my $guarantee (sort keys %{ $was->{verdicts} }) {
        my ($old, $new) = ($was->{verdicts}{$guarantee}, $is->{verdicts}{$guarantee} // 'missing');
        next if $old eq $new;
        my $kind = $new eq 'not tested' ? 'asked' : $new =~ $found && $old eq 'not tested' ? 'judged'
            : $old !~ $found && $new !~ $found && "$old $new" =~ /no violation found/ ? 'cut' : 'changed';
        push @list, [$kind, "$guarantee: $old, then $new"];
    }
    push @list, ['cut', 'complete, then not'] if $was->{complete} && !$is->{complete} && !@list;
    return @list;
}

1;
