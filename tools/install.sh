#!/bin/sh
# Installs packages into a virtual environment: install.sh FOLDER PACKAGE...
# With uv, which takes a fifth of pip's time; with pip where uv is not to be had, or finds less than pip does.
set -u
python=$1/bin/python
shift
# Where Python stores no compiled modules, each start would compile what it imports: all are compiled now.
compile=${PYTHONDONTWRITEBYTECODE:+--compile-bytecode}
"$python" -m pip install -q --disable-pip-version-check uv 2>/dev/null &&
    "$python" -m uv pip install -q $compile --python "$python" "$@" && exit 0
exec "$python" -m pip install -q --disable-pip-version-check "$@"
