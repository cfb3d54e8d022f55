"""TraceVis3D: program execution traces as 3D scenes.

Nothing heavy is imported here, and nothing is registered in Blender: names are loaded when first used.
"""

from __future__ import annotations

from typing import Any

from .version import __version__

_API = (
    "Figure",
    "compare",
    "explain",
    "filtered",
    "icicle",
    "info",
    "interactions",
    "load",
    "match",
    "patterns",
    "phases",
    "save",
    "search",
    "similarity",
    "threads",
    "view",
    "waits",
)
__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    if name in _API:
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
