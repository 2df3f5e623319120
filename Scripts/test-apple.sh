#!/usr/bin/env bash
# Runs Apple's own server library, unmodified and with its strict checks on, against a local App Store.
#   Scripts/test-apple.sh TILL
set -euo pipefail

TILL=$(realpath "$1")
export TILL
root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/app-store-server-library
if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c "import appstoreserverlibrary" 2>/dev/null; then
    python3 -m venv "$tools" || {
        echo "test-apple: Python 3 with its venv module is needed (apt-get install python3-venv)" >&2
        exit 1
    }
    "$tools/bin/pip" install --quiet --disable-pip-version-check app-store-server-library==3.1.2
fi
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -W ignore::DeprecationWarning -m unittest discover "$root/Tests/Apple"
