# Node, for what needs it: sourced by bash, in the folder of the repository.

# Prints why there is no Node 18 or later here, and fails; as root, installs Node if it is missing.
node_hindrance() {
    if ! command -v node >/dev/null; then
        [ "$(id -u)" -eq 0 ] || { echo "Node 18 or later is needed. Run \`apt-get install nodejs\`." && return 1; }
        Scripts/install-packages.sh nodejs >.build/nodejs.log 2>&1 ||
            { echo "Node could not be installed; see .build/nodejs.log." && return 1; }
    fi
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 18 ? 1 : 0)' ||
        { echo "Node 18 or later is needed." && return 1; }
}
