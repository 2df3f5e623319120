#!/usr/bin/env bash
# Installs the packages in a fresh system of this machine's release, runs the demo there, and checks the unit and the removal.
#   Scripts/test-package.sh FOLDER     the folder that Scripts/package.sh has filled
# Needs root and debootstrap, which it installs with apt-get. Elsewhere it reports itself as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# The highest exposure that `systemd-analyze security` may find, in tenths.
threshold=13

fail() {
    echo "test-package: $1" >&2
    exit 1
}
skip() {
    echo "test-package: skipped: $1"
    exit 0
}
say() { printf '\n== %s\n' "$1"; }

[ $# -eq 1 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/test-package.sh FOLDER\`."
newest() { find "$1" -maxdepth 1 -name "$2" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-; }
deb=$(newest "$1" 'till_*.deb')
tarball=$(newest "$1" 'till-*-linux-*.tar.gz')
[ -n "$deb" ] && [ -n "$tarball" ] || fail "\"$1\" has no packages. Run \`make package\`."

. Scripts/debian.sh
reason=$(debian_hindrance) || skip "$reason"

root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root"
# Runs a command in the system, with processes and mounts of its own.
inside() {
    unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" chroot "$root" \
        /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"
}
as() {
    local user=$1
    shift
    inside runuser -u "$user" -- "$@"
}
is_at() { [ "$(inside stat --format '%a %U:%G' "$1")" = "$2" ] || fail "$1 should be $2: $(inside stat --format '%a %U:%G' "$1")"; }
present() { [ -e "$root$1" ] || [ -L "$root$1" ] || fail "$1 is missing $2."; }
absent() { [ ! -e "$root$1" ] && [ ! -L "$root$1" ] || fail "$1 is still there $2."; }

say "A fresh $debian_codename, with what the package depends on"
# dpkg itself checks afterwards that these are enough. The rest is for the demo and the checks. A crash may lose this system, so
# dpkg need not wait for the disk.
mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
make_debian "$root" "$(debian_dependencies "$deb"),curl,man-db,openssl,systemd" || fail "debootstrap has failed."

say "Installing $(basename "$deb")"
cp "$deb" "$root/tmp/till.deb"
inside dpkg --install /tmp/till.deb
version=$(dpkg-deb --field "$deb" Version)
[ "$(inside till --version)" = "$version" ] || fail "\`till --version\` should print $version."
is_at /etc/till/till.json "640 root:till"
is_at /var/lib/till "700 till:till"
inside man --where till till-serve till-store-keys
warnings=$(inside man --warnings --encoding=UTF-8 till-serve 2>&1 >/dev/null)
[ -z "$warnings" ] || fail "the manual page has mistakes: $warnings"
inside bash -c '. /usr/share/bash-completion/completions/till && complete -p till' >/dev/null

say "The demo, as a user without rights"
mkdir "$root/tmp/demo"
cp Scripts/demo.sh Scripts/issuer.sh "$root/tmp/demo/"
as nobody bash /tmp/demo/demo.sh /usr/bin/till | tail -n 3

say "A subscription at both stores"
mkdir "$root/tmp/subscriptions"
cp Scripts/play-subscriptions.sh "$root/tmp/"
inside chown nobody /tmp/subscriptions
as nobody bash /tmp/play-subscriptions.sh /tmp/subscriptions /usr/bin/till

say "The service's own commands"
as till till keys make shop --data /var/lib/till >/dev/null
present /var/lib/till/service/ledger.sqlite "after \`till keys make\`"
as till till serve --config /etc/till/till.json --print-configuration | grep -q /etc/till/Products ||
    fail "the configuration should name the catalog /etc/till/Products."
as nobody cat /etc/till/till.json 2>/dev/null && fail "anybody can read /etc/till/till.json."
cp -R "$root/usr/share/till/Products" "$root/etc/till/Products"
refusal=$(as till till serve --config /etc/till/till.json 2>&1) && fail "the service should not start without Apple's certificates."
grep -q "till trust add" <<<"$refusal" || fail "the service should ask for Apple's certificates. It says: $refusal"
rm -r "$root/etc/till/Products"
inside till products | grep -q "Sturdy Sprout" || fail "the sample catalog should be used without another."

say "The unit"
inside systemd-analyze verify till.service
inside systemd-analyze security --offline=true --threshold=$threshold --no-pager till.service | tail -n 1
inside systemctl enable till.service

say "Installing it again, removing it, purging it"
echo >>"$root/etc/till/till.json"
chmod 600 "$root/etc/till/till.json"
cp "$root/etc/till/till.json" "$root/tmp/till.json"
inside dpkg --install /tmp/till.deb
cmp "$root/etc/till/till.json" "$root/tmp/till.json" || fail "an upgrade should keep the configuration."
is_at /etc/till/till.json "600 root:till"
present /etc/systemd/system/multi-user.target.wants/till.service "after an upgrade"
inside dpkg --remove till
absent /usr/bin/till "after the removal"
absent /etc/systemd/system/multi-user.target.wants/till.service "after the removal"
present /etc/till/till.json "after the removal"
present /var/lib/till/service/ledger.sqlite "after the removal"
inside dpkg --purge till
absent /etc/till "after the purge"
present /var/lib/till/service/ledger.sqlite "after the purge"
is_at /var/lib/till "700 till:till"

say "The tarball"
tar --extract --gzip --file "$tarball" --directory "$root/opt" --no-same-owner
mv "$root/opt/$(basename "$tarball" .tar.gz)" "$root/opt/till"
inside /opt/till/bin/till products | grep -q "Sturdy Sprout" || fail "the tarball's catalog should be used."
mkdir "$root/tmp/tarball"
inside chown nobody /tmp/tarball
as nobody bash /tmp/play-subscriptions.sh /tmp/tarball /opt/till/bin/till
cp "$root/opt/till/lib/systemd/system/till.service" "$root/etc/systemd/system/"
inside systemd-analyze verify till.service

printf '\nThe packages work. (%s s)\n' "$SECONDS"
