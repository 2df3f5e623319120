#!/usr/bin/env bash
# Builds with the flags of every build of Till: others would compile all packages anew.
# Usage: Scripts/swift-build.sh CONFIGURATION (--product NAME | --build-tests)
set -euo pipefail
cd "$(dirname "$0")/.."
configuration=$1
shift
[ -x ".build/$configuration/till" ] || case $configuration in
debug) echo "Building Till and its packages; the first time takes 5 to 15 minutes on two cores …" ;;
*) echo "Building Till and its packages, optimised; the first time takes 6 to 20 minutes on two cores …" ;;
esac
# Not `--disable-index-store`: SwiftPM looks for tests of XCTest in the index of the test targets, and ends where there is none.
swift build -c "$configuration" "$@"
