#!/usr/bin/env bash
# Builds a Python wheel with a program, the libraries that it links, and the pytest fixtures of Packages/python.
#   Scripts/wheel.sh FOLDER BINARY [LICENCES]     LICENCES is the file with the licences of what is inside BINARY
# The wheel is for systems with a C library as new as this machine's. Same commit, same program, same libraries, same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "wheel: $1" >&2
    exit 1
}

[ $# -ge 2 ] && [ $# -le 3 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/wheel.sh FOLDER BINARY [LICENCES]\`."
[ -x "$2" ] || fail "\"$2\" is not a program. Run \`make build\`."
for need in ldd:libc-bin strip:binutils dpkg-query:dpkg; do
    command -v "${need%:*}" >/dev/null || fail "${need%:*} is missing. Run \`apt-get install ${need#*:}\`."
done
mkdir -p "$1"
folder=$(realpath "$1")
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) ||
        fail "there is no git commit here. Set SOURCE_DATE_EPOCH to the date of the sources in seconds."
fi
export SOURCE_DATE_EPOCH
. Scripts/python-tools.sh
python_tools wheel auditwheel setuptools wheel

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
mkdir -p "$work/python/src/till_iap/bin" "$work/python/src/till_iap/licenses"
cp Packages/python/{pyproject.toml,setup.py,README.md} "$work/python/"
cp Packages/python/src/till_iap/{*.py,py.typed} "$work/python/src/till_iap/"
install -m 0755 "$2" "$work/python/src/till_iap/bin/till"
strip "$work/python/src/till_iap/bin/till"
[ -z "${3:-}" ] || install -m 0644 "$3" "$work/python/src/till_iap/licenses/till"
packages=$(Scripts/linked-packages.py "$2")
while read -r package _; do
    install -m 0644 "/usr/share/doc/$package/copyright" "$work/python/src/till_iap/licenses/$package"
done <<<"$packages"
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --no-index --wheel-dir "$work/plain" "$work/python"
rm -f "$folder"/till_iap-*.whl
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$folder" "$work"/plain/*.whl >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "auditwheel cannot put the libraries into the wheel."
}
(cd "$folder" && sha256sum till_iap-*.whl)
