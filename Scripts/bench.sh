#!/usr/bin/env bash
# Measures how fast proofs are verified, beside what `openssl speed` measures for the signatures alone in the same run.
# Machines change their pace, so on both sides the best counts: of OpenSSL's runs before and after, and of our batches.
# BENCH_AGAINST names a second checkout, such as that of the commit before: both are measured in turns, in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
against=${BENCH_AGAINST:+$(realpath "$BENCH_AGAINST")}

echo "Building the benchmarks; the first time takes about 6 minutes on two cores …" >&2
for checkout in "$here" ${against:+"$against"}; do
    swift build --package-path "$checkout/Benchmarks" -c release --product ProofSpeed >&2
done

source Scripts/work.sh
signatures() { openssl speed -seconds 3 ecdsap256 ecdsap384 rsa2048 2>/dev/null; }
# proofs CHECKOUT
proofs() {
    (cd "$1" && swift package --package-path Benchmarks benchmark --target ProofSpeed --format influx --path stdout \
        --no-progress 2>/dev/null)
}
# receipts PROCESSES: the thousands of receipts that so many processes verify in a second, each at its median.
receipts() {
    local process
    for ((process = 0; process < $1; process++)); do
        Benchmarks/.build/release/ProofSpeed --quiet true --filter "1000 receipts of 10" >"$work/process-$process" &
    done
    wait
    awk -v processes="$1" '$2 == "0.500000000000" { rate += 1e9 / $1 } END { print "receipts", processes, rate }' "$work"/process-*
    rm "$work"/process-*
}
signatures >"$work/signatures"
for checkout in "$here" ${against:+"$against" "$against" "$here"}; do
    proofs "$checkout" >>"$work/$([ "$checkout" = "$here" ] && echo here || echo against)"
done
for processes in 1 2 2 1; do receipts "$processes" >>"$work/here"; done
signatures >>"$work/signatures"

awk -f Scripts/bench.awk "$work/signatures" "$work/here" ${against:+other=1 "$work/against"}
