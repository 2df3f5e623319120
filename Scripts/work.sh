# The folder and the end of a script that starts processes: sourced after Scripts/postgres.sh, if that is needed.
# Sets `work`. At the end, all processes in the background and the PostgreSQL servers end, and the folder is removed.
work=$(mktemp -d)
finish() {
    [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true
    [ -z "${postgres_folder:-}" ] || stop_postgres
    rm -rf "$work"
}
trap finish EXIT
# fail MESSAGE: ends the script.
fail() {
    echo "$(basename "$0" .sh): $1" >&2
    exit 1
}
