# Makes a Debian of this machine's release in a folder, as root: sourced by what needs one, in the folder of the repository.
debian_codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")

# The mirror that this machine installs from: its release's main component.
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v codename="$debian_codename" \
            '($1 == "Debian" || $1 == "Ubuntu") && $2 == codename && $3 == "main" { print $4; exit }'
}

# Prints why no Debian can be made here, and fails; installs debootstrap if it is missing.
debian_hindrance() {
    [ "$(id -u)" -eq 0 ] || { echo "only root can make a system in a folder." && return 1; }
    command -v apt-get >/dev/null || { echo "there is no apt-get, which knows a mirror of Debian's packages." && return 1; }
    if ! command -v debootstrap >/dev/null; then
        echo "Installing debootstrap …" >&2
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap; } \
            >/dev/null || { echo "debootstrap is missing and cannot be installed." && return 1; }
    fi
    [ -n "$(debian_mirror)" ] || apt-get update -qq
    [ -n "$(debian_mirror)" ] || { echo "apt-get names no mirror of \"$debian_codename\"." && return 1; }
}

# The packages that a Debian package depends on, with commas: debian_dependencies FILE
debian_dependencies() { dpkg-deb --field "$1" Depends | tr ',' '\n' | sed -e 's/(.*//' -e 's/|.*//' | xargs | tr ' ' ','; }

# make_debian FOLDER PACKAGE,PACKAGE…: the smallest system with these packages.
make_debian() {
    local log proxy cache=$PWD/.build/debootstrap
    log=$(mktemp)
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    mkdir -p "$cache"
    env ${proxy:+"http_proxy=$proxy"} debootstrap --variant=minbase --cache-dir="$cache" --include="$2" "$debian_codename" "$1" \
        "$(debian_mirror)" >"$log" 2>&1 || { tail -n 20 "$log" >&2 && rm -f "$log" && return 1; }
    rm -f "$log"
}
