#!/usr/bin/env bash
# Counts the instructions of fixed workloads (Tests/Instructions) with callgrind, and compares them with those recorded in
# Benchmarks/instructions.txt. More than 5 % above is a failure. UPDATE=1 records the counts instead.
set -euo pipefail
cd "$(dirname "$0")/.."
recorded=Benchmarks/instructions.txt
fail() {
    echo "bench-instructions: $1" >&2
    exit 1
}
command -v valgrind >/dev/null || fail "Install valgrind, which counts: apt-get install valgrind"
[ -n "${UPDATE:-}" ] || [ -f "$recorded" ] ||
    fail "$recorded is not there. Run \`make bench-instructions UPDATE=1\`, and commit it."

TILL_INSTRUCTIONS=1 swift build -c release --product till-instructions >&2

profiles=.build/instructions
mkdir -p "$profiles"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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

if [ -n "${UPDATE:-}" ]; then
    [ -f "$recorded" ] || : >"$recorded"
    awk -f Scripts/bench-instructions.awk "$recorded" "$work/counts" || true
    cp "$work/counts" "$recorded"
    echo "$recorded has these counts now. Commit it, and say why in the message."
elif ! awk -f Scripts/bench-instructions.awk "$recorded" "$work/counts"; then
    fail "A workload takes more than 5 % above its recorded instructions, or has none. Find the cause with
\`callgrind_annotate $profiles/WORKLOAD\`. If the change is worth its cost, run \`make bench-instructions UPDATE=1\` and commit
$recorded with the reason."
fi
