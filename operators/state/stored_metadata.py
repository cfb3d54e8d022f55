"""The names of its traces that a view stores: enough to describe an element without the trace."""

import json
from dataclasses import astuple
from functools import lru_cache
from typing import Any

import bpy
from bpy.props import StringProperty

from ...tracevis3d.scene.window import element_metadata
from ...tracevis3d.trace.names import FunctionWords, words_of
from ...tracevis3d.views.element_metadata import functions_of, metadata_of
from . import trace_state

#: Maximum number of function names stored; a view of more elements than can be distinguished has few.
_MOST = 20_000

trace_state.PROPERTIES["functions"] = StringProperty(
    name="Functions", description="Names of the functions that views show, as JSON"
)
trace_state.PROPERTIES["threads"] = StringProperty(
    name="Threads", description="Names of the threads, as JSON"
)


def store(collection: bpy.types.Collection, traces: list[Any], drawing: Any) -> None:
    """Keep in the .blend what the elements of ``drawing``, built in ``collection``, represent."""
    stand = [metadata_of(element, drawing, traces) for element in drawing.elements]
    element_metadata.write_drawing(collection, drawing, stand)
    for source, functions in functions_of(stand, traces).items():
        _remember_words(traces[source], functions)


def _remember_words(trace: Any, functions: set[int]) -> None:
    record = trace_state.ensure(trace.source.hash or trace.source.path)
    known = _read(record.functions, {})
    missing = [f for f in sorted(functions) if str(f) not in known][: max(_MOST - len(known), 0)]
    if missing:
        known |= {str(f): list(astuple(words_of(trace, f))) for f in missing}
        record.functions = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    threads = json.dumps([trace.threads.title(t) for t in range(len(trace.threads))], ensure_ascii=False)
    if record.threads != threads:
        record.threads = threads


def function_words(trace: str, function: int) -> FunctionWords | None:
    """Return what a function of the trace with the key ``trace`` is called, as the .blend holds it."""
    record = trace_state.find(trace)
    words = _parsed(record.functions).get(str(function)) if record is not None else None
    try:
        return FunctionWords(*words) if words else None
    except TypeError:
        return None


def thread_title(trace: str, thread: int) -> str:
    """Return the title of a thread of the trace with the key ``trace``, as the .blend holds it."""
    record = trace_state.find(trace)
    titles = _read(record.threads, []) if record is not None else []
    return str(titles[thread]) if 0 <= thread < len(titles) else f"thread {thread}"


class Names:
    """The names that views have shown of a trace, as the .blend holds them.

    Parameters
    ----------
    trace : str
        The trace's key.
    """

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def function(self, function: int) -> FunctionWords | None:
        """Return what a function is called; None if that is not kept."""
        return function_words(self.trace, function)

    def thread(self, thread: int) -> str:
        """Return the title of a thread."""
        return thread_title(self.trace, thread)


@lru_cache(maxsize=1)
def _parsed(text: str) -> dict[str, Any]:
    """Return the functions' words; those read last are kept, since pointing asks repeatedly."""
    found: dict[str, Any] = _read(text, {})
    return found


def _read(text: str, otherwise: Any) -> Any:
    """Return what ``text`` says, if it is of the type of ``otherwise``."""
    try:
        found = json.loads(text)
    except ValueError:
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise
