#!/usr/bin/env bash
# Measures how long a service takes to tell each figure of a year, day by day, over HTTP: in a ledger with the sums of ten million
# transactions, over SQLite and over PostgreSQL.
#   Scripts/bench-figures.sh TILL [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
rounds=${2:-15}
source Scripts/postgres.sh
source Scripts/work.sh
export TILL_DATA="$work/data"

# measure NAME SEED…: makes a ledger, has it filled, and measures a service on it.
measure() {
    local name=$1 key url
    shift
    key=$("$till" keys make bench --scope figures 2>/dev/null)
    # Makes the tables of the figures.
    "$till" figures units >/dev/null 2>&1
    echo "Filling $name with sums …" >&2
    "$@" >/dev/null
    coproc server {
        exec "$till" serve --port 0 --figures --log-level warning --requests-per-minute 10000000 2>"$work/log"
    }
    process=$server_PID
    read -r _ _ url <&"${server[0]}" || fail "the service did not start: $(cat "$work/log")"
    python3 Benchmarks/Figures/measure.py "$url" "$key" "$name" "$rounds"
    kill "$process"
    wait "$process" || true
}

measure SQLite python3 Benchmarks/Figures/seed.py sqlite "$TILL_DATA/service/ledger.sqlite"
make_postgres ledger fsync=off
port=$(cat "$postgres_folder/ledger.port")
export TILL_LEDGER="postgres://till@127.0.0.1:$port/till"
fill_postgres() {
    python3 Benchmarks/Figures/seed.py postgres | psql -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U till till
}
measure PostgreSQL fill_postgres
