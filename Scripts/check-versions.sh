#!/usr/bin/env bash
# Compares the resolved Swift packages with the versions that Till was tested with. Differences do not fail the build.
#   Scripts/check-versions.sh             reports each difference on standard error
#   Scripts/check-versions.sh --update    records the resolved versions as the tested ones
set -euo pipefail
cd "$(dirname "$0")/.."
resolved=Package.resolved
tested=Scripts/tested-versions.txt

fail() {
    echo "check-versions: $1" >&2
    exit 1
}

# Prints a line "name version" for each resolved package. A package on a branch or a revision has the version "unversioned".
resolved_versions() {
    awk -F '"' '
    function finish() { if (name != "") print name, version }
    $2 == "identity" { finish(); name = $4; version = "unversioned" }
    # The version of the file format is a number without quotes.
    $2 == "version" && NF >= 5 { version = $4 }
    END { finish() }' "$resolved" | LC_ALL=C sort
}

[ -f "$resolved" ] || fail "$resolved does not exist. Run \`swift package resolve\`."
versions=$(resolved_versions)
[ -n "$versions" ] || fail "$resolved lists no packages. Delete it, then run \`swift package resolve\`."

case "$#:${1:-}" in
0:)
    [ -f "$tested" ] || fail "$tested does not exist. Run \`Scripts/check-versions.sh --update\`."
    printf '%s\n' "$versions" | awk -v list="$tested" '
    BEGIN { while ((getline line < list) > 0) if (line !~ /^#/ && split(line, field, " ") == 2) tested[field[1]] = field[2] }
    !($1 in tested) { print $1 " " $2 " is resolved; Till was tested without this package."; next }
    tested[$1] != $2 { print $1 " " $2 " is resolved; Till was tested with " tested[$1] "." }' >&2
    ;;
1:--update)
    {
        echo "# The Swift package versions that Till was tested with, including transitive dependencies."
        echo "# To refresh this list, run the tests, then \`Scripts/check-versions.sh --update\`."
        printf '%s\n' "$versions"
    } >"$tested"
    ;;
*)
    fail "the arguments \"$*\" are not valid. Run \`Scripts/check-versions.sh\` or \`Scripts/check-versions.sh --update\`."
    ;;
esac
