#!/usr/bin/env bash
# Runs Apple's own server library, unmodified and with its strict checks on, against a local App Store, whose receipts and signed data
# apple-purchase-receipt-verifier judges, too.
#   Scripts/test-apple.sh TILL
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
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -W ignore::DeprecationWarning -m unittest discover "$root/Tests/Apple"
