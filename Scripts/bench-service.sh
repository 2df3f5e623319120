#!/usr/bin/env bash
# Measures the service over HTTP with wrk: redeeming signed transactions, each a new one and durable when it is answered, and
# reading users' items, and the same over the door of RevenueCat's SDKs. Till runs over SQLite and over PostgreSQL, at ledgers of growing size. The same run measures a peer over
# each of the two (Benchmarks/Service/peer.py), and Hummingbird's bare hello.
#   Scripts/bench-service.sh TILL [SECONDS [SIZES [TRANSACTIONS]]]
# BENCH_AGAINST names a second till, such as that of the commit before: both are measured in turns, in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
seconds=${2:-20}
sizes=${3:-10000 1000000 10000000}
transactions=${4:-100000}
against=${BENCH_AGAINST:+$(realpath "$BENCH_AGAINST")}
connections=200
LOAD_THREADS=2
export LOAD_THREADS
source Scripts/postgres.sh
work=$(mktemp -d)
finish() {
    [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true
    stop_postgres
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "bench-service: $1" >&2
    exit 1
}
command -v wrk >/dev/null || fail "wrk is needed (apt-get install wrk)"

echo "Building the benchmarks; the first time takes about 6 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product Hello >&2
swift build --package-path Benchmarks -c release --product TransactionMint >&2
peer=$PWD/.build/peer
if ! "$peer/bin/python" -c "import appstoreserverlibrary, asyncpg, fastapi, uvicorn, uvloop, httptools" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$peer"; } ||
        fail "Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`."
    "$peer/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r Scripts/requirements/bench-service.txt
fi
echo "Making $((2 * transactions)) signed transactions …" >&2
Benchmarks/.build/release/TransactionMint "$((2 * transactions))" "$work"

now() { date +%s%N; }
milliseconds() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.0f", (to - from) / 1e6 }'; }
# memory PID FIELD: in MB.
memory() { awk -v field="$2:" '$1 == field { printf "%.0f", $2 / 1024 }' "/proc/$1/status"; }
# processor [PID]: the processor time of a process and its children until now, in milliseconds; 0 without a process.
processor() {
    [ -n "${1:-}" ] || { echo 0; return; }
    local each children=
    for each in $(pgrep -P "$1"); do children+=" /proc/$each/stat"; done
    # The second field is the program's name in brackets, which may have spaces.
    cat "/proc/$1/stat" $children 2>/dev/null | sed 's/.*) //' |
        awk -v hertz="$(getconf CLK_TCK)" '{ sum += $12 + $13 + $14 + $15 } END { printf "%.0f", sum / hertz * 1000 }'
}
# load NAME SECONDS ARGUMENT…: runs wrk and prints requests, seconds, milliseconds at the median and the 99th percentile, errors
# of connections, errors of answers, and the milliseconds of processor time that the service, its database and wrk took.
load() {
    local name=$1 seconds=$2 service_before database_before
    shift 2
    service_before=$(processor "${service[$name]:-}")
    database_before=$(processor "${database[$name]:-}")
    TIMEFORMAT='%U %S'
    # wrk leaves answers slower than its timeout out of the percentiles, and the peer queues for more than the default of 2 s.
    { time wrk -t "$LOAD_THREADS" -c "$connections" -d "${seconds}s" --timeout 10s -s Scripts/load.lua "$@" \
        >"$work/wrk" 2>&3; } 3>&2 2>"$work/time"
    awk '/^RESULT/ { printf "%s %s %s %s %s %s ", $2, $3, $4, $5, $6, $7 }' "$work/wrk"
    echo "$(($(processor "${service[$name]:-}") - service_before))" \
        "$(($(processor "${database[$name]:-}") - database_before))" \
        "$(awk '{ printf "%.0f", ($1 + $2) * 1000 }' "$work/time")"
}

# The services that run, by the name of what they are measured as: address, API key, public key of the app, process, process of the database.
declare -A url key public service database
# serve TILL NAME: starts a service once the seeded ledger is on the disk, and waits until it is ready.
serve() {
    local from
    sync
    from=$(now)
    # The connections of one measurement may still be closing when the next begins.
    TILL_MAXIMUM_CONNECTIONS_PER_ADDRESS=1000 "$1" serve --port 0 --log-level warning --requests-per-minute 10000000 \
        --doors revenuecat --address-requests-per-minute 10000000 \
        >"$work/out" 2>"$work/err" &
    service[$2]=$!
    until grep -q "^Listening" "$work/out"; do
        kill -0 "${service[$2]}" 2>/dev/null || { cat "$work/err" >&2; fail "the service does not start"; }
        sleep 0.002
    done
    url[$2]=$(awk '/^Listening/ { print $3 }' "$work/out")
    until curl -fs "${url[$2]}/health/ready" >/dev/null; do sleep 0.002; done
    echo "ready $2 $(milliseconds "$from")" >>"$work/figures"
    echo "idle $2 $(memory "${service[$2]}" VmRSS)" >>"$work/figures"
    # Without the pages of the program and its libraries, which the system may drop and read again.
    echo "idle, its own, $2 $(memory "${service[$2]}" RssAnon)" >>"$work/figures"
}
stop() {
    kill "${service[$1]}" 2>/dev/null || true
    wait "${service[$1]}" 2>/dev/null || true
    unset "service[$1]" "url[$1]"
}
# measure SIZE NAME…: each request on the services with these names. Two of them take turns, four each, so that both meet the
# same moods of the machine.
measure() {
    local size=$1 rounds=1 round name what
    local names=("${@:2}")
    [ ${#names[@]} -eq 1 ] || rounds=4
    local whats=(redeem items)
    # The peer has no door.
    [[ ${names[0]} == *-peer ]] || whats+=(receipt info)
    for what in "${whats[@]}"; do
        for ((round = 0; round < rounds; round++)); do
            export LOAD_SKIP=$((transactions / rounds * round)) LOAD_DOOR=
            [[ $what != receipt && $what != info ]] || LOAD_DOOR=1
            [ "$what" != receipt ] || LOAD_SKIP=$((LOAD_SKIP + transactions))
            for name in "${names[@]}"; do
                local input=() secret=${key[$name]}
                [ -z "$LOAD_DOOR" ] || secret=${public[$name]}
                [[ $what == items || $what == info ]] || input=("$work/transactions")
                echo "result $what $name $size $(load "$name" $((seconds / rounds > 1 ? seconds / rounds : 1)) \
                    "${url[$name]}/" -- "$secret" "${input[@]}")" >>"$work/figures"
            done
            [ "$rounds" -eq 1 ] || names=("${names[1]}" "${names[0]}")
        done
    done
}

# start_database NAME: starts a PostgreSQL server for one service, and sets `address`. Tills and the peer get the same settings.
start_database() {
    # A worker of the peer on each core keeps ten connections.
    make_postgres "$1" shared_buffers=1GB max_wal_size=16GB max_pred_locks_per_transaction=256 \
        max_connections=$((100 + 10 * $(nproc)))
    database[$1]=$(as_postgres head -n 1 "$postgres_folder/$1/postmaster.pid")
    address="postgres://till@/till?host=$postgres_folder&port=$(cat "$postgres_folder/$1.port")"
}
# run_sql ADDRESS: runs standard input in a PostgreSQL database, until the first error.
run_sql() {
    as_postgres "$postgres_bin/psql" -q -v ON_ERROR_STOP=1 "$1" >/dev/null
}
# make_keys TILL NAME
make_keys() {
    key[$2]=$("$1" keys make bench 2>/dev/null)
    public[$2]=$("$1" keys make --public --app com.memolease.sesac1 2>/dev/null)
}
# start_sqlite TILL NAME SIZE, start_postgres_service TILL NAME SIZE: start a till over a seeded ledger of its own.
start_sqlite() {
    export TILL_DATA="$work/data-$2"
    "$1" trust add "$work/root.cer" >/dev/null
    make_keys "$1" "$2"
    python3 Benchmarks/Service/seed.py sqlite "$3" | sqlite3 "$TILL_DATA/service/ledger.sqlite" >/dev/null
    serve "$1" "$2"
}
start_postgres_service() {
    start_database "$2"
    export TILL_DATA="$work/data-$2"
    "$1" trust add "$work/root.cer" >/dev/null
    export TILL_LEDGER=$address
    make_keys "$1" "$2"
    python3 Benchmarks/Service/seed.py postgres "$3" | run_sql "$address"
    serve "$1" "$2"
    unset TILL_LEDGER
}
# start_peer NAME DATABASE: starts a worker of the peer on each core, and waits until it answers.
start_peer() {
    local port attempts=0
    port=$(free_port)
    sync
    PEER_DATABASE=$2 PEER_ROOT=$work/root.cer PEER_KEY_DIGEST=$(printf %s peer | sha256sum | cut -d ' ' -f 1) \
        "$peer/bin/python" -m uvicorn --app-dir Benchmarks/Service peer:app --port "$port" --workers "$(nproc)" \
        --log-level warning --no-access-log >"$work/out" 2>&1 &
    service[$1]=$!
    url[$1]=http://127.0.0.1:$port key[$1]=peer
    until curl -s --max-time 1 "${url[$1]}/" >/dev/null; do
        # uvicorn starts workers again that fail at their start.
        if ! kill -0 "${service[$1]}" 2>/dev/null || [ $((attempts += 1)) -eq 200 ]; then
            cat "$work/out" >&2
            fail "the peer does not start"
        fi
        sleep 0.05
    done
}
# start_sqlite_peer NAME SIZE, start_postgres_peer NAME SIZE: start the peer over seeded purchases of its own.
start_sqlite_peer() {
    local file=$work/data-$1/purchases.sqlite
    mkdir "$work/data-$1"
    sqlite3 -cmd "PRAGMA journal_mode = WAL" "$file" <Benchmarks/Service/peer.sql >/dev/null
    python3 Benchmarks/Service/seed.py sqlite-peer "$2" | sqlite3 "$file" >/dev/null
    start_peer "$1" "$file"
}
start_postgres_peer() {
    start_database "$1"
    run_sql "$address" <Benchmarks/Service/peer.sql
    python3 Benchmarks/Service/seed.py postgres-peer "$2" | run_sql "$address"
    start_peer "$1" "$address"
}
# finish_service NAME: stops the service and throws its ledger away.
finish_service() {
    # The peer is several processes.
    [[ $1 == *-peer ]] || echo "peak $1 $(memory "${service[$1]}" VmHWM)" >>"$work/figures"
    stop "$1"
    if [ -n "${database[$1]:-}" ]; then
        unset "database[$1]"
        as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/$1" -m immediate -w stop >/dev/null
        rm -rf "${postgres_folder:?}/$1"
    fi
    rm -rf "$work/data-$1"
}

Benchmarks/.build/release/Hello >"$work/hello" &
until grep -q : "$work/hello" 2>/dev/null; do sleep 0.01; done
read -r _ _ hello_url <"$work/hello"
service[Hummingbird]=$!
echo "result hello Hummingbird 0 $(load Hummingbird "$seconds" "$hello_url/")" >>"$work/figures"
stop Hummingbird
for _ in 1 2 3 4 5; do
    from=$(now)
    "$till" products >/dev/null
    echo "products till $(milliseconds "$from")" >>"$work/figures"
done

for size in $sizes; do
    # As many users as seed.py makes.
    export LOAD_USERS=$((size / 5))
    echo "With $size redeemed transactions, ${seconds} seconds each: SQLite …" >&2
    start_sqlite "$till" SQLite "$size"
    [ -z "$against" ] || start_sqlite "$against" SQLite-against "$size"
    measure "$size" SQLite ${against:+SQLite-against}
    for name in SQLite ${against:+SQLite-against}; do finish_service "$name"; done
    echo "The peer over SQLite …" >&2
    start_sqlite_peer SQLite-peer "$size"
    measure "$size" SQLite-peer
    finish_service SQLite-peer
    echo "PostgreSQL …" >&2
    start_postgres_service "$till" PostgreSQL "$size"
    [ -z "$against" ] || start_postgres_service "$against" PostgreSQL-against "$size"
    measure "$size" PostgreSQL ${against:+PostgreSQL-against}
    for name in PostgreSQL ${against:+PostgreSQL-against}; do finish_service "$name"; done
    echo "The peer over PostgreSQL …" >&2
    start_postgres_peer PostgreSQL-peer "$size"
    measure "$size" PostgreSQL-peer
    finish_service PostgreSQL-peer
done

awk -f Scripts/bench-service.awk "$work/figures" || fail "there were errors, or no answers"
