# shellcheck shell=bash
# Replicated servers, for scripts/servers, which sources this file: a PostgreSQL pair of primary and
# standby, and a Galera cluster of three MariaDB nodes.
#
# A cluster is a folder (pg-pair, pg-pair-sync, galera) whose `info` names its members; each member is a
# server with a folder of its own (pg-pair-a, ...) that halt and resume know by its name. The cluster's
# URI names all members.
#
# The pair's standby does not speak to its primary but to a relay (socat) between two unix sockets: what
# is in flight can be stalled there, and is lost when the relay is killed. Stopping the standby's own
# receiver would not do: what lies in its socket arrives later.
#
# Galera's members speak to each other on ports of 127.0.0.1 that ask for no password; clients need one.
#
# base, as_user, fast and max_connections are scripts/servers' own.
# shellcheck disable=SC2154

# member_of CLUSTER MEMBER: what status and env show apart from servers of their own.
member_of() {
    printf 'member_of=%s\n' "$1" >>"$base/$2/info"
}

# Newest PostgreSQL's server programs with a psql, which waiting for replication needs.
pair_bindir() {
    local bindir found=
    for bindir in /usr/lib/postgresql/*/bin; do
        if [[ -x $bindir/pg_basebackup && -x $bindir/initdb && -x $bindir/psql ]]; then found=$bindir; fi
    done
    printf '%s\n' "$found"
}

# set_info NAME KEY VALUE
set_info() {
    sed -i "/^$2=/d" "$base/$1/info"
    printf '%s=%s\n' "$2" "$3" >>"$base/$1/info"
}

other_member() {
    local member
    for member in $(info "$1" members); do
        if [[ $member != "$2" ]]; then echo "$member"; fi
    done
}

# ask NODE SQL
ask() {
    local folder=$base/$1/socket
    if [[ -d $folder/cut ]]; then folder+=/cut; fi
    "${as_user[@]}" "$(info "$1" bindir)/psql" -XAtq -h "$folder" -p "$(info "$1" port)" -U lockbench \
        -d lockbench -c "$2"
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
    local tries=$(($1 * 20)) i
    shift
    for ((i = 0; i < tries; i++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    return 1
}

relay_signal() {
    local pid=
    if [[ -r $base/$1/pid ]]; then read -r pid <"$base/$1/pid"; fi
    if [[ $pid =~ ^[0-9]+$ && $(strays "$base/$1") =~ (^|[[:space:]])$pid($|[[:space:]]) ]]; then
        kill "-$2" -- "-$pid" 2>/dev/null || true # the process group: a child for each connection
    fi
}

end_relay() {
    relay_signal "$1" KILL
    kill_all "$base/$1"
}

# The relay's socket looks like a PostgreSQL on port 5432 in the cluster's folder.
start_relay() {
    local primary listen=$base/$1/socket/.s.PGSQL.5432
    primary=$(info "$1" primary)
    rm -f "$listen"
    daemon "$1" socat "UNIX-LISTEN:$listen,fork,backlog=16" \
        "UNIX-CONNECT:$base/$primary/socket/.s.PGSQL.$(info "$primary" port)"
    wait_for 300 test -S "$listen"
}

# What a node's configuration has beside that of any server: node_settings CLUSTER ROLE
node_settings() {
    printf "wal_keep_size = '64MB'\nwal_receiver_timeout = '5s'\n"
    if [[ $2 == standby ]]; then
        printf "primary_conninfo = 'host=%s port=5432 user=lockbench application_name=standby'\n" "$base/$1/socket"
        printf "wal_retrieve_retry_interval = '100ms'\n"
    elif [[ -n $(info "$1" sync) && $2 == primary ]]; then
        printf "synchronous_standby_names = 'standby'\n"
    fi
}

# configure CLUSTER NODE primary|standby|alone
configure() {
    local port
    port=$(info "$2" port)
    {
        postgres_settings "$2" "$port"
        node_settings "$1" "$3"
    } | write_file "$base/$2/data/postgresql.auto.conf"
}

is_streaming() {
    local state=async
    if [[ -n $(info "$1" sync) ]]; then state=sync; fi
    [[ $(ask "$(info "$1" primary)" "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '$state'") == 1 ]]
}

# make_standby CLUSTER NODE: a copy of the primary that follows it.
make_standby() {
    local cluster=$1 node=$2 primary bindir
    primary=$(info "$cluster" primary)
    bindir=$(info "$primary" bindir)
    rm -rf "$base/$node/data"
    (
        cd "$base/$node"
        "${as_user[@]}" "$bindir/pg_basebackup" -h "$base/$primary/socket" -p "$(info "$primary" port)" -U lockbench \
            -D "$base/$node/data" -X stream -c fast ${fast:+--no-sync} </dev/null
    ) >>"$base/$node/log" 2>&1 9>&- || return 1
    write_file "$base/$node/data/standby.signal" </dev/null
    configure "$cluster" "$node" standby
    start_relay "$cluster" && run_postgres "$node" || return 1
    configure "$cluster" "$primary" primary
    (cd "$base/$primary" && "${as_user[@]}" "$bindir/pg_ctl" reload -s -D data)
    wait_for 300 is_streaming "$cluster"
}

# start_pair NAME BINDIR: NAME-sync waits for its standby.
start_pair() {
    local name=$1 bindir=$2 a=$1-a b=$1-b sync='' version
    if [[ $name == *-sync ]]; then sync=yes; fi
    for node in "$a" "$b"; do stop_one "$node"; done
    new_folder "$name"
    start_postgres "$a" "$bindir" || return 1
    member_of "$name" "$a"
    version=$(info "$a" version)
    new_folder "$b"
    write_info "$b" kind=postgres "version=$version" "bindir=$bindir" "port=$(free_port)" "fast=$fast"
    set_info "$b" uri "$(postgres_uri "$b")"
    member_of "$name" "$b"
    write_info "$name" kind=pg-pair "version=$version" "sync=$sync" "members=$a $b" "primary=$a" "fast=$fast" \
        "uri=postgresql://lockbench@/lockbench?host=$(percent_encode "$base/$a/socket"),$(percent_encode "$base/$b/socket")&port=$(info "$a" port),$(info "$b" port)&target_session_attrs=read-write"
    make_standby "$name" "$b" || {
        show_log "$b"
        return 1
    }
}

# --- What happens to a pair ---------------------------------------------------------------------

is_galera() {
    known "$1"
    [[ $(info "$1" kind) == galera-cluster ]]
}

is_pair() {
    known "$1"
    [[ $(info "$1" kind) == pg-pair ]] || lb_die "$1 is no pair of PostgreSQL servers"
    find_user
    fast=$(info "$1" fast)
}

# Nothing that the primary commits from now on reaches the standby. Members of a Galera cluster have
# a commit before the client has its answer: there is nothing to stall.
stall() {
    if is_galera "$1"; then return 0; fi
    is_pair "$1"
    relay_signal "$1" STOP
}

unstall() {
    if is_galera "$1"; then return 0; fi
    is_pair "$1"
    relay_signal "$1" CONT
}

promote() {
    local standby
    standby=$(other_member "$1" "$(info "$1" primary)")
    end_relay "$1"
    configure "$1" "$standby" alone
    (cd "$base/$standby" && "${as_user[@]}" "$(info "$standby" bindir)/pg_ctl" promote -s -w -t 300 -D data) 9>&-
    set_info "$1" primary "$standby"
}

# The primary is killed, and the standby takes its place with the data that it had received.
failover() {
    if is_galera "$1"; then
        halt "$1-1"
        return
    fi
    is_pair "$1"
    relay_signal "$1" STOP
    kill_all "$base/$(info "$1" primary)"
    promote "$1"
}

# The same, but the old primary lives on, and takes writes: split brain. Every second client is on the
# other side of the cut, and new ones are: they do not reach the old primary.
split() {
    local old bindir
    if is_galera "$1"; then
        isolate "$1-1"
        return
    fi
    is_pair "$1"
    old=$(info "$1" primary)
    bindir=$(info "$old" bindir)
    relay_signal "$1" STOP
    # Its former primary must not wait for ever for a standby that has left.
    configure "$1" "$old" alone
    promote "$1"
    # psql goes on where new clients do not get.
    mkdir -m 700 "$base/$old/socket/cut"
    chown --reference="$base/$old/socket" "$base/$old/socket/cut"
    mv "$base/$old/socket/.s.PGSQL.$(info "$old" port)" "$base/$old/socket/cut/"
    ask "$old" "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid, row_number() OVER (ORDER BY pid) AS n
        FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) c WHERE n % 2 = 0" >/dev/null
    (cd "$base/$old" && "${as_user[@]}" "$bindir/pg_ctl" reload -s -D data) 9>&-
}

# The one that is not the primary becomes its standby again, from a new copy.
rebuild() {
    local old
    if is_galera "$1"; then
        if [[ -z $(server_pid "$1-1") ]]; then resume "$1-1"; else heal "$1-1"; fi
        return
    fi
    is_pair "$1"
    old=$(other_member "$1" "$(info "$1" primary)")
    kill_all "$base/$old"
    rm -rf "$base/$old/socket/cut"
    end_relay "$1"
    make_standby "$1" "$old" || lb_die "$old did not become a standby: see $base/$old/log"
}

# --- Galera -------------------------------------------------------------------------------------

run_galera() {
    local name=$1 cluster member flags addresses=''
    cluster=$(info "$name" member_of)
    for member in $(info "$cluster" members); do
        addresses+=${addresses:+,}127.0.0.1:$(info "$member" galera_port)
    done
    flags=(--wsrep-on=ON --wsrep-provider="$(info "$name" provider)" --wsrep-cluster-name="lockbench-$cluster"
        --wsrep-cluster-address="gcomm://$addresses" --wsrep-node-address="127.0.0.1:$(info "$name" galera_port)"
        --wsrep-node-name="$name" --wsrep-sst-method=rsync
        --wsrep-sst-receive-address="127.0.0.1:$(info "$name" sst_port)"
        --binlog-format=ROW --innodb-autoinc-lock-mode=2 --innodb-buffer-pool-size=32M
        --wsrep-provider-options="gcache.size=16M;gmcast.listen_addr=tcp://127.0.0.1:$(info "$name" galera_port);ist.recv_addr=127.0.0.1:$(info "$name" ist_port);pc.recovery=false;evs.keepalive_period=PT0.3S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S;gmcast.time_wait=PT1S")
    if ! any_ready "$cluster"; then
        flags+=(--wsrep-new-cluster)
    else
        # A member that joins while the others still wait for its killed predecessor may time out.
        wait_for 300 knows_who_runs "$cluster" "$name" || {
            lb_say "the other members of $cluster do not agree who is left: is one of them isolated?"
            return 1
        }
    fi
    run_mariadb "$name" "${flags[@]}" && wait_for 300 is_ready "$name"
}

# Do all members that run, but NAME, agree that they are the cluster?
knows_who_runs() {
    local member running=()
    for member in $(info "$1" members); do
        if [[ $member != "$2" && -n $(server_pid "$member") ]]; then running+=("$member"); fi
    done
    for member in "${running[@]}"; do
        [[ $(galera_ask "$member" "SHOW STATUS LIKE 'wsrep_cluster_size'") == *$'\t'${#running[@]} ]] || return 1
    done
}

galera_ask() {
    mariadb --no-defaults --socket="$base/$1/socket/s" -u lockbench -N -B -e "$2" 2>/dev/null
}

is_ready() {
    [[ $(galera_ask "$1" "SHOW STATUS LIKE 'wsrep_ready'") == *ON ]]
}

any_ready() {
    local member
    for member in $(info "$1" members); do
        if [[ -n $(server_pid "$member") ]] && is_ready "$member"; then return 0; fi
    done
    return 1
}

start_galera() {
    local name=$1 program=$2 provider=$3 node members='' sockets='' hosts='' version
    version=$("$program" --version | sed 's/.*Ver \([0-9.]*\).*/\1/')
    for node in "$name"-{1,2,3}; do
        stop_one "$node"
        members+=${members:+ }$node
    done
    new_folder "$name"
    write_info "$name" kind=galera-cluster "version=$version" "members=$members" "fast=$fast"
    for node in $members; do
        new_folder "$node"
        "${as_user[@]}" mkdir -m 700 "$base/$node/data"
        echo 'SELECT 1;' | write_file "$base/$node/init.sql"
        write_info "$node" kind=galera "version=$version" "program=$program" "provider=$provider" \
            "port=$(free_port)" "galera_port=$(free_port)" "ist_port=$(free_port)" "sst_port=$(free_port)" \
            "fast=$fast" "max_connections=$max_connections"
        set_info "$node" uri "mariadb://lockbench@localhost/lockbench?socket=$(percent_encode "$base/$node/socket/s")"
        member_of "$name" "$node"
    done
    for node in $members; do
        # The first has the data; the others copy it from there when they join.
        if [[ $node == "$name-1" ]] && ! init_mariadb "$node" || ! run_galera "$node"; then
            show_log "$node"
            return 1
        fi
        sockets+=${sockets:+,}$(percent_encode "$base/$node/socket/s")
        hosts+=${hosts:+,}127.0.0.1:$(info "$node" port)
    done
    printf 'mariadb://lockbench:%s@%s/lockbench\n' "$(<"$base/$name-1/password")" "$hosts" |
        write_file "$base/$name/tcp-uri"
    set_info "$name" uri "mariadb://lockbench@localhost/lockbench?socket=$sockets"
}

is_galera_member() {
    known "$1"
    [[ $(info "$1" kind) == galera ]] || lb_die "$1 is no member of a Galera cluster"
}

# The member does not hear the others: it is no part of the quorum, and refuses statements (1047).
isolate() {
    is_galera_member "$1"
    galera_ask "$1" "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'"
    wait_for 300 not_ready "$1" || lb_die "$1 is still part of its cluster"
    wait_for 300 knows_who_runs "$(info "$1" member_of)" "$1" || lb_die "the others still wait for $1"
}

not_ready() {
    ! is_ready "$1"
}

heal() {
    is_galera_member "$1"
    galera_ask "$1" "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'"
    wait_for 300 is_ready "$1" || lb_die "$1 did not come back to its cluster"
}
