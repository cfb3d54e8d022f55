"""Optional data for exploring, fetched in a thread and used when ready."""

import threading
from collections.abc import Callable
from typing import Any

import bpy

from ...tracevis3d.analysis.subtrees import subtrees_of
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.layout.sight.picking import warm as compile_pickers
from ...tracevis3d.progress import silent
from ..state import settings, sources, trace_state


class Background:
    """Work in threads beside the window: each is started once, and what it finds is taken over later."""

    def __init__(self) -> None:
        self._threads: dict[str, threading.Thread] = {}
        self._found: list[Any] = []

    def _start(self, name: str, work: Callable[[], Any]) -> None:
        """Let ``work`` run in a thread of its own, unless one of that name has been started."""
        if name not in self._threads:
            self._threads[name] = threading.Thread(target=work, name=f"tracevis3d {name}", daemon=True)
            self._threads[name].start()

    def warm(self) -> None:
        """Compile what pointing needs."""
        self._start("picking", compile_pickers)

    def fetch_traces(self, scene: bpy.types.Scene) -> None:
        """Look for traces of the scene's views that are not in memory, at their paths and in the cache."""
        # Work that continues when another file is opened fills the list of the former one.
        taken_over = self._found
        for view in settings.all_in(scene):
            keys = trace_state.keys_of(view)
            if all(sources.loaded(key) is not None for key in keys):
                continue
            find = sources.finder(view)

            def work(find: Any = find) -> None:
                # A missing trace is not an error here: the data in the .blend is enough.
                try:
                    taken_over.extend(find(silent))
                except TraceVisError:
                    return

            self._start("traces " + " ".join(keys), work)

    def collect(self) -> bool:
        """Take over what threads have found since; returns whether there was anything."""
        if not self._found:
            return False
        while self._found:
            sources.remember(self._found.pop())
        return True

    def subtree_classes(self, trace: Any) -> Any:
        """Return the class of identical subtrees of each call, int32 (n,); None as long as it is computed."""
        if subtrees_of.is_known(trace):
            return subtrees_of(trace).of_call
        self._start(f"subtrees {id(trace)}", lambda: subtrees_of(trace))
        return None

    def forget(self) -> None:
        """Cancel started work when another file is opened."""
        self._threads, self._found = {}, []


#: That of Explore mode and of what is drawn: Blender's handlers and operators share nothing but modules.
background = Background()
