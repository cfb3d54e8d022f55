"""The first run ever: a second process compiles what drawing needs, while the first one reads.

Compiled kernels are kept on disk, where the first process finds them when it gets there.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from ..places import cache_root


def begin() -> None:
    """Start the second process, unless kernels are kept already, or this is Blender or a single core."""
    kept = Path(os.environ.get("NUMBA_CACHE_DIR") or cache_root() / "numba")
    if kept.exists() or "bpy" in sys.modules or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    library = Path(__file__).resolve().parents[1]
    paths = [str(library.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    with contextlib.suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", f"{library.name}.warm"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
