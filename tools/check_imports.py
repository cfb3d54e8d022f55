"""Checks which rooms import which: the library's contracts, and those of operators and panels.

``python tools/check_imports.py`` prints what breaks them; ``lint-imports`` alone checks the library.
Operators and panels import it relatively, from the extension's package, which is the repository's root:
a link in a temporary folder gives that a name here.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]

#: The extension's contracts; ``extension`` is the repository's root.
_EXTENSION = """
[importlinter]
root_package = extension
include_external_packages = True
exclude_type_checking_imports = True

[importlinter:contract:rooms]
name = Panels show, operators act, the library knows neither
type = layers
containers = extension
exhaustive = True
exhaustive_ignores = examples
layers =
    panels
    operators
    tracevis3d
"""


def main() -> int:
    """Check both; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "extension").symlink_to(ROOT, target_is_directory=True)
        config = place / "extension.ini"
        config.write_text(_EXTENSION, encoding="utf-8")
        sys.path[:0] = [str(place), str(ROOT)]
        library = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
        return library or lint_imports(config_filename=str(config), no_cache=True)


if __name__ == "__main__":
    sys.exit(main())
