#!/usr/bin/env bash
# Measures each page of the console over HTTP: in a ledger with more than a million transactions, over SQLite and over PostgreSQL,
# with a local App Store after a year of sales. Fails if a page takes longer than its limit.
#   Scripts/bench-console.sh TILL [ROUNDS [TRANSACTIONS]]
# BENCH_LEDGERS names only some of the ledgers; BENCH_PAGES measures only the pages whose names contain it.
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
rounds=${2:-100}
transactions=${3:-1000000}
# The number of local/Production (Origin.number).
origin=3
last=$(($(date +%s) * 1000))
first=$((last - 365 * 86400000))
source Scripts/postgres.sh
source Scripts/work.sh
export PYTHONDONTWRITEBYTECODE=1

# A demonstration leaves its store when it is killed, and deletes it at any other end.
make_store() {
    local log=$work/demo attempts=0
    TMPDIR=$work "$till" demo --json --port 0 >"$log" 2>"$log.errors" &
    process=$!
    until grep -q '^}' "$log"; do
        kill -0 "$process" 2>/dev/null && [ $((attempts += 1)) -lt 1200 ] || fail "the demonstration did not start: $(cat "$log.errors")"
        sleep 0.1
    done
    kill -KILL "$process"
    wait "$process" 2>/dev/null || true
    TILL_DATA=$(member data "$log") TILL_CATALOG=$(member catalog "$log")
    export TILL_DATA TILL_CATALOG
    claim=$(sqlite3 "$TILL_DATA/service/ledger.sqlite" "SELECT claim FROM parked_transaction WHERE claim IS NOT NULL LIMIT 1")
    rm "$TILL_DATA"/service/ledger*
}
# member NAME FILE: a member of a JSON object.
member() { python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$@"; }

# start: starts the service with all of the console's pages, and sets its address.
start() {
    coproc server {
        exec "$till" serve --port 0 --store --console --figures --webhooks --webhook-private-addresses --profiles \
            --catalog-administration --keep-proofs --log-level warning --requests-per-minute 10000000 2>"$work/log"
    }
    process=$server_PID
    # The first line names the service, a later one the store.
    until read -r line <&"${server[0]}" || fail "the service did not start: $(cat "$work/log")"; [[ $line == Listening* ]]; do :; done
    read -r _ _ url <<<"$line"
}
stop() {
    kill "$process"
    wait "$process" || true
}

# measure NAME DATABASE_PROCESS COMMAND…: fills a ledger by a command that runs SQL, and measures the service on it.
measure() {
    local name=$1 database=$2 seed=Benchmarks/Service/seed.py storage link
    shift 2
    # Makes the tables.
    start
    stop
    echo "Filling $name with $transactions transactions …" >&2
    storage=${name,,}
    storage=${storage/postgresql/postgres}
    python3 "$seed" "$storage" "$transactions" "$origin" "$first" "$last" | "$@" >/dev/null
    python3 Benchmarks/Console/seed.py "$storage" "$transactions" "$origin" "$first" "$last" "$claim" | "$@" >/dev/null
    if [ "$storage" = sqlite ]; then
        python3 Benchmarks/Figures/seed.py sqlite "$TILL_DATA/service/ledger.sqlite" >/dev/null
    else
        python3 Benchmarks/Figures/seed.py postgres | "$@" >/dev/null
    fi
    start
    link=$("$till" console add-user Bench --role admin --url "$url" --json >"$work/link" && member link "$work/link")
    python3 Benchmarks/Console/measure.py "$name" "$link" "$rounds" "$transactions" "$process" $database || status=1
    [ -z "${BENCH_HOLD:-}" ] || { echo "The service is $url, and its data $TILL_DATA ${TILL_LEDGER:-}" >&2; read -r _; }
    stop
}

status=0
make_store
if [[ ${BENCH_LEDGERS:-SQLite} == *SQLite* ]]; then
    measure SQLite "" sqlite3 "$TILL_DATA/service/ledger.sqlite"
fi
if [[ ${BENCH_LEDGERS:-PostgreSQL} == *PostgreSQL* ]]; then
    make_postgres ledger max_wal_size=16GB
    port=$(cat "$postgres_folder/ledger.port")
    export TILL_LEDGER="postgres://till@127.0.0.1:$port/till"
    measure PostgreSQL "$(as_postgres head -n 1 "$postgres_folder/ledger/postmaster.pid")" \
        psql -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U till till
fi
exit "$status"
