#!/usr/bin/env bash
# Loads the image into podman, plays a subscription with it as a user without rights and with a read-only root, and asks the health check.
#   Scripts/test-image.sh FOLDER     the folder that Scripts/image.sh has filled
# Without root or podman, it reports itself as skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "test-image: $1" >&2
    exit 1
}
skip() {
    echo "test-image: skipped: $1"
    exit 0
}
say() { printf '\n== %s\n' "$1"; }

[ $# -eq 1 ] || fail "the arguments \"$*\" are not valid. Run \`Scripts/test-image.sh FOLDER\`."
archive=$(find "$1" -maxdepth 1 -name 'till-image-*.tar.gz')
[ -n "$archive" ] || fail "\"$1\" has no image. Run \`make release\`."
[ "$(id -u)" -eq 0 ] || skip "only root can give the image's user a folder."
command -v podman >/dev/null || skip "podman is missing. Run \`apt-get install podman runc\`."

work=$(mktemp -d)
# Containers, images and settings of their own; the engine's others stay as they are.
podman=(podman --root "$work/storage" --runroot "$work/run")
# crun does not start on machines with both versions of control groups.
! command -v runc >/dev/null || podman+=(--runtime runc)
cleanup() {
    "${podman[@]}" rm --all --force --time 5 >/dev/null 2>&1 || true
    "${podman[@]}" rmi --all --force >/dev/null 2>&1 || true
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT
chmod 755 "$work"
# Nothing of the container's root can be written, not even /tmp. The engine's own limits can be above this machine's.
options=(--pull never --read-only --read-only-tmpfs=false --cap-drop all --security-opt no-new-privileges --network host
    --ulimit nofile=4096:4096 --ulimit nproc=4096:4096)
image=localhost/till

say "Loading $(basename "$archive")"
gunzip --stdout "$archive" | "${podman[@]}" load --quiet
version=$("${podman[@]}" run --rm --no-healthcheck "${options[@]}" $image --version)
[[ $(basename "$archive") = till-image-$version-* ]] || fail "\`till --version\` prints $version in $(basename "$archive")."
[[ $("${podman[@]}" inspect --format '{{.Config.User}}' $image) =~ ^[1-9][0-9]*:[0-9]+$ ]] || fail "the image's user should be a number."
"${podman[@]}" run --rm --no-healthcheck --entrypoint /bin/sh "${options[@]}" $image -c true 2>/dev/null && fail "the image should have no shell."

say "A subscription at both stores"
mkdir "$work/play"
# The script, which is root's, writes here, too.
chown 65532:65532 "$work/play"
Scripts/play-subscriptions.sh "$work/play" "${podman[@]}" run --rm --interactive --no-healthcheck "${options[@]}" \
    --volume "$work/play:$work/play" --env TILL_DATA --env TILL_CATALOG --env TILL_API_KEY $image

say "The health check"
# The data have the path of the catalog.
"${podman[@]}" run --detach --name till "${options[@]}" --volume "$work/play/data:/var/lib/till" \
    --volume "$work/play/Catalog:$work/play/Catalog:ro" $image \
    serve --store --play --play-port 0 --log-level warning >/dev/null
end=$((SECONDS + 30))
until "${podman[@]}" healthcheck run till >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "the container should be healthy within 30 s: $("${podman[@]}" healthcheck run till 2>&1; "${podman[@]}" logs till 2>&1)"
    sleep 0.2
done
"${podman[@]}" stop --time 20 till >/dev/null
[ "$("${podman[@]}" inspect --format '{{.State.ExitCode}}' till)" -eq 0 ] || fail "the service should end by itself when it is stopped."

printf '\nThe image works. (%s s)\n' "$SECONDS"
