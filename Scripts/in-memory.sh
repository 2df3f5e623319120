#!/usr/bin/env bash
# Runs a command with its temporary files in memory, where the system has room for them: tests then do not wait for a disk.
# Usage: Scripts/in-memory.sh COMMAND [ARGUMENT …]
set -euo pipefail
memory=/dev/shm
needed=$((2 << 20)) # KiB
if [ -d "$memory" ] && [ -w "$memory" ] && [ "$(df -Pk "$memory" | awk 'END { print $4 }')" -ge "$needed" ]; then
    TMPDIR=$(mktemp -d "$memory/till.XXXXXX")
    # As /tmp is, for tests that run a program as another user.
    chmod 1777 "$TMPDIR"
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi
"$@"
