#!/usr/bin/env bash
# Runs Apple's own server library, unmodified and with its strict checks on, against a local App Store, whose receipts and signed data
# apple-purchase-receipt-verifier judges, too.
#   Scripts/test-apple.sh TILL
# The library for Python comes from PyPI. That for Node is run where it is installed: by `npm install` in Tests/Apple/Node, or in NODE_PATH.
set -euo pipefail

TILL=$(realpath "$1")
export TILL
root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/app-store-server-library
if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c "import appstoreserverlibrary, apple_purchase_receipt_verifier, httpx" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } || {
        echo "test-apple: Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`." >&2
        exit 1
    }
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$root/Scripts/requirements/test-apple.txt"
fi
# The verifier keeps its compiled module here.
export APRV_WASM_CACHE_DIR=$tools/wasmtime
status=0
PYTHONDONTWRITEBYTECODE=1 "$tools/bin/python" -W ignore::DeprecationWarning -m unittest discover "$root/Tests/Apple" || status=$?

cd "$root/Tests/Apple/Node"
if node -e 'require.resolve("@apple/app-store-server-library")' 2>/dev/null; then
    node --test || status=$?
else
    echo "skipped: Apple's library for Node is not installed. Run \`npm install\` in Tests/Apple/Node."
fi
exit "$status"
