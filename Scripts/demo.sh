#!/usr/bin/env bash
# Plays the main job from end to end in a data directory of its own, and succeeds only if each step did what it says.
set -euo pipefail

till=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
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
refused "redeemed by another user" receipt redeem "$receipt" --user bob

printf '\nAll of it happened.\n'
