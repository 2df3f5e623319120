#!/usr/bin/env bash
# Builds the tests and `till`, runs the tests, and repeats the failures at the end. CONFIGURATION=debug builds without optimisation.
# Usage: Scripts/swift-test.sh [--skip-build] [--filter PATTERN] [--skip PATTERN] …
set -euo pipefail
cd "$(dirname "$0")/.."
configuration=${CONFIGURATION:-release}
if [ "${1:-}" = --skip-build ]; then
    shift
else
    # The tests share the build of `make build`.
    Scripts/swift-build.sh "$configuration" --build-tests
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
Scripts/mail-server.sh >/dev/null 2>&1 || echo "The tests with a mail server are skipped: Scripts/mail-server.sh has failed."
# Tests/Support/ProcessLaunch.swift says why memory is mapped like this.
export MALLOC_ARENA_MAX=1 MALLOC_TOP_PAD_=1048576
# All tests at once would wait for each other until they time out, and for the one heap.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-16}
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.malloc.tcache_count=4000}
# The program of the tests runs by itself: `swift test` would run under these settings, too, and has crashed under them.
if ! ".build/$configuration/tillPackageTests.xctest" --testing-library swift-testing "$@" 2>&1 | tee "$log"; then
    echo "Failures:"
    grep -a -A 2 -E '✘.* recorded an issue|^error:|swift:[0-9]+:[0-9]+: error:|Fatal error|unexpected signal' "$log" | head -n 100 || true
    exit 1
fi
