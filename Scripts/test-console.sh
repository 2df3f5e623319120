#!/usr/bin/env bash
# Drives the console of `till demo` with Debian's Chromium, and compares its figures with those of another program.
#   Scripts/test-console.sh TILL [TEST …]
#   Scripts/test-console.sh TILL --pictures FOLDER
# A test is a name such as test_pages or test_roles.Roles.test_admin. With SCREENSHOTS=1, a screenshot of each page goes into
# .build/screenshots.
set -euo pipefail

TILL=$(realpath "$1")
export TILL
shift
# The demonstration has no settings but its own.
for name in $(compgen -e TILL_); do unset "$name"; done
root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/playwright
fail() {
    echo "test-console: $1" >&2
    exit 1
}
CHROMIUM=$(command -v chromium || true)
if [ -z "$CHROMIUM" ]; then
    [ "$(id -u)" = 0 ] || fail "Chromium is needed. Run \`apt-get install chromium fonts-nanum\`."
    "$root/Scripts/install-packages.sh" chromium fonts-nanum >"$root/.build/chromium.log" 2>&1 ||
        fail "Chromium could not be installed; see .build/chromium.log."
    CHROMIUM=$(command -v chromium)
fi
export CHROMIUM
if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c "import playwright" 2>/dev/null; then
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } ||
        fail "Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`."
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes \
        -r "$root/Scripts/requirements/test-console.txt"
fi
if [ "${1:-}" = --pictures ]; then
    PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" "$root/Tests/Browser/pictures.py" "$2"
fi
PYTHONDONTWRITEBYTECODE=1 exec "$tools/bin/python" "$root/Tests/Browser" "$@"
