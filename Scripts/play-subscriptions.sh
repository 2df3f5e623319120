#!/usr/bin/env bash
# Plays a subscription at both local stores: bought, renewed and refunded. After each step it reads the service's answer. Alice buys
# at the App Store, bob at Google Play. It fails if this takes more than a minute.
#   Scripts/play-subscriptions.sh FOLDER COMMAND …     FOLDER is empty; COMMAND … runs till: a path, or a container with FOLDER in it
# Needs curl. COMMAND … gets TILL_DATA, TILL_CATALOG and TILL_API_KEY in its environment.
set -euo pipefail

limit=60

fail() {
    echo "play-subscriptions: $1" >&2
    [ ! -s "${folder:-}/service.log" ] || tail -n 20 "$folder/service.log" >&2
    exit 1
}

[ $# -ge 2 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/play-subscriptions.sh FOLDER COMMAND …\`."
command -v curl >/dev/null || fail "curl is missing. Run \`apt-get install curl\`."
folder=$(realpath "$1")
[ -d "$folder" ] && [ -z "$(ls -A "$folder")" ] || fail "\"$1\" is not an empty folder. Make one with \`mktemp -d\`."
shift
till=("$@")
unset TILL_SANDBOX_KEY
export TILL_DATA=$folder/data TILL_CATALOG=$folder/Catalog TILL_API_KEY=

service=
cleanup() {
    [ -z "$service" ] || kill "$service" 2>/dev/null || true
    wait
}
trap cleanup EXIT

# The program's own catalog with subscriptions.
"${till[@]}" init "$TILL_CATALOG" >/dev/null
product=com.memolease.sesac1.master.monthly
coproc server {
    exec "${till[@]}" serve --store --play --port 0 --play-port 0 --log-level warning 2>"$folder/service.log"
}
service=$server_PID
read -r -t $limit _ _ url <&"${server[0]}" && read -r -t $limit _ _ play <&"${server[0]}" &&
    read -r -t $limit _ _ key <&"${server[0]}" || fail "the service did not start."
TILL_API_KEY=$("${till[@]}" keys make shop 2>/dev/null)
step() { printf '%3d s  %s\n' "$SECONDS" "$1"; }
step "both stores and the service run"

# The service's answer about a user, without spaces.
answer() { curl --silent --show-error --fail --header "Authorization: Bearer $TILL_API_KEY" "$url/v1/users/$1/$2" | tr -d ' \n'; }
# The end of the period for which a user has paid.
paid_until() { answer "$1" subscriptions | sed -n 's/.*"until":"\([^"]*\)".*/\1/p'; }
# Waits until the service, which a store notifies, answers so.
#   expect USER STATE ENDS-AFTER ITEMS
expect() {
    local state until
    while [ "$SECONDS" -lt $limit ]; do
        state=$(answer "$1" subscriptions | sed -n 's/.*"state":"\([^"]*\)".*/\1/p')
        until=$(paid_until "$1")
        if [ "$state" = "$2" ] && [[ $until > $3 ]] && [ "$(answer "$1" items | grep -c "$product")" -eq "$4" ]; then
            step "$1's subscription: $state, paid until $until"
            return
        fi
        sleep 0.1
    done
    fail "the service should have answered \"$2\" about $1 within $limit s. It answers: $(answer "$1" subscriptions)"
}

"${till[@]}" buy "$product" --user alice --server "$url" >/dev/null
"${till[@]}" buy "$product" --user bob --store play --server "$url" >/dev/null
expect alice active "" 1
expect bob active "" 1
alice_end=$(paid_until alice)
bob_end=$(paid_until bob)

"${till[@]}" store time --advance 32d >/dev/null
"${till[@]}" play time --advance 32d >/dev/null
expect alice active "$alice_end" 1
expect bob active "$bob_end" 1

# The stores' own answers, for those who play a customer.
sandbox() { curl --silent --show-error --fail --header "Authorization: Bearer $key" "$@"; }
transaction=$(sandbox "$url/sandbox/v1/accounts/alice/transactions" | grep -o '"transactionId" *: *"[0-9]*"' | tail -n 1 | grep -o '[0-9]*')
"${till[@]}" store refund "$transaction" >/dev/null
sandbox --request POST "$play/sandbox/v1/subscriptions/1/refund" >/dev/null
expect alice revoked "" 0
expect bob revoked "" 0

kill "$service"
wait "$service" || fail "the service did not end as it should."
service=
[ "$SECONDS" -le $limit ] || fail "this should take $limit s at most; it took $SECONDS s."
echo "Bought, renewed and refunded at both stores in $SECONDS s."
