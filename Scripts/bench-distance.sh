#!/usr/bin/env bash
# Measures redemptions and reads of users' items over a PostgreSQL server at a distance: each byte between the service and the
# server takes half a round trip (Benchmarks/Service/distance.py). It prints rates, the 99th percentile, the round trips of a group
# of redemptions, and each rate beside that without a distance, of the same run.
#   Scripts/bench-distance.sh TILL [SECONDS [MILLISECONDS …]]
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
seconds=${2:-8}
shift $(($# > 1 ? 2 : 1))
distances=("$@")
[ ${#distances[@]} -gt 0 ] || distances=(0 1 5)
connections=200
transactions=$((8000 * seconds))
export LOAD_THREADS=2 LOAD_PREFIX=u LOAD_USERS=$((transactions / 2)) LOAD_LINES=$transactions LOAD_SKIP=0 PYTHONDONTWRITEBYTECODE=1
source Scripts/postgres.sh
source Scripts/work.sh
command -v wrk >/dev/null || fail "wrk is needed (apt-get install wrk)"

swift build --package-path Benchmarks -c release --product TransactionMint >&2
echo "Making $transactions signed transactions …" >&2
Benchmarks/.build/release/TransactionMint "$transactions" "$work"

# launch: starts the service, and sets `service` and `url`.
launch() {
    TILL_MAXIMUM_CONNECTIONS_PER_ADDRESS=1000 "$till" serve --port 0 --log-level warning --requests-per-minute 10000000 \
        --address-requests-per-minute 10000000 >"$work/out" 2>"$work/err" &
    service=$!
    until grep -q "^Listening" "$work/out"; do
        kill -0 "$service" 2>/dev/null || { cat "$work/err" >&2; fail "the service does not start"; }
        sleep 0.05
    done
    url=$(awk '/^Listening/ { print $3 }' "$work/out")
    until curl -fs --max-time 1 "$url/health/ready" >/dev/null; do sleep 0.05; done
}
# sent: the round trips and the commits so far.
sent() {
    local lines
    lines=$(wc -l <"$told")
    kill -USR1 "$distance"
    until [ "$(wc -l <"$told")" -gt "$lines" ]; do sleep 0.02; done
    tail -n 1 "$told"
}
# load WHAT MILLISECONDS ARGUMENT…: runs wrk and adds a line to the figures.
load() {
    local what=$1 milliseconds=$2 before after
    shift 2
    before=$(sent)
    wrk -t "$LOAD_THREADS" -c "$connections" -d "${seconds}s" --timeout 10s -s Scripts/load.lua "$url/" "$@" >"$work/wrk" 2>&1 ||
        { cat "$work/wrk" >&2; fail "wrk ends early"; }
    after=$(sent)
    echo "$what $milliseconds $(awk '/^RESULT/ { print $2, $3, $5, $6 + $7 }' "$work/wrk") $before $after" >>"$work/figures"
}

for milliseconds in "${distances[@]}"; do
    echo "With $milliseconds ms to the database, $seconds seconds each …" >&2
    name=at-$milliseconds
    make_postgres "$name" shared_buffers=1GB max_wal_size=16GB max_pred_locks_per_transaction=256
    told=$work/$name
    python3 Benchmarks/Service/distance.py "$(cat "$postgres_folder/$name.port")" "$milliseconds" >"$told" &
    distance=$!
    until [ -s "$told" ]; do sleep 0.05; done
    export TILL_DATA=$work/data-$name
    TILL_LEDGER="postgres://till@127.0.0.1:$(head -n 1 "$told")/till?sslmode=disable"
    export TILL_LEDGER
    "$till" trust add "$work/root.cer" >/dev/null
    key=$("$till" keys make bench 2>/dev/null)
    launch
    load redeem "$milliseconds" -- "$key" /v1/users/USER/transactions "$work/transactions"
    kill "$service" && wait "$service" || true
    # Without what the service has kept.
    launch
    load items "$milliseconds" -- "$key" /v1/users/USER/items
    kill "$service" && wait "$service" || true
    kill "$distance" && wait "$distance" 2>/dev/null || true
done

# A user whom nobody has redeemed for is read all the same.
awk '
    $1 == "redeem" && !($6 == 0) || $1 == "items" && !($6 == 0) { failed = 1 }
    {
        rate = $3 / $4
        if (!($1 in first)) first[$1] = rate
        trips = $1 == "redeem" ? ($9 - $7) / ($10 - $8) " a group of " int($3 / ($10 - $8) + 0.5) : ($9 - $7) / $3 " a read"
        printf "%-7s %2s ms: %6.0f a second (%3.0f %%), p99 %7.1f ms, round trips: %s\n", $1, $2, rate, 100 * rate / first[$1], $5, trips
    }
    END { exit failed }' "$work/figures" || fail "there were errors"
