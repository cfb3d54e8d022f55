"""Optional data for exploring, fetched in a thread and used when ready."""

import threading
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...tracevis3d.analysis.subtrees import subtrees_of
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.progress import silent
from ..state import settings, sources, trace_state

_threads: dict[str, threading.Thread] = {}
_found: list[Any] = []


def _start(name: str, work: Any) -> None:
    """Let ``work`` run in a thread of its own, unless one of that name has been started."""
    if name not in _threads:
        _threads[name] = threading.Thread(target=work, name=f"tracevis3d {name}", daemon=True)
        _threads[name].start()


def warm() -> None:
    """Compile what pointing needs, beside the window."""

    def work() -> None:
        from ...tracevis3d.layout.picking import warm as compile_pickers

        compile_pickers()

    _start("picking", work)


def fetch_traces(scene: bpy.types.Scene) -> None:
    """Look for the traces of the scene's views that are not in memory, at their paths and in the cache."""
    for view in settings.all_in(scene):
        keys = trace_state.keys_of(view)
        if all(sources.loaded(key) is not None for key in keys):
            continue
        find = sources.finder(view)

        def work(find: Any = find) -> None:
            # A trace that is gone is no error here: what the .blend holds will do.
            try:
                _found.extend(find(silent))
            except TraceVisError:
                return

        _start("traces " + " ".join(keys), work)


def collect() -> bool:
    """Take over what threads have found since; returns whether there was anything."""
    if not _found:
        return False
    while _found:
        sources.remember(_found.pop())
    return True


def subtree_classes(trace: Any) -> NDArray[np.int32] | None:
    """Return the class of identical subtrees of each call; None as long as it is being worked out."""
    if subtrees_of.is_known(trace):
        return subtrees_of(trace).of_call
    _start(f"subtrees {id(trace)}", lambda: subtrees_of(trace))
    return None


def forget() -> None:
    """Cancel started work when another file is opened."""
    _threads.clear()
    _found.clear()
