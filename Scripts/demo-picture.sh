#!/usr/bin/env bash
# Draws the demo's terminal as an SVG.
#   Scripts/demo-picture.sh TILL FILE
set -euo pipefail
scripts=$(dirname "$0")
drawing=$(mktemp)
trap 'rm -f "$drawing"' EXIT
"$scripts/demo.sh" "$1" | awk -f "$scripts/demo-picture.awk" >"$drawing"
mkdir -p "$(dirname "$2")"
cp "$drawing" "$2"
chmod 644 "$2"
