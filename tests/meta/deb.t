#!/usr/bin/env perl
# The Debian package of this build: the program, the pages, the completions and what Debian's policy asks for are in it,
# and lintian, where it is installed, finds nothing (with LB_TEST_SOAK=1: it takes its time).
# Only with scripts/test --all: it builds the package.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my $build = $ENV{LB_BUILD} // 'build/dev';
for my $tool ('cpack', 'dpkg-deb', 'dpkg-shlibdeps') {
    plan skip_all => "no $tool" if system("command -v $tool >/dev/null 2>&1") != 0;
}
plan skip_all => "no $build/CPackConfig.cmake" if !-e "$build/CPackConfig.cmake";

my $dir = tempdir(CLEANUP => 1);
my $said = `cpack --config '$build/CPackConfig.cmake' -B '$dir' 2>&1`;
is($?, 0, 'cpack makes it') or diag $said;
my ($deb) = glob "$dir/*.deb";
like($deb // '', qr/lockbench_\d[\d.]*_\w+\.deb$/, '... named as README.md says') or do { done_testing(); exit };
my $list = `dpkg-deb --contents '$deb'`;
like($list, qr{ \Q./usr/$_\E$}m, "... has /usr/$_") for 'bin/lockbench', 'share/man/man1/lockbench.1.gz', 'share/man/man5/lockbench-scenario.5.gz',
    'share/bash-completion/completions/lockbench', 'share/zsh/vendor-completions/_lockbench', 'share/fish/vendor_completions.d/lockbench.fish',
    'share/doc/lockbench/copyright', 'share/doc/lockbench/changelog.gz', 'share/doc/lockbench/README.md', 'share/doc/lockbench/examples/experiment.ini';
SKIP: {
    skip 'LB_TEST_SOAK is not set', 1 if !$ENV{LB_TEST_SOAK};
    skip 'no lintian', 1 if system('command -v lintian >/dev/null 2>&1') != 0;
    is(join('', grep { /^[EW]:/ } `lintian --allow-root '$deb' 2>/dev/null`), '', 'lintian finds nothing');
}
done_testing();
