#!/usr/bin/env bash
# Plays the main job from end to end in a data directory of its own, and succeeds only if each step did what it says.
set -euo pipefail

till=$1
work=$(mktemp -d)
process=
cleanup() {
    [ -z "$process" ] || kill "$process" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
# shellcheck source=Scripts/issuer.sh
. "$(dirname "$0")/issuer.sh"
export TILL_DATA="$work/data"
receipt="$work/alice.receipt"
changed="$work/changed.receipt"

say() { printf '\n== %s\n' "$1"; }
run() { printf '$ till %s\n' "${*//$work/…}"; "$till" "$@"; }
fail() {
    echo "demo: $1" >&2
    exit 1
}
# A step that has to be refused: its status is 1, and its output names the reason.
refused() {
    local reason=$1 output status=0
    shift
    output=$(run "$@" 2>&1) || status=$?
    printf '%s\n' "${output//$work/…}"
    [ "$status" -eq 1 ] || fail "this should have been refused with status 1; it ended with $status"
    grep -q "$reason" <<<"$output" || fail "this should have been refused as $reason"
}
# A purchase that has to pass through the states of the queue in this order.
bought() {
    local output
    output=$(run buy "$1" --user alice)
    printf '%s\n' "$output"
    [ "$(awk '/#[0-9]/ { print $1 }' <<<"$output" | xargs)" = "purchasing purchased proof redeemed finished" ] ||
        fail "the purchase of $1 did not pass through its states"
}
owns() {
    "$till" owned alice --json | tr -d ' \n' | grep -q "\"collection\":\"$1\",\"number\":$2" || fail "alice does not own $1 $2"
}

say "What the store sells"
run products
[ "$("$till" products --json | grep -c '"productId"')" -eq 11 ] || fail "the catalog should have eleven products"

say "Alice buys a sprout and a background (the first purchase makes the store's keys)"
bought com.memolease.sesac1.sprout1
bought com.memolease.sesac1.background2
owns sprout 1
owns background 2

say "Her app's receipt, as it would be sent to a server"
run receipt export --user alice --out "$receipt"
run receipt validate "$receipt"

say "What she owns"
run owned alice
before=$("$till" owned alice --json)

say "A copy of the receipt with one byte changed is refused"
base64 --decode "$receipt" >"$changed"
offset=$(grep --byte-offset --only-matching --text --max-count=1 'com.memolease.sesac1' "$changed" | head -n 1 | cut -d: -f1)
printf 'X' | dd of="$changed" bs=1 seek="$offset" conv=notrunc status=none
refused signatureInvalid receipt validate "$changed"
refused "changed after it was signed" receipt redeem "$changed" --user alice

say "Redeeming the same receipt again grants nothing more"
run receipt redeem "$receipt" --user alice
[ "$("$till" receipt redeem "$receipt" --user alice --json | grep -c '"outcome" : "unchanged"')" -eq 1 ] ||
    fail "the receipt should have been redeemed before"
[ "$("$till" owned alice --json)" = "$before" ] || fail "what alice owns has changed"

say "Somebody else cannot redeem it"
refused "Another user has redeemed the purchase" receipt redeem "$receipt" --user bob

say "The app that Till began with, unmodified: it buys, and hands its receipt to /v1/user/shop/ios"
make_issuer "$work"
firebase=https://securetoken.google.com/sesac-1
token=$(issue "$work" "$firebase" sesac-1 mint 3600)
expired=$(issue "$work" "$firebase" sesac-1 mint -60)
# The shell would say that it was killed, which is what was asked for.
("$till" buy com.memolease.sesac1.sprout3 --user mint --kill-after purchased >/dev/null || true) 2>/dev/null
"$till" receipt export --user mint --out "$work/mint.receipt" >/dev/null
coproc server {
    exec "$till" serve --port 0 --log-level warning --seed-app --jwt-issuer "$firebase" --jwt-audience sesac-1 \
        --jwt-keys "$work/keys.json" 2>/dev/null
}
process=$server_PID
read -r _ _ url <&"${server[0]}" || fail "the service did not start"
# What that app reads is the status.
answered() {
    local expected=$1 token=$2 path=$3 status
    shift 3
    status=$(curl --silent --output "$work/answer" --write-out '%{http_code}' --header "idtoken: $token" "$@" "$url$path")
    printf '%s  %s\n' "$status" "$path"
    [ "$status" -eq "$expected" ] || fail "$path should have been answered $expected"
}
answered 406 "$token" /v1/user
answered 200 "$token" /v1/user --data-urlencode nick=민트 --data-urlencode phoneNumber=+821012345678 --data FCMtoken=x \
    --data birth=1998-02-13 --data email=mint@example.com --data gender=0
answered 200 "$token" /v1/user/shop/ios --data-urlencode "receipt@$work/mint.receipt" --data product=com.memolease.sesac1.sprout3
answered 201 "$token" /v1/user/shop/ios --data-urlencode "receipt@$receipt" --data product=com.memolease.sesac1.sprout1
answered 200 "$token" /v1/user/shop/item --data sesac=3 --data background=0
answered 401 "$expired" /v1/user/shop/myinfo
answered 200 "$token" /v1/user/shop/myinfo
grep -q '"sesac":3' "$work/answer" || fail "the sprout should be worn"
kill "$process"
wait "$process" || fail "the service did not end as it should"
process=

printf '\nAll of it happened.\n'
