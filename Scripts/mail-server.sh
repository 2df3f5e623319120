#!/usr/bin/env bash
# Installs the mail server (aiosmtpd) that tests send mails to; without it, these tests are skipped.
set -euo pipefail

root=$(realpath "$(dirname "$0")/..")
tools=$root/.build/mail-server
"$tools/bin/python" -c "import aiosmtpd" 2>/dev/null && exit 0
{ python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' && python3 -m venv "$tools"; } || {
    echo "mail-server: Python 3.10 or later and its venv module are needed. Run \`apt-get install python3-venv\`." >&2
    exit 1
}
"$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$root/Scripts/requirements/mail-server.txt"
