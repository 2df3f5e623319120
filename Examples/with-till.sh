#!/usr/bin/env bash
# Starts Till with a local App Store and a local Google Play, and a command in its environment: a back end, or the tests of one.
#   Examples/with-till.sh COMMAND …
# TILL is the program, .build/release/till by default. TILL_CATALOG is the folder of a catalog, by default one of Garden.storekit. PORT is
# the port of the back end, 3000 by default, to which Till sends webhooks. All ends, and is forgotten, with the command.
set -euo pipefail

examples=$(realpath "$(dirname "$0")")
till=$(realpath "${TILL:-$examples/../.build/release/till}")
catalog=${TILL_CATALOG:-}
# No setting of another service, such as its ledger, is this one's.
unset "${!TILL_@}"
work=$(mktemp -d)
service=
finish() {
    [ -z "$service" ] || { kill "$service" 2>/dev/null && wait "$service" || true; }
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "with-till: $1" >&2
    [ ! -s "$work/log" ] || cat "$work/log" >&2
    exit 1
}
[ $# -gt 0 ] || fail "name a command. Run \`Examples/with-till.sh node Examples/Node/server.mjs\`, for example."
[ -x "$till" ] || fail "\"$till\" is not a program. Run \`make build\`, or set TILL."

# The back end signs its users' tokens with this key, an Ed25519 JWK, and Till verifies them with its public half.
key=$(openssl genpkey -algorithm ED25519 -outform DER 2>"$work/log" | base64 --wrap=0)
last_bytes() { tail -c 32 | basenc --base64url | tr -d '='; }
public=$(base64 --decode <<<"$key" | openssl pkey -inform DER -pubout -outform DER | last_bytes)
jwk="\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"$public\""
echo "{\"keys\":[{$jwk}]}" >"$work/keys.json"
export ISSUER=https://garden.example AUDIENCE=com.example.garden
SIGNING_KEY="{$jwk,\"d\":\"$(base64 --decode <<<"$key" | last_bytes)\"}"
export SIGNING_KEY

export PORT=${PORT:-3000} TILL_DATA=$work/data TILL_CATALOG=${catalog:-$work/catalog} TILL_WEBHOOK_PRIVATE_ADDRESSES=true
TILL_SANDBOX_KEY=$(openssl rand -hex 16)
export TILL_SANDBOX_KEY
if [ -z "$catalog" ]; then
    "$till" init --storekit "$examples/Garden.storekit" --bundle-id com.example.garden "$TILL_CATALOG" >"$work/log" 2>&1 ||
        fail "the catalog could not be made."
fi
TILL_API_KEY=$("$till" keys make "back end" 2>"$work/log") || fail "the API key could not be made."
TILL_WEBHOOK_SECRET=$("$till" webhooks add "http://127.0.0.1:$PORT/hooks" --json 2>"$work/log" | sed -n 's/.*"secret" : "\(.*\)".*/\1/p')
[ -n "$TILL_WEBHOOK_SECRET" ] || fail "the webhook could not be added."
coproc server {
    exec "$till" serve --store --play --port 0 --play-port 0 --log-level warning --webhooks \
        --jwt-issuer "$ISSUER" --jwt-audience "$AUDIENCE" --jwt-keys "$work/keys.json" --jwt-algorithms EdDSA 2>"$work/log"
}
service=$server_PID
read -r _ _ TILL_URL <&"${server[0]}" && read -r _ _ TILL_PLAY_URL <&"${server[0]}" || fail "Till did not start."
# The local App Store is at the address of the service.
export TILL_API_KEY TILL_WEBHOOK_SECRET TILL_URL TILL_PLAY_URL TILL_STORE_URL=$TILL_URL
{
    echo "The back end is at http://127.0.0.1:$PORT. To play customers in another terminal, run there:"
    printf 'export'
    for name in TILL_DATA TILL_CATALOG TILL_SANDBOX_KEY TILL_STORE_URL TILL_PLAY_URL; do printf " %s=%q" "$name" "${!name}"; done
    echo
} >&2
"$@"
