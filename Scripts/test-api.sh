#!/usr/bin/env bash
# Sends the running service what its own description (/openapi.json) allows and what it does not, with schemathesis, for a
# minute: no answer may be a server error, of an undocumented status, or of another shape than described.
#   Scripts/test-api.sh TILL [SECONDS]
set -euo pipefail

till=$(realpath "$1")
seconds=${2:-60}
scripts=$(realpath "$(dirname "$0")")
tools=$(dirname "$scripts")/.build/schemathesis
# shellcheck source=Scripts/work.sh
. "$scripts/work.sh"
export TILL_DATA="$work/data"

if [ ! -x "$tools/bin/schemathesis" ]; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } ||
        fail "Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`."
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$scripts/requirements/test-api.txt"
fi

# shellcheck source=Scripts/issuer.sh
. "$scripts/issuer.sh"
make_issuer "$work"
token=$(issue "$work" test till alice 3600)

"$till" buy com.memolease.sesac1.sprout1 --user alice >/dev/null
"$till" buy com.memolease.sesac1.background2 --user alice >/dev/null
key=$("$till" keys make test-api --scope read --scope redeem --scope grant --scope metrics --scope export \
    --scope support --scope figures 2>/dev/null)
hooks=$("$till" keys make hooks --scope webhooks 2>/dev/null)

serve() {
    coproc server {
        exec "$till" serve --port 0 --log-level warning --requests-per-minute 10000000 \
            --user-requests-per-minute 10000000 "$@" 2>"$work/log"
    }
    process=$server_PID
    read -r _ _ url <&"${server[0]}" || fail "the service did not start: $(cat "$work/log")"
}
stop() {
    kill "$process"
    wait "$process" || fail "the service did not end as it should"
}

checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance
checks=$checks,response_schema_conformance,unsupported_method,allow_header_conformance,ignored_auth
examine() {
    # It keeps what it finds in the folder it runs in.
    (cd "$work" && "$tools/bin/schemathesis" run "$url/openapi.json" --checks "$checks" --no-color --generation-database none \
        --warnings off "$@") || fail "the service does not do what it describes (its log: $(tail -n 5 "$work/log"))"
}
serve --jwt-issuer test --jwt-audience till --jwt-keys "$work/keys.json" --accounts --profiles --seed-app --live-events --figures \
    --mail-from garden@example.com --mail-links https://example.com/account --mail-server smtp://127.0.0.1:1
echo "As a back end …"
examine --header "Authorization: Bearer $key" --exclude-path-regex '^/v1/(me|user(/|$)|webhooks|catalog)' --max-time $((seconds * 2 / 3))
echo "As an app …"
examine --header "Authorization: Bearer $token" --include-path-regex '^/v1/(me|products)' --exclude-path /v1/me/events \
    --max-time $((seconds / 3))
# That app's 501 means that a header or a field is missing.
echo "As the app that Till began with …"
checks=${checks#not_a_server_error,}
examine --header "idtoken: $token" --include-path-regex '^/v1/user(/|$)' --max-time $((seconds / 6))
stop
# Where nothing happens, so that nothing is sent to addresses that are chance.
export TILL_DATA="$work/webhooks"
key=$("$till" keys make test-api --scope webhooks --scope catalog --scope read 2>/dev/null)
serve --webhooks --catalog-administration
echo "As who is told, and as who decides what is sold …"
checks=$checks,not_a_server_error
examine --header "Authorization: Bearer $key" --include-path-regex '^/v1/(webhooks|catalog|products|pictures)' \
    --max-time $((seconds / 3))
stop
