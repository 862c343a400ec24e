#!/bin/sh
# packaging/install.sh GROUP...: installs what is missing of these groups of packages.txt.
# Exit 0: everything is there. Exit 4: something is missing and cannot be installed; what and how
# is on stderr. DBDYNO_NO_INSTALL=1 only looks.
#
# Services: while apt runs, a policy-rc.d that forbids starts and stops is in place (unless the
# system has its own), and postgresql-common is told to create no cluster. So nothing runs
# afterwards that did not run before, and what runs goes on. Both files are removed at the end,
# however this ends.
set -eu

list=$(dirname "$0")/packages.txt
policy=/usr/sbin/policy-rc.d
no_cluster=/etc/postgresql-common/createcluster.d/dbdyno-no-cluster.conf

if [ $# -eq 0 ]; then
    echo "usage: packaging/install.sh GROUP..." >&2
    exit 2
fi

packages_of() { # GROUP
    awk -v group="$1" '$1 !~ /^#/ && $2 == group { print $1 }' "$list"
}

is_installed() { # PACKAGE
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=
for group in "$@"; do
    names=$(packages_of "$group")
    if [ -z "$names" ]; then
        echo "packaging/install.sh: no group $group in $list" >&2
        exit 2
    fi
    if ! command -v dpkg-query >/dev/null 2>&1; then
        missing="$missing $names"
        continue
    fi
    for name in $names; do
        is_installed "$name" || missing="$missing $name"
    done
done
# One line, single blanks.
# shellcheck disable=SC2086
set -- $missing
missing=$*
[ -n "$missing" ] || exit 0

refuse() { # REASON
    echo "$1 These Debian 12 packages are missing:" >&2
    echo "    $missing" >&2
    echo "Install them with:" >&2
    echo "    sudo apt-get install --no-install-recommends $missing" >&2
    exit 4
}

if ! command -v apt-get >/dev/null 2>&1; then
    if [ "${DBDYNO_NO_INSTALL:-}" = 1 ]; then
        exit 0 # another system: the build will say what it does not find
    fi
    echo "(Not a Debian system: DBDYNO_NO_INSTALL=1 goes on with what is there.)" >&2
    refuse "There is no apt-get here."
fi
[ "${DBDYNO_NO_INSTALL:-}" != 1 ] || refuse "DBDYNO_NO_INSTALL=1 is set."

if [ "$(id -u)" -eq 0 ]; then
    root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    root="sudo -n"
else
    refuse "Installing needs root, and sudo asks for a password or is not here."
fi

made_policy=
made_no_cluster=
clean_up() {
    [ -z "$made_policy" ] || $root rm -f "$policy"
    if [ -n "$made_no_cluster" ]; then
        $root rm -f "$no_cluster"
        $root rmdir "$(dirname "$no_cluster")" 2>/dev/null || true
    fi
    made_policy=
    made_no_cluster=
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

if [ ! -e "$policy" ] && [ ! -L "$policy" ]; then
    made_policy=1
    printf '#!/bin/sh\nexit 101\n' | $root tee "$policy" >/dev/null
    $root chmod 755 "$policy"
fi
if [ ! -e "$no_cluster" ]; then
    made_no_cluster=1
    $root mkdir -p "$(dirname "$no_cluster")"
    echo "create_main_cluster = false" | $root tee "$no_cluster" >/dev/null
fi

apt() {
    # NEEDRESTART_SUSPEND: no restart of services whose libraries an upgrade has replaced.
    $root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
        apt-get -q -y -o DPkg::Lock::Timeout=120 -o APT::Color=0 "$@"
}

install_missing() {
    # shellcheck disable=SC2086
    apt install --no-install-recommends $missing
}

echo "installing: $missing" >&2
log=$(mktemp)
if ! find /var/lib/apt/lists -name '*_Packages*' 2>/dev/null | grep -q .; then
    apt update >"$log" 2>&1 || true
fi
# A package list that has aged names files that are gone: fetched anew, once.
if ! install_missing >"$log" 2>&1; then
    { apt update && install_missing; } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        rm -f "$log"
        refuse "apt-get failed (its last lines are above)."
    }
fi
rm -f "$log"
