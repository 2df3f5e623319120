#!/usr/bin/env bash
# Compares the models of both stores, as PyPI's newest libraries have them, with what the service and the local stores know, and
# adds to each of them to see that the comparison fails.
#   Scripts/test-models.sh TILL
# With NEWEST=1 the libraries are those of this moment instead of the pinned ones.
set -euo pipefail

TILL=$(realpath "$1")
cd "$(dirname "$0")/.."
. Scripts/python-tools.sh
if [ -n "${NEWEST:-}" ]; then
    tools=$PWD/.build/newest-models
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check app-store-server-library google-api-python-client
else
    python_tools test-models appstoreserverlibrary googleapiclient
fi
export TILL PYTHONDONTWRITEBYTECODE=1
"$tools/bin/python" Tests/Models/models.py "$TILL"
exec "$tools/bin/python" -m unittest discover Tests/Models
