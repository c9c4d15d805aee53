# A validator that knows the part of JSON Schema that the project's schemas use, and refuses a schema that uses more.
package Schema;
use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
our @EXPORT = qw(mistakes type_of);

my %known = map { $_ => 1 }
    qw($schema title description type properties required items additionalProperties const enum);
my $codec = JSON::PP->new->allow_nonref->canonical;

sub type_of
{
    my ($value) = @_;
    return 'null' if !defined $value;
    return 'boolean' if JSON::PP::is_bool($value);
    return 'array' if ref $value eq 'ARRAY';
    return 'object' if ref $value eq 'HASH';
    my $text = $codec->encode($value);
    return $text =~ /^"/ ? 'string' : $text =~ /^-?\d+$/ ? 'integer' : 'number';
}

# The errors, as texts.
sub mistakes
{
    my ($value, $schema, $path) = @_;
    my @wrong = map { "$path: the schema uses $_" } grep { !$known{$_} } sort keys %$schema;
    my $text = exists $schema->{const} || $schema->{enum} ? $codec->encode($value) : '';
    push @wrong, "$path: $text" if exists $schema->{const} && $text ne $codec->encode($schema->{const});
    push @wrong, "$path: $text" if $schema->{enum} && !grep { $text eq $codec->encode($_) } @{$schema->{enum}};
    if (defined $schema->{type}) {
        my @types = ref $schema->{type} ? @{$schema->{type}} : $schema->{type};
        my $type = type_of($value);
        return "$path: is $type, not @types" if !grep { $_ eq $type || ($_ eq 'number' && $type eq 'integer') } @types;
    }
    if (ref $value eq 'HASH') {
        push @wrong, "$path: no $_" for grep { !exists $value->{$_} } @{$schema->{required} // []};
        for my $key (sort keys %$value) {
            my $of = $schema->{properties}{$key} // $schema->{additionalProperties} // next;
            push @wrong, ref $of eq 'HASH' ? mistakes($value->{$key}, $of, "$path.$key") : $of ? () : "$path.$key: is not known";
        }
    }
    if (ref $value eq 'ARRAY' && $schema->{items}) {
        push @wrong, mistakes($value->[$_], $schema->{items}, "$path\[$_]") for 0 .. $#$value;
    }
    return @wrong;
}

1;
