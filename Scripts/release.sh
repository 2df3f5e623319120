#!/usr/bin/env bash
# Makes everything that is installed: the Debian package, the tarball, the wheel, the container image, their bills of materials and sums.
#   Scripts/release.sh FOLDER             links till
#   Scripts/release.sh FOLDER BINARY      packs BINARY instead, which has the Swift libraries inside
# Run it as root, for the image. Same commit, same program, same Debian packages: same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "release: $1" >&2
    exit 1
}

[ $# -ge 1 ] && [ $# -le 2 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/release.sh FOLDER [BINARY]\`."
[ "$(id -u)" -eq 0 ] || fail "only root can make the container image. Run \`sudo make release\`, or \`make package\` and \`make wheel\`."
command -v buildah >/dev/null || fail "buildah is missing. Run \`apt-get install buildah\`."
[ -f Package.resolved ] || fail "Package.resolved does not exist, and the bill of materials is read from it. Run \`swift package resolve\`."
mkdir -p "$1"
folder=$(realpath "$1")
[ -z "$(ls -A "$folder")" ] || fail "\"$1\" is not empty. Delete it first, so that the sums name one release alone."
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

Scripts/package.sh "$@"
tarball=$(basename "$folder"/till-*-linux-*.tar.gz)
tar --extract --gzip --file "$folder/$tarball" --directory "$work" --strip-components 1
program=$work/bin/till
licences=$work/share/doc/till/copyright
version=$("$program" --version)
Scripts/wheel.sh "$folder" "$program" "$licences"
Scripts/image.sh "$folder" "$program" "$licences"

swift=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
Scripts/linked-checkouts.py till >"$work/checkouts"
Scripts/linked-packages.py "$program" >"$work/packages"
Scripts/sbom.py till "$version" "$swift" "$work/checkouts" "$work/packages" >"$folder/till-$version.cdx.json"
mv "$folder/till-image-$version.packages" "$work/image-packages"
Scripts/sbom.py till-image "$version" "$swift" "$work/checkouts" "$work/image-packages" >"$folder/till-image-$version.cdx.json"
(cd "$folder" && LC_ALL=C sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && chmod 644 SHA256SUMS)
printf '\nMade in %s s:\n' "$SECONDS"
cat "$folder/SHA256SUMS"
