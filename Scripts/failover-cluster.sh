#!/usr/bin/env bash
# A throwaway PostgreSQL cluster under pg_auto_failover: a monitor and three nodes. Each has its own network namespace if the
# system allows that. Otherwise all listen on 127.0.0.1, and the primary can be killed but not cut off.
#
#   failover-cluster.sh start FOLDER     Start a cluster in an empty folder.
#   failover-cluster.sh address FOLDER   Print its address for Till and psql.
#   failover-cluster.sh can-cut FOLDER   Exit with status 0 if the primary can be cut off.
#   failover-cluster.sh primary FOLDER   Print the name of the primary.
#   failover-cluster.sh kill FOLDER      Kill PostgreSQL and its keeper on the primary with SIGKILL.
#   failover-cluster.sh cut FOLDER       Disconnect the primary from the network. Packets to it are lost silently.
#   failover-cluster.sh restore FOLDER   Restart killed nodes, connect cut ones, and wait until all three are healthy.
#   failover-cluster.sh status FOLDER    Print the monitor's view of the nodes.
#   failover-cluster.sh stop FOLDER      End all processes, and remove the namespaces and the folder.
set -euo pipefail
usage="Usage: failover-cluster.sh start|address|can-cut|primary|kill|cut|restore|status|stop FOLDER"
[ $# -eq 2 ] || { echo "$usage" >&2 && exit 1; }
command=$1
folder=$(realpath -m "$2")
cd "$(dirname "$0")/.."
source Scripts/postgres.sh
# The cluster outlives this script, in the caller's folder.
rmdir "$postgres_folder"
trap - EXIT

nodes=(node1 node2 node3)
machines=(monitor "${nodes[@]}")
superuser=postgres
[ "$(id -u)" -eq 0 ] || superuser=$(id -un)

install_cluster_packages() {
    local version
    version=$(basename "$(dirname "$postgres_bin")")
    [ -e "/usr/lib/postgresql/$version/lib/pgautofailover.so" ] || Scripts/install-packages.sh "postgresql-$version-auto-failover"
    command -v pg_autoctl >/dev/null || Scripts/install-packages.sh pg-auto-failover-cli
    command -v ip >/dev/null || Scripts/install-packages.sh iproute2
}

# The network is a bridge with a link to the namespace of each machine. The file `network` holds its number, which is part of
# each name and address. Without namespaces the file is missing.
has_network() {
    [ -e "$folder/network" ]
}

network_number() {
    cat "$folder/network"
}

# link_of MACHINE: the name of its namespace, and of its link at the bridge.
link_of() {
    echo "till$(network_number)-$1"
}

# host_number MACHINE: the last part of its address.
host_number() {
    case $1 in
    monitor) echo 10 ;;
    *) echo "1${1#node}" ;;
    esac
}

# address_of MACHINE
address_of() {
    if has_network; then echo "10.213.$(network_number).$(host_number "$1")"; else echo 127.0.0.1; fi
}

# port_of MACHINE
port_of() {
    if has_network; then echo 5432; else cat "$folder/$1.port"; fi
}

# hardware_address HOST-NUMBER
hardware_address() {
    printf '02:00:0a:d5:%02x:%02x\n' "$(network_number)" "$1"
}

# set_neighbors DEVICE OWN-HOST-NUMBER [IP-OPTION…]: with fixed neighbors, a machine that is cut off is silent. Otherwise the
# system would report it as unreachable after three seconds.
set_neighbors() {
    local device=$1 own=$2 number
    shift 2
    for number in 1 10 11 12 13; do
        [ "$number" = "$own" ] ||
            ip "$@" neighbor replace "10.213.$(network_number).$number" lladdr "$(hardware_address "$number")" dev "$device" ||
            return 1
    done
}

# Returns 1 if the system does not allow namespaces.
make_network() {
    local number bridge machine link host
    [ "$(id -u)" -eq 0 ] || return 1
    number=0
    while [ -e "/sys/class/net/till$number" ]; do number=$((number + 1)); done
    bridge=till$number
    echo "$number" >"$folder/network"
    ip link add "$bridge" address "$(hardware_address 1)" type bridge || return 1
    ip address add "10.213.$number.1/24" dev "$bridge" || return 1
    ip link set "$bridge" up || return 1
    for machine in "${machines[@]}"; do
        link=$(link_of "$machine")
        host=$(host_number "$machine")
        ip netns add "$link" || return 1
        ip link add "$link" type veth peer name eth0 address "$(hardware_address "$host")" netns "$link" || return 1
        ip link set "$link" master "$bridge" up || return 1
        ip -n "$link" link set lo up || return 1
        ip -n "$link" address add "10.213.$number.$host/24" dev eth0 || return 1
        ip -n "$link" link set eth0 up || return 1
        set_neighbors eth0 "$host" -n "$link" || return 1
    done
    set_neighbors "$bridge" 1
}

remove_network() {
    local machine
    has_network || return 0
    for machine in "${machines[@]}"; do
        ip link delete "$(link_of "$machine")" 2>/dev/null || true
        ip netns delete "$(link_of "$machine")" 2>/dev/null || true
    done
    ip link delete "till$(network_number)" 2>/dev/null || true
    rm "$folder/network"
}

# start_machine MACHINE ARGUMENT…: starts pg_autoctl in the background. Its processes are found by their working directory.
start_machine() {
    local machine=$1 prefix=()
    shift
    # Semaphores and shared memory of killed processes end with their namespace.
    has_network && prefix=(
        nsenter "--net=/run/netns/$(link_of "$machine")" unshare --ipc --mount
        sh -c 'mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh
    )
    [ "$(id -u)" -ne 0 ] || prefix+=(setpriv --reuid=postgres --regid=postgres --clear-groups)
    (
        cd "$folder/$machine"
        # Whoever calls this script may wait until nobody has its descriptors any more.
        for descriptor in /proc/self/fd/*; do
            descriptor=${descriptor##*/}
            [ "$descriptor" -le 2 ] || eval "exec $descriptor>&-"
        done
        exec "${prefix[@]}" env -u PGUSER -u PGDATABASE -u PGPORT HOME="$PWD" XDG_CONFIG_HOME="$PWD/config" \
            XDG_DATA_HOME="$PWD/share" XDG_RUNTIME_DIR="$PWD/run" PGHOST="$PWD/run" PG_REGRESS_SOCK_DIR="$PWD/run" \
            PATH="$postgres_bin:$PATH" setsid pg_autoctl "$@" --pgdata "$PWD/data"
    ) </dev/null >>"$folder/$machine.log" 2>&1 &
    disown
}

# start_node NODE
start_node() {
    start_machine "$1" create postgres --pgctl "$postgres_bin/pg_ctl" --monitor "$(monitor_address)" --name "$1" \
        --hostname "$(address_of "$1")" --pgport "$(port_of "$1")" --pghost "$folder/$1/run" --username till --dbname till \
        --auth trust --pg-hba-lan --no-ssl --run
}

# processes_of MACHINE
processes_of() {
    find /proc -mindepth 2 -maxdepth 2 -path '/proc/[0-9]*/cwd' \( -lname "$folder/$1" -o -lname "$folder/$1/*" \) 2>/dev/null |
        cut -d / -f 3 || true
}

# pid_files_of MACHINE: the PID file of its keeper, if it runs or was killed.
pid_files_of() {
    find "$folder/$1/run" -name pg_autoctl.pid
}

# kill_machine MACHINE: returns when its processes have ended.
kill_machine() {
    local processes file
    for _ in $(seq 1 100); do
        processes=$(processes_of "$1")
        [ -n "$processes" ] || break
        # shellcheck disable=SC2086
        kill -KILL $processes 2>/dev/null || true
        sleep 0.05
    done
    [ -z "$processes" ] || postgres_fail "the processes of $1 do not end: $processes."
    # A killed process may stay a zombie. Then its PID file would keep its successor from starting.
    rm -f "$folder/$1/data/postmaster.pid"
    for file in $(pid_files_of "$1"); do
        # The fifth line is the keeper's semaphore.
        has_network || as_postgres ipcrm --semaphore-id="$(sed -n 5p "$file")" 2>/dev/null || true
        rm "$file"
    done
}

# Without IPC namespaces, only servers that are asked to stop remove their shared memory. Waits for 20 seconds at most.
end_machines() {
    local machine file
    for machine in "${machines[@]}"; do
        for file in $(pid_files_of "$machine"); do kill -TERM "$(head -n 1 "$file")" 2>/dev/null || true; done
    done
    for _ in $(seq 1 100); do
        [ -n "$(for machine in "${machines[@]}"; do processes_of "$machine"; done)" ] || break
        sleep 0.2
    done
}

# query MACHINE DATABASE SQL: as the superuser, through the machine's socket, which a cut does not reach.
query() {
    timeout 10 "$postgres_bin/psql" -h "$folder/$1/run" -p "$(port_of "$1")" -U "$superuser" -d "$2" -AtqXc "$3"
}

# query_monitor SQL: empty if the monitor does not answer.
query_monitor() {
    query monitor pg_auto_failover "$1" 2>/dev/null || true
}

monitor_address() {
    echo "postgres://autoctl_node@$(address_of monitor):$(port_of monitor)/pg_auto_failover"
}

print_states() {
    query_monitor "SELECT nodename, reportedstate, goalstate, health FROM pgautofailover.node ORDER BY nodename"
}

# wait_until PROBLEM COMMAND…: waits for three minutes at most.
wait_until() {
    local end=$((SECONDS + 180)) problem=$1
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then
            print_states >&2
            tail -n 20 "$folder"/*.log >&2
            postgres_fail "$problem."
        fi
        sleep 0.2
    done
}

is_monitor_ready() {
    [ "$(query_monitor "SELECT count(*) FROM pgautofailover.formation")" = 1 ]
}

is_first_ready() {
    [ "$(query_monitor "SELECT reportedstate FROM pgautofailover.node")" = single ]
}

# Each node has reached its goal, and both standbys stream: a commit waits for one of them.
is_healthy() {
    local primary
    [ "$(query_monitor "SELECT string_agg(reportedstate::text, ' ' ORDER BY reportedstate::text) FROM pgautofailover.node
        WHERE reportedstate = goalstate AND health = 1")" = "primary secondary secondary" ] || return 1
    primary=$(find_primary)
    [ -n "$primary" ] || return 1
    [ "$(query "$primary" till "SELECT count(*) FROM pg_stat_replication
        WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')" 2>/dev/null || true)" = 2 ]
}

find_primary() {
    query_monitor "SELECT nodename FROM pgautofailover.node WHERE goalstate IN ('primary', 'wait_primary', 'single')"
}

require_primary() {
    primary=$(find_primary)
    [[ $primary =~ ^node[1-3]$ ]] || postgres_fail "the monitor names no single primary: \"$primary\"."
}

require_cluster() {
    [ -d "$folder/monitor" ] || postgres_fail "there is no cluster in $folder; start one first."
}

make_folder() {
    local machine
    mkdir -p "$folder"
    [ -z "$(ls -A "$folder")" ] || postgres_fail "$folder is not empty; choose another folder."
    chmod 755 "$folder"
    for machine in "${machines[@]}"; do
        mkdir -p "$folder/$machine/run"
        chmod 700 "$folder/$machine" "$folder/$machine/run"
        [ "$(id -u)" -ne 0 ] || chown -R postgres:postgres "$folder/$machine"
    done
}

start_cluster() {
    local machine setting
    install_cluster_packages
    make_folder
    trap stop_cluster EXIT
    trap 'exit 1' INT TERM
    if ! make_network 2>"$folder/network.log"; then
        cat "$folder/network.log" >&2
        remove_network
        echo "till: network namespaces cannot be created here; the primary can be killed, but not cut off." >&2
        for machine in "${machines[@]}"; do free_port >"$folder/$machine.port"; done
    fi
    start_machine monitor create monitor --pgctl "$postgres_bin/pg_ctl" --hostname "$(address_of monitor)" \
        --pgport "$(port_of monitor)" --auth trust --no-ssl --run
    wait_until "the monitor does not answer" is_monitor_ready
    # With the defaults a failover takes about 53 s.
    for setting in health_check_period=1000 health_check_timeout=1000 health_check_retry_delay=500 \
        health_check_max_retries=1 node_considered_unhealthy_timeout=3000 startup_grace_period=2000 \
        primary_demote_timeout=3000; do
        query monitor pg_auto_failover "ALTER SYSTEM SET pgautofailover.${setting%=*} = ${setting#*=}"
    done
    query monitor pg_auto_failover "SELECT pg_reload_conf()" >/dev/null
    start_node node1
    wait_until "the first node does not start" is_first_ready
    # Each base backup begins with a checkpoint, which would otherwise be spread over minutes.
    query node1 till "ALTER SYSTEM SET checkpoint_completion_target = 0"
    # pg_rewind connects to this database, which the rules of pg_auto_failover leave out.
    ! has_network || echo "host postgres pgautofailover_replicator 10.213.$(network_number).0/24 trust" \
        >>"$folder/node1/data/pg_hba.conf"
    query node1 till "SELECT pg_reload_conf()" >/dev/null
    start_node node2
    start_node node3
    wait_until "the other nodes do not join" is_healthy
    trap - EXIT INT TERM
}

stop_cluster() {
    local machine
    [ -d "$folder/monitor" ] || return 0
    has_network || end_machines
    for machine in "${nodes[@]}" monitor; do kill_machine "$machine"; done
    remove_network
    rm -rf "$folder"
}

kill_primary() {
    require_primary
    kill_machine "$primary"
}

cut_primary() {
    has_network || postgres_fail "the primary cannot be cut off: network namespaces cannot be created here."
    require_primary
    ip link set "$(link_of "$primary")" down
}

restore_nodes() {
    local node
    for node in "${nodes[@]}"; do
        ! has_network || ip link set "$(link_of "$node")" up
        [ -z "$(processes_of "$node")" ] || continue
        start_machine "$node" run
    done
    wait_until "a node does not return" is_healthy
}

case $command in
start)
    start_cluster
    ;;
stop)
    stop_cluster
    ;;
address)
    require_cluster
    hosts=$(for node in "${nodes[@]}"; do echo "$(address_of "$node"):$(port_of "$node")"; done | paste -sd ,)
    echo "postgres://till@$hosts/till"
    ;;
can-cut)
    require_cluster
    has_network
    ;;
primary)
    require_cluster
    require_primary
    echo "$primary"
    ;;
kill)
    require_cluster
    kill_primary
    ;;
cut)
    require_cluster
    cut_primary
    ;;
restore)
    require_cluster
    restore_nodes
    ;;
status)
    require_cluster
    print_states
    ;;
*)
    postgres_fail "$usage"
    ;;
esac
