#!/usr/bin/env bash
# Reads the webhooks of a service beside local stores with the libraries of their specifications, unmodified: standardwebhooks and
# cloudevents.
#   Scripts/test-webhooks.sh TILL
set -euo pipefail

TILL=$(realpath "$1")
export TILL
cd "$(dirname "$0")/.."
. Scripts/python-tools.sh
python_tools test-webhooks cloudevents.core standardwebhooks
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -m unittest discover Tests/WebhookLibraries
