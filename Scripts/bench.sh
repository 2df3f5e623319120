#!/usr/bin/env bash
# Measures how fast proofs are verified, beside what `openssl speed` measures for the signatures alone in the same run.
# Machines change their pace, so on both sides the best counts: of OpenSSL's runs before and after, and of our batches.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "Building the benchmarks; the first time takes 5 to 15 minutes on two cores …" >&2
swift build --package-path Benchmarks -c release --product ProofSpeed >&2

figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
signatures() { openssl speed -seconds 3 ecdsap256 ecdsap384 rsa2048 2>/dev/null; }
{
    signatures
    swift package --package-path Benchmarks benchmark --target ProofSpeed --format influx --path stdout --no-progress 2>/dev/null
    signatures
} > "$figures"

awk -f Scripts/bench.awk "$figures"
