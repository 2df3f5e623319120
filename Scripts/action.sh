#!/usr/bin/env bash
# The steps of action.yml.
#   Scripts/action.sh install     installs the program of WHEEL, else of the wheel at the address RELEASE, after its sum was checked
#   Scripts/action.sh start       starts `till COMMAND`, with the catalog CATALOG, and waits until it listens
set -euo pipefail

fail() {
    echo "::error::$1"
    exit 1
}
fetch() { curl --silent --show-error --fail --location --retry 3 --output "$2" "$1" || fail "\"$1\" cannot be read."; }

install_program() {
    local folder=$RUNNER_TEMP/till sums wheel name
    mkdir -p "$folder"
    wheel=$WHEEL
    if [ -z "$wheel" ]; then
        fetch "$RELEASE/SHA256SUMS" "$folder/SHA256SUMS"
        name=$(sed -n "s/.* \(till_iap-.*_$(uname -m)\.whl\)$/\1/p" "$folder/SHA256SUMS")
        [ -n "$name" ] || fail "the release has no wheel for $(uname -m). Name another one with the input \"wheel\"."
        wheel=$RELEASE/$name
    fi
    name=$(basename "$wheel")
    case $wheel in
    https://*)
        fetch "$wheel" "$folder/$name"
        fetch "${wheel%/*}/SHA256SUMS" "$folder/SHA256SUMS"
        ;;
    *)
        [ -f "$wheel" ] || fail "\"$wheel\" does not exist. The input \"wheel\" is a file or an https address."
        sums=$(dirname "$wheel")/SHA256SUMS
        [ -f "$sums" ] || fail "\"$sums\" does not exist. Put it beside the wheel."
        cp "$wheel" "$sums" "$folder/"
        ;;
    esac
    (cd "$folder" && grep " $name\$" SHA256SUMS | sha256sum --check --strict) || fail "\"$name\" is not what SHA256SUMS says."
    # A wheel is a ZIP file. The program finds its libraries beside itself.
    python3 -m zipfile --extract "$folder/$name" "$folder"
    chmod +x "$folder/till_iap/bin/till"
    "$folder/till_iap/bin/till" --version
    echo "$folder/till_iap/bin" >>"$GITHUB_PATH"
}

start() {
    [ -n "$COMMAND" ] || exit 0
    local log=$RUNNER_TEMP/till/server.log url play key
    export TILL_DATA=$RUNNER_TEMP/till/data TILL_SANDBOX_KEY
    TILL_SANDBOX_KEY=$(python3 -c 'import secrets; print(secrets.token_hex(16))')
    if [ -n "$CATALOG" ]; then
        TILL_CATALOG=$(realpath "$CATALOG")
        export TILL_CATALOG
    fi
    # COMMAND is words with options.
    # shellcheck disable=SC2086
    nohup setsid till $COMMAND >"$log" 2>&1 </dev/null &
    for _ in $(seq 300); do
        url=$(sed -n 's/^Listening on //p' "$log")
        [ -z "$url" ] || break
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    [ -n "$url" ] || fail "\`till $COMMAND\` has not started: $(tr '\n' ' ' <"$log")"
    play=$(sed -n 's/^Google Play: //p' "$log")
    echo "::add-mask::$TILL_SANDBOX_KEY"
    {
        echo "TILL_DATA=$TILL_DATA"
        echo "TILL_SANDBOX_KEY=$TILL_SANDBOX_KEY"
        [ -z "$CATALOG" ] || echo "TILL_CATALOG=$TILL_CATALOG"
        echo "TILL_URL=$url"
        [ -z "$play" ] || echo "TILL_PLAY_URL=$play"
    } >>"$GITHUB_ENV"
    if [[ $COMMAND = serve* ]]; then
        key=$(till keys make "the job" 2>/dev/null)
        echo "::add-mask::$key"
        echo "TILL_API_KEY=$key" >>"$GITHUB_ENV"
    fi
    printf 'url=%s\nplay-url=%s\n' "$url" "$play" >>"$GITHUB_OUTPUT"
    cat "$log"
}

case $* in
install) install_program ;;
start) start ;;
*) fail "the arguments \"$*\" are not valid. Use action.yml." ;;
esac
