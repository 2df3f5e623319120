#!/usr/bin/env bash
# Tries everything that Scripts/release.sh has made, each where nothing else of Till is, then makes it once more and compares the bytes.
#   Scripts/test-release.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "test-release: $1" >&2
    exit 1
}
[ $# -eq 1 ] && [ -f "$1/SHA256SUMS" ] || fail "\"${1:-}\" has no release. Run \`make release\`."
(cd "$1" && sha256sum --check --quiet SHA256SUMS)

printf '\n==== The Debian package and the tarball\n'
Scripts/test-package.sh "$1"
printf '\n==== The wheel\n'
Scripts/test-wheel.sh "$1"
printf '\n==== The action\n'
. Scripts/python-tools.sh
python_tools test-action yaml
"$tools/bin/python" Scripts/test-action.py "$1"/till_iap-*.whl
printf '\n==== The image\n'
Scripts/test-image.sh "$1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --extract --gzip --file "$1"/till-*-linux-*.tar.gz --directory "$work" --strip-components 1
printf '\n==== The documents, with the program of the tarball\n'
Scripts/test-documents.py "$work/bin/till"

printf '\n==== The same bytes\n'
Scripts/release.sh "$work/again" "$work/bin/till" >"$work/log" 2>&1 || { cat "$work/log" >&2 && fail "the release cannot be made again."; }
diff "$1/SHA256SUMS" "$work/again/SHA256SUMS" || fail "the same commit and program should have the same bytes."
printf '\nThe release works. (%s s)\n' "$SECONDS"
