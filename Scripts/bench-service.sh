#!/usr/bin/env bash
# Measures the service over HTTP with wrk: redeeming signed transactions, each a new one and durable when it is answered, reading
# users' items, cold and again and again, and the same over the door of RevenueCat's SDKs. Till runs over SQLite and over
# PostgreSQL, at ledgers of growing size. The same run measures a peer over each of the two (Benchmarks/Service/peer.py), and
# Hummingbird's bare hello, beside which the processor time of each request is stated.
#   Scripts/bench-service.sh TILL [SECONDS [SIZES [TRANSACTIONS [READERS]]]]
# BENCH_AGAINST names a second till, such as that of the commit before: both are measured in turns, in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
seconds=${2:-10}
sizes=${3:-10000 1000000 10000000}
transactions=${4:-$((8000 * (seconds > 4 ? seconds : 4)))}
# The users who are read cold, more than Till keeps in memory: the numbers of some 100,000 names, and fewer answers (`UserNumbers`).
readers=${5:-120000}
against=${BENCH_AGAINST:+$(realpath "$BENCH_AGAINST")}
connections=200
export LOAD_THREADS=2 PYTHONDONTWRITEBYTECODE=1
source Scripts/postgres.sh
source Scripts/work.sh
# fail_to_compare MESSAGE NAME
fail_to_compare() {
    [[ $2 != *-against ]] || fail "$1: the two tills cannot be compared. Name one of a later version with BENCH_AGAINST."
    fail "$1"
}
command -v wrk >/dev/null || fail "wrk is needed (apt-get install wrk)"

echo "Building the benchmarks; the first time takes about 6 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product Hello >&2
swift build --package-path Benchmarks -c release --product TransactionMint >&2
peer=$PWD/.build/peer
if ! "$peer/bin/python" -c "import appstoreserverlibrary, asyncpg, fastapi, httptools, orjson, uvicorn, uvloop" 2>/dev/null; then
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
# load WHAT NAME SIZE SECONDS ARGUMENT…: runs wrk and adds a line to the figures: requests, seconds, milliseconds at the median and
# the 99th percentile, errors of connections, errors of answers, and the milliseconds of processor time that the service, its
# database and wrk took. The hello has the name of the service beside which it is measured.
load() {
    local what=$1 name=$2 size=$3 seconds=$4 measured=$2 service_before database_before
    shift 4
    [ "$what" != hello ] || measured=Hummingbird
    service_before=$(processor "${service[$measured]}")
    database_before=$(processor "${database[$measured]:-}")
    TIMEFORMAT='%U %S'
    # wrk leaves answers slower than its timeout out of the percentiles, and the peer queues for more than the default of 2 s.
    { time wrk -t "$LOAD_THREADS" -c "$connections" -d "${seconds}s" --timeout 10s -s Scripts/load.lua \
        "${url[$measured]}/" "$@" >"$work/wrk" 2>&3; } 3>&2 2>"$work/time" || fail "wrk ends early, with $what in $name"
    echo "result $what $name $size $(awk '/^RESULT/ { print $2, $3, $4, $5, $6, $7 }' "$work/wrk")" \
        "$(($(processor "${service[$measured]}") - service_before))" \
        "$(($(processor "${database[$measured]:-}") - database_before))" \
        "$(awk '{ printf "%.0f", ($1 + $2) * 1000 }' "$work/time")" >>"$work/figures"
}

# The services that run, by the name of what they are measured as, which is the storage, with -against for the other till and -peer
# for the peer: address, API key, public key of the app, process, process of the database, and where the data are.
declare -A url key public service database address

# prepare NAME: makes an empty ledger, or the tables of the peer. Each PostgreSQL server is that of one service, and all have the
# same settings.
prepare() {
    local name=$1 data=$work/data-$1
    mkdir "$data"
    if [[ $name == PostgreSQL* ]]; then
        # A worker of the peer on each core keeps ten connections.
        make_postgres "$name" shared_buffers=1GB max_wal_size=16GB max_pred_locks_per_transaction=256 \
            max_connections=$((100 + 10 * $(nproc)))
        database[$name]=$(as_postgres head -n 1 "$postgres_folder/$name/postmaster.pid")
        address[$name]="postgres://till@/till?host=$postgres_folder&port=$(cat "$postgres_folder/$name.port")"
    elif [[ $name == *-peer ]]; then
        address[$name]=$data/purchases.sqlite
    else
        address[$name]=$data/service/ledger.sqlite
    fi
    if [[ $name == *-peer ]]; then
        [[ $name == PostgreSQL* ]] || sqlite3 "${address[$name]}" "PRAGMA journal_mode = WAL" >/dev/null
        run_sql "$name" <Benchmarks/Service/peer.sql
        key[$name]=peer
    else
        choose "$name"
        "${command[@]}" trust add "$work/root.cer" >/dev/null &&
            key[$name]=$("${command[@]}" keys make bench 2>/dev/null) &&
            public[$name]=$("${command[@]}" keys make --public --bundle-id com.memolease.sesac1 2>/dev/null) ||
            fail_to_compare "the till of $name makes no keys" "$name"
    fi
}
# choose NAME: sets `command` to the till of a name with its ledger.
choose() {
    command=(env "TILL_DATA=$work/data-$1")
    [[ $1 != PostgreSQL* ]] || command+=("TILL_LEDGER=${address[$1]}")
    if [[ $1 == *-against ]]; then command+=("$against"); else command+=("$till"); fi
}
# run_sql NAME: runs standard input in the database of a name, until the first error.
run_sql() {
    if [[ $1 == PostgreSQL* ]]; then
        as_postgres "$postgres_bin/psql" -q -A -t -F " " -v ON_ERROR_STOP=1 "${address[$1]}"
    else
        sqlite3 -bail -separator " " "${address[$1]}"
    fi
}
# seed NAME ARGUMENT…: fills the database of a name (Benchmarks/Service/seed.py). The other till's ledger may
# have other columns.
seed() {
    local name=$1 storage=sqlite columns=()
    shift
    [[ $name != PostgreSQL* ]] || storage=postgres
    [[ $name != *-peer ]] || storage+=-peer
    if [[ $name == *-against ]]; then
        columns=(--columns "$work/columns")
        case $storage in
        sqlite) run_sql "$name" <<<"SELECT m.name || '.' || p.name, p.\"notnull\" AND p.dflt_value IS NULL AND p.type = 'INTEGER'
            FROM sqlite_schema AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table'" ;;
        postgres) run_sql "$name" <<<"SELECT table_name || '.' || column_name,
                (is_nullable = 'NO' AND column_default IS NULL AND data_type IN ('integer', 'bigint'))::int
            FROM information_schema.columns WHERE table_schema = current_schema()" ;;
        esac >"$work/columns" || fail_to_compare "there is no ledger of $name" "$name"
    fi
    python3 Benchmarks/Service/seed.py "$storage" "$@" "${columns[@]}" | run_sql "$name" >/dev/null ||
        fail_to_compare "the seed does not fit the database of $name" "$name"
}
# launch NAME: starts a service once its database is on the disk, and waits until it is ready.
launch() {
    local from attempts=0
    sync
    # Another service's address is not this one's.
    : >"$work/out"
    from=$(now)
    if [[ $1 == *-peer ]]; then
        local port
        port=$(free_port)
        PEER_DATABASE=${address[$1]} PEER_ROOT=$work/root.cer PEER_KEY_DIGEST=$(printf %s peer | sha256sum | cut -d ' ' -f 1) \
            "$peer/bin/python" -m uvicorn --app-dir Benchmarks/Service peer:app --port "$port" --workers "$(nproc)" \
            --loop uvloop --http httptools --log-level warning --no-access-log >"$work/out" 2>&1 &
        service[$1]=$!
        url[$1]=http://127.0.0.1:$port
        until curl -s --max-time 1 "${url[$1]}/" >/dev/null; do
            # uvicorn starts workers again that fail at their start.
            if ! kill -0 "${service[$1]}" 2>/dev/null || [ $((attempts += 1)) -eq 200 ]; then
                cat "$work/out" >&2
                fail "the peer does not start"
            fi
            sleep 0.05
        done
        return
    fi
    # The connections of one measurement may still be closing when the next begins.
    choose "$1"
    TILL_MAXIMUM_CONNECTIONS_PER_ADDRESS=1000 "${command[@]}" serve --port 0 --log-level warning \
        --requests-per-minute 10000000 --doors revenuecat --address-requests-per-minute 10000000 >"$work/out" 2>"$work/err" &
    service[$1]=$!
    until grep -q "^Listening" "$work/out"; do
        kill -0 "${service[$1]}" 2>/dev/null || {
            cat "$work/err" >&2
            fail_to_compare "the service of $1 does not start" "$1"
        }
        sleep 0.002
    done
    url[$1]=$(awk '/^Listening/ { print $3 }' "$work/out")
    until curl -fs --max-time 1 "${url[$1]}/health/ready" >/dev/null; do
        [ $((attempts += 1)) -lt 5000 ] || fail_to_compare "the service of $1 does not get ready" "$1"
        sleep 0.002
    done
    echo "ready $1 $(milliseconds "$from")" >>"$work/figures"
    echo "idle $1 $(memory "${service[$1]}" VmRSS)" >>"$work/figures"
    # Without the pages of the program and its libraries, which the system may drop and read again.
    echo "idle, its own, $1 $(memory "${service[$1]}" RssAnon)" >>"$work/figures"
    [[ $(curl -fs -H "Authorization: Bearer ${key[$1]}" "${url[$1]}/v1/users/u0/items") == *'"number":'[1-9]* ]] ||
        fail_to_compare "the till of $1 does not answer with the seeded items of a user" "$1"
}
halt() {
    # The peer is several processes.
    [[ $1 == *-peer || $1 == Hummingbird ]] || echo "peak $1 $(memory "${service[$1]}" VmHWM)" >>"$work/figures"
    kill "${service[$1]}" 2>/dev/null || true
    wait "${service[$1]}" 2>/dev/null || true
    unset "service[$1]" "url[$1]"
}
# discard NAME: throws the database away.
discard() {
    if [ -n "${database[$1]:-}" ]; then
        unset "database[$1]"
        as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/$1" -m immediate -w stop >/dev/null
        rm -rf "${postgres_folder:?}/$1"
    fi
    rm -rf "$work/data-$1"
}

# measure WHAT SIZE NAME…: a request on the services with these names, after a short time of the hello. Two of them take turns, four
# each, so that both meet the same moods of the machine.
measure() {
    local what=$1 size=$2 names=("${@:3}") rounds=1 round name path=/v1/users/USER/items is_door= proofs=()
    export LOAD_SKIP=0 LOAD_PREFIX=r LOAD_USERS=$readers LOAD_LINES
    case $what in
    live) path=/health/live ;;
    products) path=/v1/products ;;
    items-repeated) LOAD_USERS=100 ;;
    items30-cold) LOAD_PREFIX=t ;;
    info-cold) path=/v1/subscribers/USER is_door=1 LOAD_PREFIX=c ;;
    info-repeated) path=/v1/subscribers/USER is_door=1 LOAD_PREFIX=c LOAD_USERS=100 ;;
    receipt) path=/v1/receipts is_door=1 LOAD_PREFIX=d LOAD_USERS=2000 proofs=("$work/transactions") ;;
    redeem) path=/v1/users/USER/transactions LOAD_PREFIX=u LOAD_USERS=$((size / 5)) proofs=("$work/transactions") ;;
    esac
    [[ ${names[0]} == *-peer ]] || load hello "${names[0]}" "$size" $((seconds > 8 ? seconds / 4 : 2))
    [ ${#names[@]} -eq 1 ] || rounds=4
    LOAD_LINES=$((transactions / rounds))
    for ((round = 0; round < rounds; round++)); do
        LOAD_SKIP=$((LOAD_USERS / rounds * round))
        [ ${#proofs[@]} -eq 0 ] || LOAD_SKIP=$((LOAD_LINES * round))
        [ "$what" != receipt ] || LOAD_SKIP=$((LOAD_SKIP + transactions))
        for name in "${names[@]}"; do
            local secret=${key[$name]}
            [ -z "$is_door" ] || secret=${public[$name]}
            load "$what" "$name" "$size" $((seconds / rounds > 1 ? seconds / rounds : 1)) -- "$secret" "$path" "${proofs[@]}"
        done
        [ "$rounds" -eq 1 ] || names=("${names[1]}" "${names[0]}")
    done
}
# measure_all SIZE NAME…: redeems in a ledger of this size, and then reads and uses the doors with many users besides.
measure_all() {
    local size=$1 names=("${@:2}") name what whats=(items-cold items-repeated)
    for name in "${names[@]}"; do
        prepare "$name"
        seed "$name" "$size"
        launch "$name"
    done
    measure redeem "$size" "${names[@]}"
    for name in "${names[@]}"; do
        halt "$name"
        seed "$name" readers "$readers"
        launch "$name"
    done
    [ "${names[0]}" != SQLite ] || whats=(live products "${whats[@]}" items30-cold)
    # The peer has no door.
    [[ ${names[0]} == *-peer ]] || whats+=(info-cold info-repeated receipt)
    for what in "${whats[@]}"; do measure "$what" "$size" "${names[@]}"; done
    for name in "${names[@]}"; do
        halt "$name"
        discard "$name"
    done
}

Benchmarks/.build/release/Hello >"$work/hello" &
service[Hummingbird]=$!
until grep -q : "$work/hello" 2>/dev/null; do sleep 0.01; done
read -r _ _ url[Hummingbird] <"$work/hello"
for _ in 1 2 3 4 5; do
    from=$(now)
    "$till" products >/dev/null
    echo "products till $(milliseconds "$from")" >>"$work/figures"
done

for size in $sizes; do
    for storage in SQLite PostgreSQL; do
        echo "With $size redeemed transactions, ${seconds} seconds each: $storage …" >&2
        measure_all "$size" "$storage" ${against:+"$storage-against"}
        echo "The peer over $storage …" >&2
        measure_all "$size" "$storage-peer"
    done
done
halt Hummingbird

awk -f Scripts/bench-service.awk "$work/figures" || fail "there were errors, or no answers"
