# The commands of the guides and of the jobs in examples/, as their readers run them.
package Guides;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(shell_blocks github_steps gitlab_commands docker_commands);

# The blocks of a page that are commands.
sub shell_blocks
{
    my ($page) = @_;
    return $page =~ /^```sh\n(.*?)^```$/msg;
}

# A GitHub workflow: [name, commands] of each step that has commands, in order.
sub github_steps
{
    my ($text) = @_;
    my @steps;
    for my $part (split /^(?=      - )/m, $text) {
        my ($name) = $part =~ /^      - name: (.*)/;
        my ($one, $block) = $part =~ /^        run: (?:([^|\n].*)|\|\n((?:(?: {10}.*)?\n)+))/m;
        push @steps, [$name, $one // $block =~ s/^ {10}//mgr] if defined($one // $block);
    }
    return @steps;
}

# A GitLab job: the commands under a key (before_script, script), in order.
sub gitlab_commands
{
    my ($text, $key) = @_;
    my ($list) = $text =~ /^  \Q$key\E:\n((?:    .*\n|\n)+)/m;
    my @commands;
    for my $part (grep { !/^    #/ } split /^(?=    [-#])/m, $list // '') {
        my $is_block = $part =~ s/^    - \|\n//;
        $part =~ s/^    - //;
        $part =~ s/^ {6}//mg;
        $part =~ s/\n(?=.)/ /g if !$is_block; # as YAML folds a plain text
        push @commands, $part;
    }
    return @commands;
}

# A Dockerfile: its stages, each a list of [instruction, arguments].
sub docker_commands
{
    my ($text) = @_;
    my @stages;
    $text =~ s/\\\n//g;
    for my $line (split /\n/, $text) {
        my ($instruction, $rest) = $line =~ /^([A-Z]+)\s+(.*\S)/ or next;
        push @stages, [] if $instruction eq 'FROM';
        push @{ $stages[-1] }, [$instruction, $rest] if @stages;
    }
    return @stages;
}
1;
