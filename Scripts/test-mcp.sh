#!/usr/bin/env bash
# Asks `till mcp` the questions of a support desk, with PyPI's client of the Model Context Protocol.
#   Scripts/test-mcp.sh TILL
set -euo pipefail

TILL=$(realpath "$1")
export TILL
cd "$(dirname "$0")/.."
. Scripts/python-tools.sh
python_tools test-mcp mcp
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" -m unittest discover Tests/MCP
