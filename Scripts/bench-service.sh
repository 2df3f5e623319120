#!/usr/bin/env bash
# Measures the service over HTTP with wrk: redeeming signed transactions, each a new one and durable when it is answered, and
# reading users' items; in SQLite and in PostgreSQL, beside Hummingbird's bare hello and beside what a team would write instead
# (Benchmarks/Service/peer.py), in the same run, at ledgers of growing size.
#   Scripts/bench-service.sh TILL [SECONDS [SIZES [TRANSACTIONS]]]
# BENCH_AGAINST names a second till to compare with in the same run, such as that of the commit before.
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
service=
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

echo "Building the benchmarks; the first time takes 5 to 15 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product Hello >&2
swift build --package-path Benchmarks -c release --product TransactionMint >&2
peer=$PWD/.build/peer
if ! "$peer/bin/python" -c "import appstoreserverlibrary, fastapi, uvicorn, uvloop, httptools" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$peer"; } ||
        fail "Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`."
    "$peer/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r Scripts/requirements/bench-service.txt
fi
echo "Making $transactions signed transactions …" >&2
Benchmarks/.build/release/TransactionMint "$transactions" "$work"

now() { date +%s%N; }
milliseconds() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.0f", (to - from) / 1e6 }'; }
# memory PID FIELD: in MB.
memory() { awk -v field="$2:" '$1 == field { printf "%.0f", $2 / 1024 }' "/proc/$1/status"; }
# Prints what load.lua makes of a run: requests a second, milliseconds at the median and the 99th percentile, errors of
# connections, errors of answers.
load() { wrk -t "$LOAD_THREADS" -c "$connections" -d "${seconds}s" -s Scripts/load.lua "$@" | awk '/^RESULT/ { print $2, $3, $4, $5, $6 }'; }

# serve TILL NAME: starts a service once the seeded ledger is on the disk, and waits until it is ready; sets `url` and `service`.
serve() {
    local from till=$1
    shift
    sync
    from=$(now)
    # The connections of one measurement may still be closing when the next begins.
    TILL_MAXIMUM_CONNECTIONS_PER_ADDRESS=1000 "$till" serve --port 0 --log-level warning --requests-per-minute 10000000 \
        >"$work/out" 2>"$work/err" &
    service=$!
    until grep -q "^Listening" "$work/out"; do
        kill -0 "$service" 2>/dev/null || { cat "$work/err" >&2; fail "the service does not start"; }
        sleep 0.002
    done
    url=$(awk '/^Listening/ { print $3 }' "$work/out")
    until curl -fs "$url/health/ready" >/dev/null; do sleep 0.002; done
    echo "ready $1 $(milliseconds "$from")" >>"$work/figures"
    echo "idle $1 $(memory "$service" VmRSS)" >>"$work/figures"
    # Without the pages of the program and its libraries, which the system may drop and read again.
    echo "idle, its own, $1 $(memory "$service" RssAnon)" >>"$work/figures"
}
stop() {
    kill "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
}
# measure NAME SIZE KEY: both requests on the service at `url`.
measure() {
    echo "result redeem $1 $2 $(load "$url/" -- "$3" "$work/transactions")" >>"$work/figures"
    echo "result items $1 $2 $(load "$url/" -- "$3")" >>"$work/figures"
}

# in_sqlite TILL NAME SIZE, in_postgres TILL NAME SIZE: measures a till over a seeded ledger of its own.
in_sqlite() {
    export TILL_DATA="$work/data-$2-$3"
    "$1" trust add "$work/root.cer" >/dev/null
    key=$("$1" keys make bench 2>/dev/null)
    python3 Benchmarks/Service/seed.py sqlite "$3" | sqlite3 "$TILL_DATA/service/ledger.sqlite" >/dev/null
    serve "$1" "$2"
    measure "$2" "$3" "$key"
    echo "peak $2 $(memory "$service" VmHWM)" >>"$work/figures"
    stop
    rm -f "$TILL_DATA"/service/ledger.sqlite*
}
in_postgres() {
    local server="server-$2-$3"
    make_postgres "$server" shared_buffers=1GB max_wal_size=16GB max_pred_locks_per_transaction=256
    export TILL_DATA="$work/data-$2-$3"
    "$1" trust add "$work/root.cer" >/dev/null
    export TILL_LEDGER="postgres://till@/till?host=$postgres_folder&port=$(cat "$postgres_folder/$server.port")"
    key=$("$1" keys make bench 2>/dev/null)
    python3 Benchmarks/Service/seed.py postgres "$3" | as_postgres "$postgres_bin/psql" -q "$TILL_LEDGER" >/dev/null
    serve "$1" "$2"
    measure "$2" "$3" "$key"
    echo "peak $2 $(memory "$service" VmHWM)" >>"$work/figures"
    stop
    unset TILL_LEDGER
    as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/$server" -m immediate -w stop >/dev/null
    rm -rf "${postgres_folder:?}/$server"
}

Benchmarks/.build/release/Hello >"$work/hello" &
until grep -q : "$work/hello" 2>/dev/null; do sleep 0.01; done
read -r _ _ hello_url <"$work/hello"
echo "result hello Hummingbird 0 $(load "$hello_url/")" >>"$work/figures"
kill %%
for _ in 1 2 3 4 5; do
    from=$(now)
    "$till" products >/dev/null
    echo "products till $(milliseconds "$from")" >>"$work/figures"
done

for size in $sizes; do
    # As many users as seed.py makes.
    export LOAD_USERS=$((size / 5))
    echo "With $size redeemed transactions, ${seconds} seconds each: SQLite …" >&2
    in_sqlite "$till" "SQLite" "$size"
    [ -z "$against" ] || in_sqlite "$against" "SQLite-against" "$size"
    echo "PostgreSQL …" >&2
    in_postgres "$till" "PostgreSQL" "$size"
    [ -z "$against" ] || in_postgres "$against" "PostgreSQL-against" "$size"

    echo "The peer …" >&2
    export PEER_DATABASE="$work/peer.sqlite" PEER_ROOT="$work/root.cer"
    PEER_KEY_DIGEST=$(printf %s peer | sha256sum | cut -d ' ' -f 1)
    export PEER_KEY_DIGEST
    sqlite3 "$PEER_DATABASE" <Benchmarks/Service/peer.sql >/dev/null
    python3 Benchmarks/Service/seed.py peer "$size" | sqlite3 "$PEER_DATABASE" >/dev/null
    port=$(free_port)
    (cd Benchmarks/Service && exec "$peer/bin/python" -m uvicorn peer:app --port "$port" --workers "$(nproc)" \
        --log-level warning --no-access-log) >"$work/out" 2>&1 &
    service=$!
    url=http://127.0.0.1:$port
    until curl -s "$url/" >/dev/null; do
        kill -0 "$service" 2>/dev/null || { cat "$work/out" >&2; fail "the peer does not start"; }
        sleep 0.05
    done
    measure "peer" "$size" peer
    stop
    rm -f "$PEER_DATABASE"*
done

awk '
$1 == "result" { key = $2 " " $3 " " $4; order[++count] = key; rate[key] = $5; median[key] = $6; high[key] = $7; errors[key] = $8 + $9
    if ($2 == "hello") hello = $5
    if ($3 == "SQLite" && !least[$2]) least[$2] = $4 }
$1 ~ /^(ready|idle,?|peak|products)$/ {
    figure = $NF; name = $0; sub(/ [0-9]+$/, "", name)
    if (!(name in worst)) named[++names] = name
    if (best[name] == "" || figure < best[name]) best[name] = figure
    if (figure > worst[name]) worst[name] = figure }
END {
    printf "%-8s %-18s %10s %10s %10s %10s %8s   %s\n", "what", "in", "size", "a second", "p50", "p99", "errors", "ratios"
    for (i = 1; i <= count; i++) {
        key = order[i]; split(key, part, " "); ratios = ""
        if (part[1] == "items") ratios = sprintf("%.0f %% of hello", 100 * rate[key] / hello)
        peer = part[1] " peer " part[3]
        if (part[2] != "peer" && rate[peer]) ratios = ratios sprintf("%s%.1f times the peer", ratios ? ", " : "", rate[key] / rate[peer])
        first = part[1] " " part[2] " " least[part[1]]
        if (part[2] != "peer" && part[3] != least[part[1]] && high[first]) ratios = ratios sprintf(", p99 %.2f of that at %d", high[key] / high[first], least[part[1]])
        other = part[1] " " part[2] "-against " part[3]
        if (rate[other]) ratios = ratios sprintf("%s%.2f of the other till", ratios ? ", " : "", rate[key] / rate[other])
        printf "%-8s %-18s %10d %10d %7.1f ms %7.1f ms %8d   %s\n", part[1], part[2], part[3], rate[key], median[key], high[key], errors[key], ratios
        if (!rate[key] || (part[2] != "peer" && errors[key])) failed = 1
    }
    for (i = 1; i <= names; i++) {
        printf "%s: %d to %d %s\n", named[i], best[named[i]], worst[named[i]], named[i] ~ /^(idle|peak)/ ? "MB" : "ms"
    }
    exit failed
}' "$work/figures" || fail "there were errors, or no answers"
