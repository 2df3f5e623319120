#!/usr/bin/env bash
# Builds a Debian package and a tarball of the release build, with the Swift libraries inside the program.
#   Scripts/package.sh FOLDER             links till and writes both packages to FOLDER
#   Scripts/package.sh FOLDER BINARY      packs BINARY instead
# The program links the shared libraries of this machine's release (OpenSSL, libcurl, libpq, SQLite). Same commit, same program,
# same bytes: dates come from SOURCE_DATE_EPOCH, else from the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "package: $1" >&2
    exit 1
}

[ $# -ge 1 ] && [ $# -le 2 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/package.sh FOLDER [BINARY]\`."
for need in dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev strip:binutils readelf:binutils python3:python3 gzip:gzip; do
    command -v "${need%:*}" >/dev/null || fail "${need%:*} is missing. Run \`apt-get install ${need#*:}\`."
done
mkdir -p "$1"
folder=$(realpath "$1")
if [ -d .git ] || [ -f .git ]; then
    commit=$(git log -1 --format=%h)
    : "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}" "${DEBEMAIL:=$(git log -1 --format='%an <%ae>')}"
fi
[ -n "${SOURCE_DATE_EPOCH:-}" ] || fail "there is no git commit here. Set SOURCE_DATE_EPOCH to the date of the sources in seconds."
[ -n "${DEBEMAIL:-}" ] || fail "there is no git commit here. Set DEBEMAIL to the packager, as \"NAME <ADDRESS>\"."
export SOURCE_DATE_EPOCH

binary=${2:-}
if [ -z "$binary" ]; then
    # Only the link differs from `make build`, which links its own program again afterwards.
    export TILL_STATIC_STDLIB=1
    Scripts/swift-build.sh release --product till --disable-local-rpath
    binary=.build/release/till
fi
[ -x "$binary" ] || fail "\"$binary\" is not a program. Run \`make package\`."
shared=$(readelf --dynamic "$binary" | sed -n 's/.*(NEEDED).*\[\(lib\(swift\|_\?Foundation\|dispatch\|BlocksRuntime\).*\)\]/\1/p' | xargs)
[ -z "$shared" ] || fail "\"$binary\" needs shared Swift libraries ($shared). Run \`make package\`, which links them into it."
version=$("$binary" --version) || fail "\"$binary\" does not run here."
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "\"$binary --version\" prints \"$version\"; it must be a version like 1.2.3."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
tree=$work/till
put() { install -D -m "${3:-0644}" "$1" "$tree/$2"; }
# put_folder FOLDER TARGET: the files of a folder, without its links and modes.
put_folder() {
    local file
    (cd "$1" && find . -type f -print) | while IFS= read -r file; do put "$1/$file" "$2/$file"; done
}
# put_text TARGET: standard input, compressed if TARGET ends so.
put_text() {
    mkdir -p "$(dirname "$tree/$1")"
    case $1 in
    *.gz) gzip --best --no-name ;;
    *) cat ;;
    esac >"$tree/$1"
}
# The unit, for a program that is installed elsewhere: unit PROGRAM
unit() {
    grep -q '^ExecStart=/opt/till/till serve ' Documentation/till.service ||
        fail "Documentation/till.service does not start \"/opt/till/till serve\". Adapt Scripts/package.sh."
    sed "s|^ExecStart=[^ ]*|ExecStart=$1|" Documentation/till.service
}
# The licences of everything inside the program, each text once.
copyright() {
    local checkouts=.build/checkouts packages toolchain file name sum
    packages=$(Scripts/linked-checkouts.py till)
    toolchain=$(dirname "$(dirname "$(realpath "$(command -v swift)")")")
    if [ -f LICENSE ]; then cat LICENSE; else
        echo "Copyright: the authors of Till. The sources grant no licence; ask the authors before you distribute this package."
    fi
    printf '\nThe program contains Swift'\''s libraries and code of these packages, under these licences.\n'
    : >"$work/licences"
    for file in "$toolchain"/share/swift/LICENSE.txt $(printf "$checkouts/%s/LICENSE*\n" $packages); do
        [ -f "$file" ] || continue
        name=$(basename "$(dirname "$file")")
        sum=$(sha256sum <"$file" | cut -d ' ' -f 1)
        printf '%s %s %s\n' "$sum" "$name" "$file" >>"$work/licences"
    done
    for sum in $(cut -d ' ' -f 1 "$work/licences" | awk '!seen[$0]++'); do
        printf '\n======== %s\n\n' "$(awk -v sum="$sum" '$1 == sum { printf "%s%s", comma, $2; comma = ", " }' "$work/licences")"
        cat "$(awk -v sum="$sum" '$1 == sum { print $3; exit }' "$work/licences")"
    done
    for file in $(printf "$checkouts/%s/NOTICE*\n" $packages); do
        [ -f "$file" ] || continue
        printf '\n======== Notices of %s\n\n' "$(basename "$(dirname "$file")")"
        cat "$file"
    done
}

put "$binary" usr/bin/till 0755
strip "$tree/usr/bin/till"
put_folder Products usr/share/till/Products
put Keys/README.md usr/share/till/Keys/README.md
put README.md usr/share/doc/till/README.md
put Keys/README.md usr/share/doc/till/Keys/README.md
put_folder Documentation usr/share/doc/till/Documentation
copyright >"$work/copyright"
put "$work/copyright" usr/share/doc/till/copyright
put_text usr/share/doc/till/changelog.gz <<TEXT
till ($version) unstable; urgency=medium

  * Version $version${commit:+, built from the commit $commit}.

 -- $DEBEMAIL  $(LC_ALL=C date --utc --date="@$SOURCE_DATE_EPOCH" --rfc-email)
TEXT
mkdir "$work/pages"
"$binary" --experimental-dump-help |
    python3 Scripts/man-page.py "$version" "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F)" "$work/pages"
for page in "$work"/pages/*; do put_text "usr/share/man/man1/$(basename "$page").gz" <"$page"; done
"$binary" --generate-completion-script bash | put_text usr/share/bash-completion/completions/till
"$binary" --generate-completion-script zsh | put_text usr/share/zsh/vendor-completions/_till
"$binary" --generate-completion-script fish | put_text usr/share/fish/vendor_completions.d/till.fish

# The tarball has the same files under one folder; its place is /opt/till.
name=till-$version-linux-$(uname -m)
cp -R "$tree/usr" "$work/$name"
mkdir -p "$work/$name/etc/till" "$work/$name/lib/systemd/system"
cp Scripts/package/till.json "$work/$name/etc/till/till.json"
unit /opt/till/bin/till >"$work/$name/lib/systemd/system/till.service"
tar --create --directory "$work" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX "$name" | gzip --best --no-name >"$folder/$name.tar.gz"

unit /usr/bin/till | sed 's|^Description=.*|&\nDocumentation=man:till(1) man:till-serve(1)|' |
    put_text usr/lib/systemd/system/till.service
put Scripts/package/till.json etc/till/till.json 0640
mkdir "$tree/DEBIAN" "$work/debian"
for script in postinst prerm postrm; do install -m 0755 "Scripts/package/$script" "$tree/DEBIAN/$script"; done
echo /etc/till/till.json >"$tree/DEBIAN/conffiles"
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort --zero-terminated | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
architecture=$(dpkg --print-architecture)
printf 'Source: till\n\nPackage: till\nArchitecture: %s\n' "$architecture" >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps --warnings=1 -O -e"$tree/usr/bin/till" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || fail "dpkg-shlibdeps finds no packages for the libraries of \"$binary\"."
# procps has the kill with which the unit reloads. tzdata: receipts have dates in Apple's own time zone.
cat >"$tree/DEBIAN/control" <<TEXT
Package: till
Version: $version
Architecture: $architecture
Maintainer: $DEBEMAIL
Installed-Size: $(find "$tree" -path "$tree/DEBIAN" -prune -o -type f -printf '%s\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
Depends: adduser, procps, tzdata, $depends
Recommends: ca-certificates
Section: web
Priority: optional
Description: in-app purchase server, with a local App Store for tests
 Till takes proof of a purchase, verifies its signature, and grants the item to
 the user once and for good. To develop and test without Apple, it includes a
 local App Store that Apple's own libraries talk to unmodified.
 .
 The package starts no service: the file Documentation/Installation.md in
 /usr/share/doc/till has the steps.
TEXT
deb=$folder/till_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$deb" >/dev/null

echo "Built:"
(cd "$folder" && sha256sum "$(basename "$deb")" "$name.tar.gz")
