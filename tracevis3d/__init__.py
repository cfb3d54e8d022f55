"""TraceVis3D: program execution traces as 3D scenes.

Nothing heavy is imported here, and nothing is registered in Blender: names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .version import __version__

#: What scripts call, in addition to a function for each registered view.
_API = (
    "Figure",
    "explain",
    "filtered",
    "info",
    "memory_facts",
    "load",
    "match",
    "panels",
    "patterns",
    "phases",
    "query",
    "save",
    "search",
    "similarity",
    "table",
    "view",
    "waits",
)
__all__ = ["__version__", "live", "record", *_API]


def __getattr__(name: str) -> Any:
    if name in _API:
        from . import api

        return getattr(api, name)
    if name == "load_ipython_extension":
        from .notebook.magic import load_ipython_extension

        return load_ipython_extension
    if not name.startswith("_"):
        # "from . import" also asks here for the package's own modules, before it searches for them.
        if find_spec(f"{__name__}.{name}"):
            return import_module(f".{name}", __name__)
        from .views import registry

        if registry.has(name):
            from . import api

            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from .views import registry

    return sorted({*__all__, *registry.names()})
