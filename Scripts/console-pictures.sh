#!/usr/bin/env bash
# Puts six screenshots of the console into the documentation, each in 64 colours.
#   Scripts/console-pictures.sh SCREENSHOTS FOLDER
set -euo pipefail
fail() {
    echo "console-pictures: $1" >&2
    exit 1
}
[ -d "$1/pictures" ] || fail "$1/pictures does not exist. Run \`make test-console\` first."
mkdir -p "$2"
for picture in overview customer figure product local-store health; do
    python3 "$(dirname "$0")/png-colours.py" "$1/pictures/$picture.png" "$2/$picture.png"
done
