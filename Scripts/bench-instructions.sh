#!/usr/bin/env bash
# Counts the instructions of fixed workloads (Tests/Instructions) with callgrind, and the allocations of a request of each kind that
# `make bench-service` measures, and compares them with those recorded in Benchmarks/instructions.txt. More than 5 % above is a
# failure. UPDATE=1 records the counts instead.
set -euo pipefail
cd "$(dirname "$0")/.."
recorded=Benchmarks/instructions.txt
source Scripts/work.sh
command -v valgrind >/dev/null || fail "Install valgrind, which counts: apt-get install valgrind"
command -v sqlite3 >/dev/null || fail "Install sqlite3, which fills the ledger: apt-get install sqlite3"
[ -n "${UPDATE:-}" ] || [ -f "$recorded" ] ||
    fail "$recorded is not there. Run \`make bench-instructions UPDATE=1\`, and commit it."

for product in till-instructions till; do TILL_INSTRUCTIONS=1 Scripts/swift-build.sh release --product "$product" >&2; done
swift build --package-path Benchmarks -c release --product TransactionMint >&2

profiles=.build/instructions
mkdir -p "$profiles"
# Valgrind 3.19 gives up on the debugging information of Swift.
strip --strip-debug -o "$work/till-instructions" .build/release/till-instructions
# Swift's hashes are otherwise seeded anew in each process.
export SWIFT_DETERMINISTIC_HASHING=1
# count WORKLOAD [prepare]: the instructions of one run.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$profiles/$1" "$work/till-instructions" "$@" >"$work/out" 2>&1 ||
        { cat "$work/out" >&2; fail "the workload $1 fails"; }
    awk '/^totals:/ { print $2 }' "$profiles/$1"
}
for workload in verify decide redeem items; do
    echo "Counting $workload …" >&2
    without=$(count "$workload" prepare)
    with=$(count "$workload")
    echo "$workload $((with - without))" >>"$work/counts"
done

echo "Counting the allocations of requests …" >&2
export TILL_DATA=$work/data
Benchmarks/.build/release/TransactionMint 1000 "$work"
.build/release/till trust add "$work/root.cer" >/dev/null
key=$(.build/release/till keys make bench 2>/dev/null)
public=$(.build/release/till keys make --public --bundle-id com.memolease.sesac1 2>/dev/null)
for users in 10000 "readers 1500"; do
    python3 Benchmarks/Service/seed.py sqlite $users | sqlite3 -bail "$TILL_DATA/service/ledger.sqlite" >/dev/null
done
"$(command -v clang || command -v cc)" -O2 -fPIC -shared -o "$work/allocations.so" Benchmarks/Allocations/allocations.c ||
    fail "Install a C compiler. The toolchain of Swift has clang."
: >"$work/out"
ALLOCATIONS_FILE=$work/allocations LD_PRELOAD=$work/allocations.so .build/release/till serve --port 0 \
    --log-level error --doors revenuecat --requests-per-minute 10000000 --address-requests-per-minute 10000000 \
    >"$work/out" 2>&1 &
service=$!
until grep -q "^Listening" "$work/out"; do
    kill -0 "$service" 2>/dev/null || { cat "$work/out" >&2; fail "the service does not start"; }
    sleep 0.05
done
python3 Benchmarks/Allocations/count.py "$(awk '/^Listening/ { print $3 }' "$work/out")" "$work/allocations" "$key" "$public" \
    "$work/transactions" >>"$work/counts"

if [ -n "${UPDATE:-}" ]; then
    [ -f "$recorded" ] || : >"$recorded"
    awk -f Scripts/bench-instructions.awk "$recorded" "$work/counts" || true
    cp "$work/counts" "$recorded"
    echo "$recorded has these counts now. Commit it, and say why in the message."
elif ! awk -f Scripts/bench-instructions.awk "$recorded" "$work/counts"; then
    fail "A workload takes more than 5 % above its recorded count, or has none. Find the cause of more instructions with
\`callgrind_annotate $profiles/WORKLOAD\`, and of more allocations with \`heaptrack\`. If the change is worth its cost, run \`make bench-instructions UPDATE=1\` and commit
$recorded with the reason."
fi
