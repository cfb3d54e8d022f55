"""Which engine records the calls: the part in C, VizTracer, ``sys.monitoring``, or older hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..fast import MODULE
from .engine import Engine
from .fast import Fast
from .monitoring import Monitoring
from .profile import Profile
from .trace import Trace
from .viztracer import VizTracer

_ENGINES: dict[str, Callable[[bool], Engine]] = {
    "fast": Fast,
    "viztracer": VizTracer,
    "monitoring": Monitoring,
    "profile": Profile,
    "trace": Trace,
}
NAMES = ("auto", *_ENGINES)
#: Reasons why an engine may be missing.
_REASONS = {
    "fast": "was not built: reinstall TraceVis3D where there is a C compiler, or use another engine",
    "viztracer": "is not installed: 'pip install viztracer'",
    "monitoring": "needs Python 3.12 or later: use 'profile'",
}


def choose(name: str, c_functions: bool, live: bool = False, beside_memray: bool = False) -> Engine:
    """Return an engine.

    Functions written in C are recorded by VizTracer alone. It reports a call when it ends, so a feed, which
    shows running calls, uses another engine. memray needs the profile hook for itself.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`; ``auto``: the best that there is.
    c_functions : bool
        Whether functions written in C are recorded.
    live : bool
        Whether the recording is published.
    beside_memray : bool
        Whether memray records memory in the same program.

    Returns
    -------
    Engine

    Raises
    ------
    ValueError
        If there is no such engine here, or it does not do what is asked for: one sentence that says why.
    """
    if name == "auto":
        name = "viztracer" if c_functions else best(live, beside_memray)
    if live and name == "viztracer":
        raise ValueError("VizTracer reports calls when they end, too late for a feed: use another engine")
    if beside_memray and name in ("fast", "viztracer", "profile"):
        raise ValueError(f"memray takes the hook that the engine {name!r} needs: leave --engine out")
    if c_functions and name != "viztracer":
        raise ValueError("functions written in C are only recorded with VizTracer: 'pip install viztracer'")
    if not _is_there(name):
        raise ValueError(f"the engine {name!r} {_REASONS[name]}")
    return _ENGINES[name](c_functions)


def best(live: bool = False, beside_memray: bool = False) -> str:
    """Return the name of the best engine that there is.

    Parameters
    ----------
    live, beside_memray : bool
        As for :func:`choose`.

    Returns
    -------
    str
    """
    able: tuple[str, ...]
    able = ("monitoring", "trace") if beside_memray else ("fast", "viztracer", "monitoring", "profile")
    if live:
        able = tuple(engine for engine in able if engine != "viztracer")
    return next(engine for engine in able if _is_there(engine))


def _is_there(name: str) -> bool:
    if name == "viztracer":
        try:
            import viztracer.snaptrace  # noqa: F401
        except ImportError:
            return False
    if name == "fast":
        return MODULE is not None
    return name != "monitoring" or hasattr(sys, "monitoring")
