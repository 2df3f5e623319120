#!/usr/bin/env bash
# Runs Google's own clients for Python, Go and Ruby, unmodified, against a local Google Play. The answers to Python are held against the
# schemas of Google's discovery document.
#   Scripts/test-google.sh TILL
# Python's client and Go come from PyPI, the clients for Go and Ruby from Debian; those are skipped where they are not installed and
# cannot be.
set -euo pipefail

TILL=$(realpath "$1")
export TILL PYTHONDONTWRITEBYTECODE=1
root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/google-api-python-client
if [ ! -x "$tools/bin/go" ] || ! "$tools/bin/python" -c "import googleapiclient, google.auth, cryptography" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } || {
        echo "test-google: Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`." >&2
        exit 1
    }
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$root/Scripts/requirements/test-google.txt"
fi
passed=0
failed=()
skipped=0
# Runs the tests of a language: try LANGUAGE COMMAND …
try() {
    printf '\n== %s\n' "$1"
    if "${@:2}"; then passed=$((passed + 1)); else failed+=("$1"); fi
}
# Succeeds if a package of Debian's is there, or can be installed: installed PACKAGE FILE
installed() {
    [ -e "$2" ] || { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && "$root/Scripts/install-packages.sh" "$1"; } || {
        printf '\nskipped: %s is not installed. Run `apt-get install %s`.\n' "$1" "$1"
        skipped=$((skipped + 1))
        return 1
    }
}
python=("$tools/bin/python" -W ignore::ResourceWarning)

try Python "${python[@]}" -m unittest discover "$root/Tests/Google"
packages=/usr/share/gocode
if installed golang-google-api-dev "$packages/src/google.golang.org/api/androidpublisher/v3"; then
    # Debian's packages have the layout of a GOPATH.
    try Go env CGO_ENABLED=0 GO111MODULE=off GOCACHE="$root/.build/go-cache" GOPATH="$packages" GOTOOLCHAIN=local \
        "${python[@]}" "$root/Tests/Google/with_play.py" "$tools/bin/go" -C "$root/Tests/Google/Go" test -count=1 -vet=all .
fi
if installed ruby-google-api-client /usr/share/doc/ruby-google-api-client; then
    # Ruby warns of the client's own code.
    try Ruby "${python[@]}" "$root/Tests/Google/with_play.py" ruby -W0 "$root/Tests/Google/Ruby/test_publisher.rb"
fi

[ ${#failed[@]} -eq 0 ] || echo "Failures: ${failed[*]}" >&2
printf '\n%s passed, %s failed, %s skipped\n' "$passed" "${#failed[@]}" "$skipped"
[ ${#failed[@]} -eq 0 ]
