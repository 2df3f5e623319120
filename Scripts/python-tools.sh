# The Python tools of a script, in an environment of their own: sourced by what needs some.
# python_tools NAME MODULE …: sets `tools` to an environment with Scripts/requirements/NAME.txt, whose MODULEs can be imported.
python_tools() {
    local name=$1 modules
    shift
    modules=$*
    tools=$PWD/.build/$name
    [ -x "$tools/bin/python" ] && "$tools/bin/python" -c "import ${modules// /, }" 2>/dev/null && return
    { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' && python3 -m venv "$tools"; } || {
        echo "$name: Python 3.11 or later and its venv module are needed. Run \`apt-get install python3-venv\`." >&2
        exit 1
    }
    "$tools/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "Scripts/requirements/$name.txt"
}
