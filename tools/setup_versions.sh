#!/bin/sh
# Builds .venvs/4.2 and .venvs/5.0: the Blender modules of other versions, that the tests then use too.
# They need Python 3.11; the extension's zip brings everything else, the scene's tests need the rest.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null ||
    { echo "setup_versions: Python 3.11 is needed: name it with PYTHON=/path/to/python3.11" >&2; exit 1; }
for pair in 4.2=4.2.23 5.0=5.0.1; do
    folder=.venvs/${pair%=*} version=${pair#*=}
    if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c 'import bpy, numba, pytest' 2>/dev/null; then
        continue
    fi
    rm -rf "$folder"
    "$python" -m venv "$folder"
    sh tools/install.sh "$folder" "bpy==$version" numba msgspec isal zstandard pytest hypothesis
done
