#!/usr/bin/env bash
# Builds a container image with a program and the Debian libraries that it links, as an archive for `podman load` or `docker load`.
#   Scripts/image.sh FOLDER BINARY LICENCES [BASE]     LICENCES is the file with the licences of what is inside BINARY
# BASE is a folder with a Debian of this machine's release; without it, root makes one with debootstrap. Same commit, same program, same
# Debian packages, same bytes. Needs buildah, and installs nothing into the image but files: no shell, no package manager.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "image: $1" >&2
    exit 1
}

[ $# -ge 3 ] && [ $# -le 4 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/image.sh FOLDER BINARY LICENCES [BASE]\`."
[ -x "$2" ] || fail "\"$2\" is not a program. Run \`make release\`."
command -v buildah >/dev/null || fail "buildah is missing. Run \`apt-get install buildah\`."
[ "$(id -u)" -eq 0 ] || fail "only root can make the system that the image's files are from. Run \`sudo make release\`."
mkdir -p "$1"
folder=$(realpath "$1")
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) ||
        fail "there is no git commit here. Set SOURCE_DATE_EPOCH to the date of the sources in seconds."
fi
version=$("$2" --version)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
umask 022

# What an image has besides the program and its libraries. The health check is curl's. Receipts have dates in Apple's time zone.
also=(ca-certificates curl tzdata)
packages=$(Scripts/linked-packages.py "$2" | cut -d ' ' -f 1)
base=${4:-}
if [ -z "$base" ]; then
    . Scripts/debian.sh
    reason=$(debian_hindrance) || fail "$reason"
    base=$work/base
    echo "Making a $debian_codename …"
    make_debian "$base" "$(echo $packages "${also[@]}" | tr ' ' ',')" || fail "debootstrap has failed."
fi
install -m 0755 "$2" "$base/usr/bin/till"

tree=$work/root
mkdir -p "$tree"/{etc/till,run,usr/{bin,lib,lib64,sbin},var/{lib/{till,dpkg/status.d},tmp}}
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$tree/$name"; done
mkdir -m 1777 "$tree/tmp"
chmod 1777 "$tree/var/tmp"
chmod 0700 "$tree/var/lib/till"
# put PATH …: files of the base, with what links lead to.
put() {
    local path
    for path in "$@"; do
        # The base has one folder for libraries, and programs name two.
        path=$(chroot "$base" realpath --no-symlinks "$path" | sed 's|^/lib|/usr/lib|')
        mkdir -p "$tree$(dirname "$path")"
        cp -a --no-clobber "$base$path" "$tree$path"
        [ ! -L "$base$path" ] || put "$(chroot "$base" realpath "$path")"
    done
}
libraries=$(chroot "$base" ldd /usr/bin/till /usr/bin/curl)
! grep -q 'not found' <<<"$libraries" || fail "the base lacks libraries: $(grep 'not found' <<<"$libraries" | xargs)"
put /usr/bin/till /usr/bin/curl $(grep -o '/\S* (0x' <<<"$libraries" | cut -d ' ' -f 1 | LC_ALL=C sort -u)
put /etc/ssl /usr/lib/ssl /usr/share/ca-certificates /usr/share/zoneinfo /etc/nsswitch.conf /etc/os-release
echo 'root:x:0:0:root:/:/nonexistent
till:x:65532:65532:Till:/var/lib/till:/nonexistent' >"$tree/etc/passwd"
printf 'root:x:0:\ntill:x:65532:\n' >"$tree/etc/group"
install -m 0644 Scripts/package/till.json "$tree/etc/till/till.json"
# Scanners read there what an image without a package manager is made of.
Scripts/linked-packages.py "$2" "$base" "${also[@]}" >"$folder/till-image-$version.packages"
while read -r package _; do
    dpkg-query --admindir="$base/var/lib/dpkg" --status "$package" >"$tree/var/lib/dpkg/status.d/$package"
    put "/usr/share/doc/$package/copyright"
done <"$folder/till-image-$version.packages"
install -D -m 0644 "$3" "$tree/usr/share/doc/till/copyright"

mkdir "$work/context"
cp Packages/container/Containerfile "$work/context/"
chown -R --no-dereference 0:0 "$tree"
chown 65532:65532 "$tree/var/lib/till"
tar --create --file "$work/context/root.tar" --directory "$tree" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner .
archive=$folder/till-image-$version-$(uname -m).tar.gz
# Docker's format has the health check; OCI's has no field for it.
name=localhost/till:$version
buildah build --quiet --no-cache --timestamp "$SOURCE_DATE_EPOCH" --format docker --label "org.opencontainers.image.version=$version" \
    --label org.opencontainers.image.title=till --tag "$name" "$work/context" >/dev/null
buildah push --quiet "$name" "docker-archive:$work/image.tar:$name"
buildah rmi "$name" >/dev/null
# Leaves out the names of the container that buildah made the image in, which differ each time.
python3 - "$work/image.tar" "$version" <<'PYTHON' | gzip --best --no-name >"$archive"
import hashlib, io, json, sys, tarfile

source, version = tarfile.open(sys.argv[1]), sys.argv[2]
(image,) = json.load(source.extractfile("manifest.json"))
configuration = json.load(source.extractfile(image["Config"]))
configuration.pop("container", None)
for part in ("config", "container_config"):
    configuration.get(part, {}).pop("Hostname", None)
content = json.dumps(configuration, sort_keys=True).encode()
image |= {"Config": hashlib.sha256(content).hexdigest() + ".json", "RepoTags": [f"localhost/till:{version}", "localhost/till:latest"]}
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.GNU_FORMAT) as target:
    for layer in image["Layers"]:
        target.addfile(source.getmember(layer), source.extractfile(layer))
    for name, data in ((image["Config"], content), ("manifest.json", json.dumps([image]).encode())):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        target.addfile(member, io.BytesIO(data))
PYTHON
(cd "$folder" && sha256sum "$(basename "$archive")")
