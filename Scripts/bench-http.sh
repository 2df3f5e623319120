#!/usr/bin/env bash
# Measures the service over HTTP with wrk, beside Hummingbird's bare hello in the same run: reading users' items, and
# redeeming signed transactions, each a new one and durable when it is answered.
#   Scripts/bench-http.sh TILL [SECONDS [TRANSACTIONS]]
set -euo pipefail
cd "$(dirname "$0")/.."

till=$(realpath "$1")
seconds=${2:-30}
transactions=${3:-60000}
connections=200
LOAD_THREADS=2
export LOAD_THREADS
work=$(mktemp -d)
export TILL_DATA="$work/data"
trap 'rm -rf "$work"; [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null' EXIT
fail() {
    echo "bench-http: $1" >&2
    exit 1
}
command -v wrk >/dev/null || fail "wrk is needed (apt-get install wrk)"

echo "Building the benchmarks; the first time takes 5 to 15 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product Hello >&2
swift build --package-path Benchmarks -c release --product TransactionMint >&2
echo "Making $transactions signed transactions …" >&2
Benchmarks/.build/release/TransactionMint "$transactions" "$work"

"$till" trust add "$work/root.cer" >/dev/null
key=$("$till" keys make bench 2>/dev/null)
coproc hello { exec Benchmarks/.build/release/Hello; }
read -r _ _ hello_url <&"${hello[0]}"
exec {hello_output}<&"${hello[0]}"
# Bash knows of one such process at a time.
{ coproc service { exec "$till" serve --port 0 --log-level warning --requests-per-minute 10000000; }; } 2>/dev/null
read -r _ _ service_url <&"${service[0]}"

# Prints what load.lua makes of a run: requests a second, milliseconds at the median and the 99th percentile, errors of
# connections, errors of answers.
load() { wrk -t "$LOAD_THREADS" -c "$connections" -d "${seconds}s" -s Scripts/load.lua "$@" | awk '/^RESULT/ { print $2, $3, $4, $5, $6 }'; }
echo "Loading each for $seconds seconds …" >&2
hello_result=$(load "$hello_url/")
items_result=$(load "$service_url" -- "$key")
redemption_result=$(load "$service_url" -- "$key" "$work/transactions")

awk -v hello="$hello_result" -v items="$items_result" -v redemption="$redemption_result" 'BEGIN {
    split(hello, h, " ")
    printf "%-36s %10s %10s %10s %8s   %s\n", "'"$connections"' connections", "a second", "p50", "p99", "errors", "of hello"
    row("Hummingbird, bare hello", hello)
    row("items of a user", items)
    row("redeeming a transaction, durable", redemption)
    exit failed
}
function row(name, result,   r) {
    split(result, r, " ")
    printf "%-36s %10d %7.1f ms %7.1f ms %8d   %.0f %%\n", name, r[1], r[2], r[3], r[4] + r[5], 100 * r[1] / h[1]
    if (!r[1] || r[4] + r[5]) failed = 1
}' || fail "there were errors, or no answers"
