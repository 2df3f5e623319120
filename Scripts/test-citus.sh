#!/usr/bin/env bash
# Tests a ledger that Citus distributes: the tests of the ledger, a story over HTTP, and a load whose workers are killed with
# SIGKILL. Then it compares one PostgreSQL with a coordinator and one or two workers, all on this machine.
#   Scripts/test-citus.sh TILL [SECONDS]
# It needs the extension citus for the PostgreSQL of this machine. TILL_CITUS=postgres://… names a coordinator instead, whose database
# is empty: the story alone is played there. Without either, nothing is tested.
set -euo pipefail
cd "$(dirname "$0")/.."
till=$(realpath "$1")
seconds=${2:-10}
if [ -z "${TILL_CITUS:-}" ]; then
    controls=$(ls /usr/share/postgresql/*/extension/citus.control "$(pg_config --sharedir 2>/dev/null)/extension/citus.control" \
        2>/dev/null || true)
    if [ -z "$controls" ]; then
        echo "Skipped: PostgreSQL has no extension citus here. Install it (https://github.com/citusdata/citus), or name a" \
            "coordinator in TILL_CITUS."
        exit 0
    fi
fi
source Scripts/postgres.sh
source Scripts/work.sh
say() { printf '\n== %s\n' "$1"; }

# start_node NAME [SETTING…]: a node of Citus. The nodes connect to each other as the system's user, whose certificates are not theirs.
start_node() {
    local name=$1
    shift
    make_postgres "$name" shared_preload_libraries=citus citus.node_conninfo=sslmode=disable max_connections=400 \
        max_prepared_transactions=400 max_pred_locks_per_transaction=256 "$@"
    query "$name" "CREATE EXTENSION citus"
}
# query NODE SQL
query() {
    as_postgres "$postgres_bin/psql" -h 127.0.0.1 -p "$(port "$1")" -U till -d till -v ON_ERROR_STOP=1 -Atqc "$2" >/dev/null
}
port() { cat "$postgres_folder/$1.port"; }
address() { echo "postgres://till@127.0.0.1:$(port "$1")/till"; }
# start_cluster NAME WORKERS [SHARDS]: a coordinator NAME with workers NAME-1, NAME-2 …
start_cluster() {
    local number setting
    start_node "$1" citus.shard_count="${3:-8}"
    query "$1" "SELECT citus_set_coordinator_host('127.0.0.1', $(port "$1"))"
    for ((number = 1; number <= $2; number++)); do
        start_node "$1-$number"
        query "$1" "SELECT citus_add_node('127.0.0.1', $(port "$1-$number"))"
    done
    # Citus passes the settings of a role to the workers (Documentation/DistributedPostgreSQL.md, "Settings").
    for setting in "enable_seqscan = off" "jit = off" "max_parallel_workers_per_gather = 0"; do
        query "$1" "ALTER ROLE till IN DATABASE till SET $setting"
    done
}
# kill_node NAME: SIGKILL to a server and its processes, as in a power cut. A stopped server starts no further ones.
kill_node() {
    local first each processes
    first=$(as_postgres head -n 1 "$postgres_folder/$1/postmaster.pid")
    kill -STOP "$first"
    processes="$first $(ps -o pid= --ppid "$first")"
    kill -KILL $processes
    for each in $processes; do
        # A killed process may stay a zombie. Then its PID files would keep its successor from starting.
        while grep -q '^State:.[^Z]' "/proc/$each/status" 2>/dev/null; do sleep 0.05; done
    done
    rm "$postgres_folder/$1/postmaster.pid" "$postgres_folder/.s.PGSQL.$(port "$1").lock"
}
# restart_node NAME: starts a killed server on its port, with its settings.
restart_node() {
    local options
    options=$(as_postgres sed -n '1s/^[^ ]* "-D" "[^"]*" //p' "$postgres_folder/$1/postmaster.opts" | tr -d '"')
    as_postgres "$postgres_bin/pg_ctl" -D "$postgres_folder/$1" -l "$postgres_folder/$1.log" -w -t 60 -o "$options" start \
        >/dev/null || fail "$1 does not start again: $(tail -n 5 "$postgres_folder/$1.log")"
}
# stop_nodes NAME: stops a cluster, or a PostgreSQL server, and throws it away.
stop_nodes() {
    local folder
    for folder in "$postgres_folder/$1"{,-[0-9]*}/; do
        [ -f "$folder/postmaster.pid" ] || continue
        as_postgres "$postgres_bin/pg_ctl" -D "$folder" -m immediate -w stop >/dev/null
        rm -rf "$folder"
    done
}

# serve OPTION…: starts a service over $TILL_LEDGER, and sets `service` and `url`.
serve() {
    : >"$work/out"
    TILL_MAXIMUM_CONNECTIONS_PER_ADDRESS=1000 "$till" serve --port 0 --log-level error --requests-per-minute 10000000 \
        --user-requests-per-minute 10000000 --address-requests-per-minute 10000000 "$@" >"$work/out" 2>"$work/err" &
    service=$!
    until grep -q "^Listening" "$work/out"; do
        kill -0 "$service" 2>/dev/null || fail "the service does not start: $(cat "$work/err")"
        sleep 0.05
    done
    url=$(awk '/^Listening/ { print $3 }' "$work/out")
}
stop_service() {
    kill "$service"
    wait "$service" || fail "the service did not end as it should: $(cat "$work/err")"
}
# send METHOD PATH STATUS [BODY]: a request whose answer has the status; the answer is in the file `answer`.
send() {
    local status
    status=$(curl --silent --output "$work/answer" --write-out '%{http_code}' --request "$1" "$url$2" \
        --header "Authorization: Bearer $key" --header 'Content-Type: application/json' ${4:+--data "$4"})
    [ "$status" -eq "$3" ] || fail "$1 $2 was answered $status, not $3: $(cat "$work/answer")"
}
# transaction NUMBER: a signed transaction of the file.
transaction() { sed -n "$1p" "$work/transactions"; }
redeem() { send POST "/v1/users/$1/transactions" "$3" "{\"signedTransaction\":\"$(transaction "$2")\"}"; }
# owns USER COUNT: the user owns so many purchased items.
owns() {
    local count
    send GET "/v1/users/$1/items" 200
    count=$(grep -o '"source":"purchase"' "$work/answer" | wc -l)
    [ "$count" -eq "$2" ] || fail "$1 owns $count purchased items, not $2: $(cat "$work/answer")"
}
# receive_webhooks: starts a receiver, which writes each message to the file `received`, and sets `receiver`.
receive_webhooks() {
    : >"$work/received"
    : >"$work/receiver"
    python3 - "$work/received" >"$work/receiver" <<'END' &
import http.server, sys

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1], "ab") as file:
            file.write(message + b"\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
END
    until [ -s "$work/receiver" ]; do sleep 0.05; done
    receiver="http://127.0.0.1:$(cat "$work/receiver")/"
}
# received WORD: a message with the word arrives within ten seconds.
received() {
    local attempt
    for attempt in $(seq 100); do
        if grep -q -- "$1" "$work/received"; then return; fi
        sleep 0.1
    done
    fail "no webhook has $1: $(cat "$work/received")"
}
check_ledger() {
    "$till" ledger check || fail "the ledger is not sound"
}
# distributed COUNT: distributes the tables, of which so many were not distributed.
distributed() {
    "$till" ledger distribute >"$work/distributed" || fail "the tables were not distributed"
    tail -n 1 "$work/distributed"
    grep -q "^tables distributed $1," "$work/distributed" || fail "expected $1 new tables: $(cat "$work/distributed")"
}

echo "Building the benchmarks; the first time takes about 6 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product TransactionMint >&2
Benchmarks/.build/release/TransactionMint 160000 "$work"

# story ADDRESS: what a team and its apps do, over a ledger that is distributed while it has purchases.
story() {
    export TILL_LEDGER=$1 TILL_DATA=$work/story
    "$till" trust add "$work/root.cer" >/dev/null
    key=$("$till" keys make story --scope read --scope redeem --scope grant --scope spend --scope support --scope export \
        --scope erase --scope figures --scope webhooks 2>/dev/null)
    public=$("$till" keys make --public --bundle-id com.memolease.sesac1 2>/dev/null)
    serve
    redeem alice 1 200
    stop_service
    say "The tables are distributed, with the purchase that they have"
    distributed "[1-9][0-9]*"
    distributed 0
    receive_webhooks
    serve --figures --keep-proofs --profiles --doors revenuecat --ownership transfer --transfer-pause-seconds 0 --webhooks \
        --webhook-private-addresses
    say "The service turns features on, whose tables are distributed when they are made"
    distributed 0
    owns alice 1
    send POST /v1/webhooks 201 "{\"url\":\"$receiver\"}"
    webhook=$(grep -o '"webhookId":"[^"]*"' "$work/answer" | cut -d '"' -f 4)
    say "Redemptions, a transfer, grants, attributes"
    redeem alice 1 200
    redeem alice 2 200
    redeem bob 3 200
    redeem bob 2 200
    send POST /v1/users/alice/grants 201 '{"item":{"collection":"sprout","number":3},"reason":"a gift"}'
    grant=$(grep -o '"grantId":"[^"]*"' "$work/answer" | head -n 1 | cut -d '"' -f 4)
    send PUT "/v1/users/alice/grants/$grant/revocation" 200 '{"reason":"returned"}'
    send PUT /v1/users/alice/attributes 204 '{"attributes":[{"name":"city","value":"Seoul"}]}'
    say "Webhooks, and their deliveries"
    received '"type":"item.given"'
    received '"bob"'
    send GET "/v1/webhooks/$webhook/deliveries" 200
    check_ledger
    say "A log-in that merges an anonymous customer"
    back_end=$key key=$public anonymous=%24RCAnonymousID%3A0123456789abcdef0123456789abcdef
    send POST /v1/receipts 200 \
        "{\"app_user_id\":\"\$RCAnonymousID:0123456789abcdef0123456789abcdef\",\"fetch_token\":\"$(transaction 4)\"}"
    send POST /v1/subscribers/identify 201 \
        '{"app_user_id":"$RCAnonymousID:0123456789abcdef0123456789abcdef","new_app_user_id":"carol"}'
    send GET "/v1/subscribers/$anonymous" 200
    key=$back_end
    say "Support, the user's export, figures, erasure"
    send GET "/v1/users?search=al" 200
    send GET /v1/users/bob/story 200
    send GET /v1/users/bob/export 200
    send POST /v1/users/bob/erasure 204
    sleep 3
    stop_service
    check_ledger
    "$till" figures units >/dev/null || fail "the figures cannot be read"
    say "An export, and its import into a file"
    "$till" ledger export "$work/export.jsonl"
    (unset TILL_LEDGER && "$till" ledger import "$work/export.jsonl" --data "$work/imported" &&
        "$till" ledger check --data "$work/imported") || fail "the export cannot be imported"
}

if [ -n "${TILL_CITUS:-}" ]; then
    story "$TILL_CITUS"
    printf '\nThe story was played on %s.\n' "${TILL_CITUS%%\?*}"
    exit 0
fi

say "The ledger's tests over a coordinator and two workers"
start_cluster tests 2 2
# Each test distributes its own tables, which takes a second; so these are the suites of redemptions and of what they touch.
suites='LedgerTests|DistributedPostgreSQLTests|GroupCommitTests|OwnershipPolicyTests|AuditTests|FactLedgerTests'
suites+='|NotificationLedgerTests|SpendingRequestTests|LogInLedgerTests|LedgerExportTests|FigureLedgerTests'
TILL_POSTGRES=$(address tests) TILL_POSTGRES_CITUS=1 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 \
    Scripts/swift-test.sh --filter "LedgerTests.($suites)"
stop_nodes tests

start_cluster story 2
story "$(address story)"
say "An import into a distributed ledger"
start_cluster import 1
export TILL_LEDGER
TILL_LEDGER=$(address import)
"$till" keys make import >/dev/null 2>&1
query import "DELETE FROM api_key; TRUNCATE ledger_commit"
distributed "[1-9][0-9]*"
"$till" ledger import "$work/export.jsonl"
check_ledger
stop_nodes story
stop_nodes import

say "Workers are killed under load"
start_cluster killed 2
export TILL_LEDGER TILL_DATA=$work/killed
TILL_LEDGER=$(address killed)
"$till" trust add "$work/root.cer" >/dev/null
key=$("$till" keys make load 2>/dev/null)
distributed "[1-9][0-9]*"
serve
python3 Scripts/citus-load.py "$url" "$key" "$work/transactions" 3000 &
load=$!
for round in $(seq 20); do
    sleep 5
    kill -0 "$load" 2>/dev/null || break
    worker=killed-$((round % 2 + 1))
    kill_node "$worker"
    echo "$worker was killed"
    sleep 1
    restart_node "$worker"
done
wait "$load" || fail "a purchase was lost or granted twice"
stop_service
# Citus ends what a killed worker has left prepared.
query killed "SELECT recover_prepared_transactions()"
check_ledger
stop_nodes killed

say "One server, and Citus with one and two workers: ${seconds} seconds each"
export LOAD_THREADS=2 LOAD_USERS=2000 LOAD_PREFIX=u LOAD_SKIP LOAD_LINES
LOAD_LINES=$(wc -l <"$work/transactions")
command -v wrk >/dev/null || Scripts/install-packages.sh wrk
# load WHAT CONNECTIONS PATH [TRANSACTIONS]: adds the requests to `requests`, and prints a line.
load() {
    local what=$1 connections=$2
    shift 2
    wrk -t 2 -c "$connections" -d "${seconds}s" --timeout 10s -s Scripts/load.lua "$url/" -- "$key" "$@" >"$work/wrk"
    awk -v name="$name" -v connections="$connections" -v what="$what" '/^RESULT/ {
        printf "%-18s %3d connections  %-7s %6d a second, p50 %.1f ms, p99 %.1f ms, errors %d\n", name, connections, what,
            $2 / $3, $4, $5, $6 + $7 }' "$work/wrk"
    requests=$(awk '/^RESULT/ { print $2 }' "$work/wrk")
}
# compare NAME WORKERS [SHARDS]: the rates of a cluster; without a worker, of one PostgreSQL server. With SHARDS, the coordinator holds
# its share of them.
compare() {
    local name=$1 workers=$2 shards=${3:-} connections requests
    if [ "$workers" -eq 0 ]; then
        make_postgres "$name" max_connections=400 max_pred_locks_per_transaction=256
    else
        start_cluster "$name" "$workers" "${shards:-8}"
        [ -z "$shards" ] ||
            query "$name" "SELECT citus_set_node_property('127.0.0.1', $(port "$name"), 'shouldhaveshards', true)"
    fi
    TILL_LEDGER=$(address "$name") TILL_DATA=$work/$name
    "$till" trust add "$work/root.cer" >/dev/null
    key=$("$till" keys make bench 2>/dev/null)
    [ "$workers" -eq 0 ] || distributed "[1-9][0-9]*" >/dev/null
    python3 Benchmarks/Service/seed.py postgres 10000 |
        as_postgres "$postgres_bin/psql" -q -v ON_ERROR_STOP=1 "$(address "$name")" >/dev/null
    serve
    LOAD_SKIP=0
    for connections in 64 200; do
        load redeem "$connections" /v1/users/USER/transactions "$work/transactions"
        # wrk has sent more than were answered.
        LOAD_SKIP=$((LOAD_SKIP + requests + 1000))
        load items "$connections" /v1/users/USER/items
    done
    stop_service
    stop_nodes "$name"
}
compare one-server 0
compare one-worker 1
compare two-workers 2
compare two-and-own-8 2 8
compare two-and-own-4 2 4
