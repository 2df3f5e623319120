# A PostgreSQL server to throw away, on a free port of this machine: sourced by what needs one.
# Sets `postgres_bin`, `postgres_folder`; `stop_postgres` ends every server and takes the folder away.

postgres_fail() {
    echo "till: $1" >&2
    exit 1
}

find_postgres() {
    postgres_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
    [ -z "$postgres_bin" ] && command -v initdb >/dev/null && postgres_bin=$(dirname "$(command -v initdb)")
    [ -n "$postgres_bin" ]
}

install_postgres() {
    find_postgres && return
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo)
    # The cluster that Debian would make and start is none of ours.
    "${root[@]}" mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo 'create_main_cluster = false' | "${root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
    "$(dirname "${BASH_SOURCE[0]}")/install-packages.sh" postgresql
    find_postgres || postgres_fail "no PostgreSQL server was found after installing one."
}

# Runs a command as whom PostgreSQL lets run it, which is not root.
as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@")
    else
        "$@"
    fi
}

# A port that nobody listens on; the server that takes it is started at once.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# make_postgres NAME [SETTING…]: a new server with a database `till`; its port is in the file NAME.port.
make_postgres() {
    local name=$1 port
    shift
    as_postgres "$postgres_bin/initdb" -D "$postgres_folder/$name" -U till -A trust --no-sync -E UTF8 --locale=C >/dev/null
    start_postgres "$name" "$@"
    port=$(cat "$postgres_folder/$name.port")
    as_postgres "$postgres_bin/createdb" -h 127.0.0.1 -p "$port" -U till till
}

# start_postgres NAME [SETTING…]
start_postgres() {
    local name=$1 port settings=""
    shift
    for setting in "$@"; do settings+=" -c $setting"; done
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        if as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/$name" -l "$postgres_folder/$name.log" -w -t 60 -o \
            "-c listen_addresses=127.0.0.1 -p $port -c unix_socket_directories=$postgres_folder$settings" start >/dev/null; then
            echo "$port" >"$postgres_folder/$name.port"
            return
        fi
    done
    cat "$postgres_folder/$name.log" >&2
    postgres_fail "the PostgreSQL server does not start."
}

stop_postgres() {
    local folder
    for folder in "$postgres_folder"/*/; do
        [ -f "$folder/postmaster.pid" ] || continue
        as_postgres "$postgres_bin/pg_ctl" -D "$folder" -m immediate -w stop >/dev/null 2>&1 || true
    done
    rm -rf "$postgres_folder"
}

install_postgres
postgres_folder=$(mktemp -d)
chmod 755 "$postgres_folder"
[ "$(id -u)" -ne 0 ] || chown postgres "$postgres_folder"
trap stop_postgres EXIT
