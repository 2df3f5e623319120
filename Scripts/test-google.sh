#!/usr/bin/env bash
# Runs Google's own Python client, unmodified, against a local Google Play, and holds each answer against the schemas of its discovery
# document.
#   Scripts/test-google.sh TILL
set -euo pipefail

TILL=$(realpath "$1")
export TILL
root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/google-api-python-client
if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c "import googleapiclient, google.auth, cryptography" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } || {
        echo "test-google: Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`." >&2
        exit 1
    }
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$root/Scripts/requirements/test-google.txt"
fi
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -W ignore::ResourceWarning -m unittest discover "$root/Tests/Google"
