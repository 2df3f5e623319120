#!/usr/bin/env bash
# Installs what Till needs beside a Swift toolchain, on Debian, Ubuntu and macOS, and says nothing when it is there already.
set -euo pipefail

fail() {
    echo "till: $1" >&2
    exit 1
}

command -v swift >/dev/null || fail "no Swift toolchain is on the PATH: install Swift 6.2 or later from https://www.swift.org/install/."
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
[ "$(printf '%s\n' 6.2 "$version" | sort -V | head -n 1)" = 6.2 ] || fail "Swift $version is too old: Till needs 6.2 or later."

missing=()
if [ "$(uname)" = Darwin ]; then
    # Untested. SwiftPM finds Homebrew's libraries by the providers in Package.swift.
    command -v brew >/dev/null || fail "install Homebrew: Till needs its openssl@3, libpq and curl."
    for formula in openssl@3 libpq curl pkgconf; do
        brew list --formula "$formula" >/dev/null 2>&1 || missing+=("$formula")
    done
    [ ${#missing[@]} -eq 0 ] || brew install "${missing[@]}"
    exit 0
fi
for package in openssl curl libssl-dev libcurl4-openssl-dev libpq-dev libsqlite3-dev zlib1g-dev pkg-config; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get >/dev/null || fail "install OpenSSL 3, libcurl, SQLite 3 and libpq with their headers, and pkg-config; there is no apt-get here to do it."
"$(dirname "$0")/install-packages.sh" "${missing[@]}"
