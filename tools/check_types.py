"""Checks the types of the library, of operators and of panels: ``python tools/check_types.py``.

The repository's root is the extension's package, so all modules' names begin with its folder's name. A link
in a temporary folder gives it a name that a package can have, whatever the folder is called.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run mypy; return its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "extension").symlink_to(ROOT, target_is_directory=True)
        rooms = [os.path.join("extension", room) for room in ("tracevis3d", "operators", "panels")]
        kept = os.environ.get("MYPY_CACHE_DIR", ROOT / ".mypy_cache")
        settings = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", kept]
        return subprocess.run([sys.executable, "-m", "mypy", *settings, *rooms], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
