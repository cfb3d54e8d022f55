"""Which engine records the calls: VizTracer where it is installed, ``sys.monitoring``, or older hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable

from .engine import Engine
from .monitoring import Monitoring
from .profile import Profile
from .trace import Trace
from .viztracer import VizTracer

_ENGINES: dict[str, Callable[[bool], Engine]] = {
    "viztracer": VizTracer,
    "monitoring": Monitoring,
    "profile": Profile,
    "trace": Trace,
}
NAMES = ("auto", *_ENGINES)


def choose(name: str, c_functions: bool, live: bool = False, beside_memray: bool = False) -> Engine:
    """Return the engine ``name``, or the best that there is for ``auto``.

    VizTracer reports a call when it ends, so that a running call would not be seen: a feed uses another
    engine.
    memray has the profile hook for itself.

    Raises
    ------
    ValueError
        If it is not to be had here: the sentence says why.
    """
    if name == "auto":
        able = ("monitoring", "trace") if beside_memray else ("viztracer", "monitoring", "profile")[live:]
        name = next(candidate for candidate in able if _is_there(candidate))
    if live and name == "viztracer":
        raise ValueError("VizTracer reports calls when they end, too late for a feed: use another engine")
    if beside_memray and name in ("viztracer", "profile"):
        raise ValueError(f"memray takes the hook that the engine {name!r} needs: leave --engine out")
    if c_functions and name != "viztracer":
        raise ValueError("functions written in C are recorded with VizTracer alone: 'pip install viztracer'")
    if not _is_there(name):
        raise ValueError(
            "the engine 'viztracer' is not installed: 'pip install viztracer'"
            if name == "viztracer"
            else f"the engine {name!r} needs Python 3.12 or later: use 'profile'"
        )
    return _ENGINES[name](c_functions)


def _is_there(name: str) -> bool:
    if name == "viztracer":
        try:
            import viztracer.snaptrace  # noqa: F401
        except ImportError:
            return False
    return name != "monitoring" or hasattr(sys, "monitoring")
