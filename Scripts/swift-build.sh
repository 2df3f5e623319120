#!/usr/bin/env bash
# Builds with the flags of every build of Till: others would compile all packages anew.
# Usage: Scripts/swift-build.sh CONFIGURATION (--product NAME | --build-tests) [OPTION …]
set -euo pipefail
cd "$(dirname "$0")/.."
configuration=$1
shift
[ -x ".build/$configuration/till" ] || case $configuration in
debug) echo "Building Till and its packages; the first time takes 5 to 15 minutes on two cores …" ;;
*) echo "Building Till and its packages, optimised; the first time takes 6 to 20 minutes on two cores …" ;;
esac
# Without optimisation, SwiftPM would write an index of every package, for editors, which make their own. It also reads the index of
# the test targets, for tests of XCTest, and ends where there is none: Package.swift has these targets write it.
index=()
if [ "$configuration" = debug ]; then
    index=(--disable-index-store)
    export TILL_TEST_INDEX="$PWD/.build/$(uname -m)-unknown-linux-gnu/debug/index/store"
fi
# Few run a debugger, and its tables took a seventh of the compiler's time: DEBUG_INFO=dwarf writes them.
swift build -c "$configuration" -debug-info-format "${DEBUG_INFO:-none}" "${index[@]}" "$@"
