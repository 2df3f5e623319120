#!/usr/bin/env bash
# Drives clients of other purchase servers, unmodified, against a running service, its local App Store and a local Google Play.
#   Scripts/test-doors.sh TILL
# TILL_PEERS is the folder of the clients: cordova-plugin-purchase/store.js. It is "peers" beside TILL_VECTORS by default.
# The last line is "N passed, N failed".
set -euo pipefail

till=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
if [ -z "${TILL_PEERS:-}" ] && [ -n "${TILL_VECTORS:-}" ]; then TILL_PEERS=$(dirname "${TILL_VECTORS%/}")/peers; fi
export TILL_PEERS
# shellcheck source=Scripts/work.sh
. "$root/Scripts/work.sh"
skip() {
    echo "test-doors: skipped. $1"
    echo "0 passed, 0 failed"
    exit 0
}

[ -f "${TILL_PEERS:-}/cordova-plugin-purchase/store.js" ] ||
    skip "Set TILL_PEERS to a folder with cordova-plugin-purchase/store.js (www/store.js of its npm package)."
# shellcheck source=Scripts/node.sh
. "$root/Scripts/node.sh"
hindrance=$(cd "$root" && node_hindrance) || skip "$hindrance"

mkdir "$work/catalog"
cp "$root/Tests/Support/Garden.storekit" "$work/catalog/Till.storekit"
cp "$root/Tests/DoorClients/Items.json" "$work/catalog/Items.json"
export TILL_DATA="$work/data" TILL_CATALOG="$work/catalog"
TILL_SANDBOX_KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export TILL_SANDBOX_KEY
TILL_PUBLIC_KEY=$("$till" keys make --public --bundle-id com.example.garden 2>"$work/log" | tail -n 1) ||
    fail "the public key could not be made: $(cat "$work/log")"
TILL_API_KEY=$("$till" keys make test-doors --scope read 2>"$work/log") || fail "$(cat "$work/log")"
export TILL_PUBLIC_KEY TILL_API_KEY
env -u TILL_PEERS -u TILL_PUBLIC_KEY -u TILL_API_KEY -u TILL_VECTORS "$till" play --port 0 --log-level warning \
    >"$work/play" 2>"$work/log" &
for _ in $(seq 100); do
    TILL_PLAY_URL=$(sed -n 's/^Listening on //p' "$work/play")
    [ -z "$TILL_PLAY_URL" ] || break
    sleep 0.2
done
[ -n "$TILL_PLAY_URL" ] || fail "the local Play did not start: $(cat "$work/log")"
export TILL_PLAY_URL
"$till" play keys --out "$work/account.json" --url "$TILL_PLAY_URL" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
coproc server {
    exec env -u TILL_PEERS -u TILL_PUBLIC_KEY -u TILL_PLAY_URL -u TILL_VECTORS "$till" serve --store --doors cordova --port 0 \
        --google-service-account "$work/account.json" --google-play-url "$TILL_PLAY_URL" --log-level warning 2>"$work/log"
}
read -r _ _ TILL_URL <&"${server[0]}" || fail "the service did not start: $(cat "$work/log")"
export TILL_URL
node "$root/Tests/DoorClients/cordova.mjs"
