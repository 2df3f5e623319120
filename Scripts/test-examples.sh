#!/usr/bin/env bash
# Runs the tests of the back ends in Examples, each beside a Till with both local stores.
#   Scripts/test-examples.sh TILL
# Python's packages and Go come from PyPI. Swift uses the packages that `make test` has built, and is skipped without them; of the
# others, it builds those for tokens.
set -euo pipefail

TILL=$(realpath "$1")
export TILL PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/.."
unset TILL_CATALOG
. Scripts/work.sh
. Scripts/python-tools.sh
. Scripts/node.sh
python_tools test-examples fastapi pytest standardwebhooks

passed=0
failed=()
skipped=0
# Runs the tests of a language beside Till, at a free port: try LANGUAGE COMMAND …
try() {
    local language=$1
    shift
    PORT=$("$tools/bin/python" -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    export PORT
    if Examples/with-till.sh "$@"; then passed=$((passed + 1)); else failed+=("$language"); fi
}
skip() {
    echo "skipped: $1"
    skipped=$((skipped + 1))
}
say() { printf '\n== %s\n' "$1"; }

say "Each back end has at most 200 lines"
wc --lines Examples/FastAPI/main.py Examples/Node/server.mjs Examples/Go/main.go Examples/Swift/Sources/Garden/Garden.swift |
    awk '{ print } $2 != "total" && $1 > 200 { long = 1 } END { exit long }' || failed+=("the length")

say "FastAPI"
try FastAPI "$tools/bin/python" -m pytest -q -p no:cacheprovider Examples/FastAPI

say "Node"
hindrance=$(node_hindrance) || fail "$hindrance"
try Node node --test Examples/Node

say "Go"
export CGO_ENABLED=0 GOCACHE=$PWD/.build/go-cache GOPROXY=off GOTOOLCHAIN=local
try Go "$tools/bin/go" -C Examples/Go test -count=1 -vet=all .

say "Swift"
# As `swift test` does it in the folder of the example: without the program's own entry point, and with that of the tests.
swift_tests() {
    local swiftc=(swiftc -swift-version 6 -parse-as-library -Onone "@$work/compile" -I "$work")
    # The same versions, so that its objects fit those of Till's build. A target alone: Hummingbird is built already.
    cp Package.resolved Examples/Swift/Package.resolved &&
        swift build --package-path Examples/Swift --scratch-path .build/example-swift --target JWTKit || return
    echo 'import Testing; @main struct Tests { static func main() async { await __swiftPMEntryPoint() as Never } }' >"$work/Entry.swift"
    "$tools/bin/python" Scripts/built-packages.py ".build/$1" .build/example-swift/debug "$work" Crypto Hummingbird JWTKit Logging &&
        "${swiftc[@]}" -module-name Garden -enable-testing -emit-module -emit-module-path "$work/Garden.swiftmodule" \
            -c Examples/Swift/Sources/Garden/Garden.swift -o "$work/Garden.o" \
            -Xfrontend -entry-point-function-name -Xfrontend Garden_main &&
        "${swiftc[@]}" -module-name GardenTests Examples/Swift/Tests/GardenTests/GardenTests.swift "$work/Entry.swift" \
            "$work/Garden.o" "@$work/link" -lstdc++ -lz -o "$work/garden-tests"
}
configuration=
for each in debug release; do
    [ ! -e ".build/$each/tillPackageTests.product/Objects.LinkFileList" ] || configuration=$each
done
if ! command -v swiftc >/dev/null; then
    skip "there is no Swift."
elif [ -z "$configuration" ]; then
    skip "\`make test\` has not built the packages. \`swift test\` in Examples/Swift builds its own."
elif swift_tests "$configuration"; then
    try Swift "$work/garden-tests" --testing-library swift-testing
else
    failed+=(Swift)
fi

[ ${#failed[@]} -eq 0 ] || echo "Failures: ${failed[*]}" >&2
printf '\n%s passed, %s failed, %s skipped\n' "$passed" "${#failed[@]}" "$skipped"
[ ${#failed[@]} -eq 0 ]
