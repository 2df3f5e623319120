#!/usr/bin/env bash
# Installs packages of Debian's. Targets of `make` that run at the same time take turns.
# Usage: Scripts/install-packages.sh PACKAGE…
set -euo pipefail

fail() {
    echo "till: $1" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "install $*; there is no apt-get here to do it."
root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "run this as root, or install sudo: $* have to be installed."
    root=(sudo)
fi
build=$(dirname "$0")/../.build
mkdir -p "$build"
exec 9>"$build/install.lock"
flock 9
echo "Installing $* …"
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
