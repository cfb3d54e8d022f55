"""Lays the plug-ins of ``examples/plugins`` into a folder, as packages or as single modules."""

from __future__ import annotations

import shutil
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "plugins"
#: Folder of an example -> what it adds, under which name, its module, and the module's attribute.
MODULES = {
    "jsonl_format": ("formats", "jsonl", "tracevis3d_jsonl", "FORMAT"),
    "function_bars": ("views", "function_bars", "tracevis3d_function_bars", "VIEW"),
    "recursion_filter": ("filters", "recursion", "tracevis3d_recursion", "FILTER"),
}


def as_packages(place: Path) -> Path:
    """Lay the examples into a folder as ``pip install --target`` does; return it."""
    for folder, (kind, name, module, attribute) in MODULES.items():
        shutil.copy(EXAMPLES / folder / f"{module}.py", place)
        info = place / f"{module}-1.0.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0.0\n")
        (info / "entry_points.txt").write_text(f"[tracevis3d.{kind}]\n{name} = {module}:{attribute}\n")
        (info / "RECORD").write_text(f"{module}.py,,\n")
    return place


def as_modules(place: Path) -> Path:
    """Copy the examples' modules into a folder; return it."""
    for folder, (_, _, module, _) in MODULES.items():
        shutil.copy(EXAMPLES / folder / f"{module}.py", place)
    return place
