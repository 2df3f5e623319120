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
options=(-debug-info-format "${DEBUG_INFO:-none}")
# The packages are compiled for size, as what waits for people; Package.swift names the modules that are compiled for speed. Each
# function has a section of its own, so that the linker leaves out what nobody calls.
if [ "$configuration" = release ]; then
    options+=(-Xswiftc -Osize -Xswiftc -Xfrontend -Xswiftc -function-sections)
fi
swift build -c "$configuration" "${options[@]}" "${index[@]}" "$@"
