#!/usr/bin/env bash
# Generates clients of the service from Documentation/openapi.json, with openapi-python-client and datamodel-codegen, and one of the
# local App Store. Neither generator may warn. The clients play the ten lines of API.md against a running service.
#   Scripts/test-clients.sh TILL
set -euo pipefail

TILL=$(realpath "$1")
cd "$(dirname "$0")/.."
# shellcheck source=Scripts/work.sh
. Scripts/work.sh
# shellcheck source=Scripts/python-tools.sh
. Scripts/python-tools.sh
python_tools test-clients openapi_python_client datamodel_code_generator
export TILL_DATA="$work/data" TILL_SANDBOX_KEY=test-clients-sandbox-key

TILL_API_KEY=$("$TILL" keys make test-clients --scope read --scope redeem --scope grant --scope metrics 2>/dev/null)
coproc server {
    exec "$TILL" serve --port 0 --log-level warning --store --sandbox-key "$TILL_SANDBOX_KEY" 2>"$work/log"
}
read -r _ _ TILL_URL <&"${server[0]}" || fail "the service did not start: $(cat "$work/log")"
export TILL_API_KEY TILL_URL
curl --silent --fail "$TILL_URL/sandbox/v1/openapi.json" >"$work/store.json" || fail "the store has no description"

client() {
    "$tools/bin/openapi-python-client" generate --path "$1" --output-path "$work/$2" --meta none --fail-on-warning \
        --config Tests/Clients/openapi-python-client.yml >"$work/$2.log" 2>&1 || fail "$(cat "$work/$2.log")"
}
echo "Generating the clients …"
client Documentation/openapi.json till_client
client "$work/store.json" store_client
"$tools/bin/datamodel-codegen" --input Documentation/openapi.json --input-file-type openapi --output "$work/till_models.py" \
    --output-model-type pydantic_v2.BaseModel --formatters builtin --extra-fields forbid >"$work/models.log" 2>&1 &&
    [ ! -s "$work/models.log" ] || fail "$(cat "$work/models.log")"
# Names with a number behind them: two types had the same name, which belongs into the description.
! grep -E '^class [A-Za-z]+[0-9]+\(' "$work/till_models.py" || fail "these types need names of their own"

echo "Playing the ten lines …"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work "$tools/bin/python" -m unittest discover Tests/Clients
