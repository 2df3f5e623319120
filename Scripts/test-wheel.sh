#!/usr/bin/env bash
# Installs the wheel in a fresh virtual environment, plays a subscription there, and runs its fixtures in a suite with eight workers.
#   Scripts/test-wheel.sh FOLDER     the folder that Scripts/wheel.sh has filled
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "test-wheel: $1" >&2
    exit 1
}
say() { printf '\n== %s\n' "$1"; }

[ $# -eq 1 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/test-wheel.sh FOLDER\`."
wheel=$(find "$1" -maxdepth 1 -name 'till_iap-*.whl')
[ -n "$wheel" ] || fail "\"$1\" has no wheel. Run \`make wheel\`."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. Scripts/python-tools.sh
python_tools test-wheel pytest xdist mypy

say "Installing $(basename "$wheel")"
python3 -m venv "$work/fresh"
"$work/fresh/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
# The suite has pytest from the pinned packages.
echo "$("$tools/bin/python" -c 'import site; print(site.getsitepackages()[0])')" \
    >"$("$work/fresh/bin/python" -c 'import site; print(site.getsitepackages()[0])')/test-wheel.pth"
package=$("$work/fresh/bin/python" -c 'import pathlib, till_iap; print(pathlib.Path(till_iap.__file__).parent)')
version=$(basename "$wheel" | cut -d - -f 2)
[ "$("$work/fresh/bin/till" --version)" = "$version" ] || fail "\`till --version\` should print $version."
# These few are everywhere where Python is, by the rules for such wheels (PEP 600).
outside=$(ldd "$package/bin/till" | awk '$3 ~ /^\// && $3 !~ /\/till_iap\.libs\// && $1 !~ /^lib(c|m|resolv|gcc_s|stdc\+\+|z)\.so/ { print $3 }' | xargs)
[ -z "$outside" ] || fail "the program should bring all its libraries. These are the machine's: $outside"

say "A subscription at both stores"
mkdir "$work/play"
env -i PATH=/usr/bin:/bin HOME="$work" Scripts/play-subscriptions.sh "$work/play" "$work/fresh/bin/till"

say "The fixtures, with eight workers"
export PYTHONDONTWRITEBYTECODE=1
"$tools/bin/mypy" --strict --cache-dir "$work/mypy" --python-executable "$work/fresh/bin/python" Packages/python/src Packages/python/tests
"$work/fresh/bin/python" -m pytest -q -p no:cacheprovider --numprocesses 8 Packages/python/tests
