# shellcheck shell=bash
# Shared by the scripts here: messages, and the installation of missing packages on Debian.
#
# lb_need installs only packages that are not there, without questions, as root or through sudo.
# A server package starts its service and creates a cluster when it is installed; a benchmark has no
# use for either, so both are held back for the length of the installation (policy-rc.d(8),
# createcluster.conf(5)) and existing installations stay unchanged. On other systems than Debian
# nothing is installed: a missing program is reported when it is used.

# The source tree, and what each job needs.
# shellcheck disable=SC2034
{
    LB_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    LB_PKG_BUILD=(build-essential cmake ninja-build pkg-config libsqlite3-dev libpq-dev
        libmariadb-dev libpopt-dev libinih-dev libjansson-dev zlib1g-dev libcminpack-dev
        libjs-d3 libmicrohttpd-dev file)
    LB_PKG_TEST=(libcmocka-dev perl postgresql mariadb-server pgbouncer sqlite3 libxml2-utils zsh fish
        python3-psycopg2 faketime libopenmpi-dev openmpi-bin)
    LB_PKG_TEST_ALL=(chromium nodejs galera-4 rsync socat python3-asyncpg libminion-perl libmojo-pg-perl
        php-cli php-pgsql php-symfony-lock python3-django)
    LB_PKG_CHECK=(clang clang-format clang-tidy cppcheck shellcheck)
}

lb_say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

lb_die() {
    lb_say "$@"
    exit 3
}

# A mistake in the arguments: one line that names it.
lb_misused() {
    lb_say "$1; see --help"
    exit 2
}

# lb_wants_value "$@": the option that stands first has a value.
lb_wants_value() {
    [[ $# -ge 2 ]] || lb_misused "$1: a value is missing"
}

# lb_wants_number NAME VALUE: VALUE is a number from 1.
lb_wants_number() {
    [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || lb_misused "$1: '$2' is not a number from 1"
}

# The comment at the script's head is its help.
lb_help() {
    sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p }' "$0"
    exit 0
}

lb_as_root() {
    if [[ $EUID == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        if [[ -t 0 ]]; then sudo "$@"; else sudo -n "$@"; fi
    else
        lb_say "neither root nor sudo: cannot run $1"
        return 1
    fi
}

lb_missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            printf '%s\n' "$package"
    done
}

# lb_need PACKAGE...: installs those that are missing. Fails if that cannot be done.
lb_need() {
    local missing
    command -v apt-get >/dev/null || return 0
    mapfile -t missing < <(lb_missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    lb_say "installing ${missing[*]}"
    lb_as_root bash -s -- "${missing[@]}" <<'INSTALL'
set -eu
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
clusters=/etc/postgresql-common/createcluster.d
log=$(mktemp)
ours=()
trap 'rm -f "$log" "${ours[@]}"' EXIT
apt() {
    apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; return 1; }
}
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    ours+=("$policy")
fi
if [ ! -e "$clusters/lockbench.conf" ]; then
    mkdir -p "$clusters"
    echo 'create_main_cluster = false' >"$clusters/lockbench.conf"
    ours+=("$clusters/lockbench.conf")
fi
# The lists may be old, or absent in a container: refreshed only when they do not do.
apt install --no-install-recommends "$@" 2>/dev/null || {
    apt update
    apt install --no-install-recommends "$@"
}
INSTALL
}
