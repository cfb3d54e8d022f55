#!/bin/sh
# Builds .venv with all that the demo, the tests and the benchmarks need; called by `make setup`.
# On a bare Debian or Ubuntu, and as root (or with passwordless sudo), it installs the system packages too.
set -eu
cd "$(dirname "$0")/.."

# What Blender's module links to, and Mesa so that Workbench and EEVEE render without a GPU.
SYSTEM="libegl1 libgl1 libgl1-mesa-dri libx11-6 libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libxext6"

say() { printf '%s\n' "setup: $*" >&2; }
die() { say "$*"; exit 1; }

# A second set-up may run beside this one (tools/real_blender.py), and apt-get stops where another runs.
apt() { as_root env DEBIAN_FRONTEND=noninteractive flock /run/lock/tracevis3d-apt apt-get "$@"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then sudo "$@"
    else return 1
    fi
}

updated=no
install_packages() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ $updated = no ]; then
        say "installing system packages: $*"
        apt update -qq || return 1
        updated=yes
    fi
    apt install -y -qq --no-install-recommends "$@" >/dev/null
}

# Blender's module exists for Python 3.11 (Blender 4.2 to 5.0) and 3.13 (5.1 on).
python=${PYTHON:-}
for name in python3.11 python3.13 python3 python; do
    [ -n "$python" ] && break
    if command -v "$name" >/dev/null 2>&1 &&
        "$name" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))' 2>/dev/null; then
        python=$name
    fi
done
[ -n "$python" ] || die "no Python 3.11 or 3.13 was found: install one, or name it with 'make setup PYTHON=/path/to/python3.11'"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

stamp=.venv/.setup
wanted=$(cat pyproject.toml tracevis3d/record/fast/*.c tools/setup.sh tools/install.sh | cksum)-$version
if [ -f $stamp ] && [ "$(cat $stamp)" = "$wanted" ] && .venv/bin/python -c 'import bpy, numba' 2>/dev/null; then
    exit 0
fi

if ! [ -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "creating .venv with Python $version"
    rm -rf .venv
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        rm -rf .venv
        install_packages "python$version-venv" || install_packages python3-venv ||
            die "Python's venv module is missing: install it (Debian: apt install python3-venv) and run 'make setup' again"
        "$python" -m venv .venv
    fi
fi

say "installing Python packages (Blender's module is about 350 MB)"
needed=bpy,fast,zstd,perfetto,fuzzy,live,memray,otf2,record
# With what tables, queries and notebooks need, if all of it is to be had; their tests skip where it is not.
sh tools/install.sh .venv -e ".[$needed,tables,query,notebook,figures,dev]" ||
    sh tools/install.sh .venv -e ".[$needed,dev]" ||
    die "pip could not install the packages above: is there a network connection?"

if ! .venv/bin/python -c 'import bpy' 2>/dev/null || ! ldconfig -p 2>/dev/null | grep -q libEGL.so.1; then
    # shellcheck disable=SC2086
    install_packages $SYSTEM || say "system libraries are missing and could not be installed; as root: apt install $SYSTEM"
fi
.venv/bin/python -c 'import bpy' || die "Blender's module can't be loaded; on Debian: apt install $SYSTEM"
# So that the first picture takes seconds; what fails here is reported where it is needed.
say "compiling what the first picture needs"
.venv/bin/python -m examples --warm || true
printf '%s' "$wanted" > $stamp
