"""Builds the interposer with the system's own C compiler, into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..errors import InputError, MissingDependency
from ..places import cache_root

_HERE = Path(__file__).parent
_SOURCES = ("interposer.c", "pages.c")
_FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-shared", "-fno-builtin", "-Wl,-z,now")
_LIBRARIES = ("-ldl", "-lpthread")


def library() -> Path:
    """Return the interposer's shared library; it is built if this source was never built here.

    Returns
    -------
    Path
        In the cache's folder.

    Raises
    ------
    MissingDependency
        If there is no C compiler.
    InputError
        If the compiler fails: its first complaint.
    """
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise MissingDependency(
            "native programs are recorded with a small library that is built here; there is no C compiler: "
            "'apt-get install gcc libc6-dev' on Debian and Ubuntu, 'dnf install gcc' on Fedora"
        )
    text = b"".join((_HERE / name).read_bytes() for name in (*_SOURCES, "interposer.h"))
    key = hashlib.sha256(text + repr((_FLAGS, os.uname().machine)).encode()).hexdigest()[:16]
    path = cache_root() / "native" / key / "interposer.so"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(suffix=".so", dir=path.parent)
    os.close(descriptor)
    words = [compiler, *_FLAGS, "-o", partial, *(str(_HERE / name) for name in _SOURCES), *_LIBRARIES]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode:
        os.unlink(partial)
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise InputError(
            f"{compiler} can't build the interposer: {(said or ['it gives no reason'])[0].strip()}: "
            "'tracevis3d doctor' says what is missing"
        )
    os.chmod(partial, 0o755)
    # In one step: another process may be building it, too.
    os.replace(partial, path)
    return path
