"""What the .blend holds of each trace for the strip: it is there without the trace, and after undo."""

from typing import Any

from bpy.props import BoolProperty, StringProperty

from ....tracevis3d.analysis.mural import packed_cells
from ....tracevis3d.analysis.time_mural import memory_mural, time_mural
from ....tracevis3d.trace.cached_results import cached_with_trace
from ....tracevis3d.trace.model import Trace
from ....tracevis3d.views.time_window import Window, whole
from ... import areas, signals
from ...state import selection, trace_state

trace_state.PROPERTIES["mural"] = StringProperty(
    name="Mural",
    description="How busy each depth is along time, or how much memory is in use",
)
trace_state.PROPERTIES["whole"] = StringProperty(
    name="Time",
    description="Start and end of the calls, or of the trace without calls, in nanoseconds",
)
trace_state.PROPERTIES["timed"] = BoolProperty(
    name="Has Times",
    description="Whether these are times; else the trace's records are counted",
    default=True,
)


@cached_with_trace(most=1)
def _mural(trace: Trace) -> str:
    window = whole(trace)
    return packed_cells(
        time_mural(trace.calls, *window) if len(trace.calls) else memory_mural(trace.memory, *window)
    )


def _store(_scene: Any, collection: Any, traces: list[Any], _drawing: Any) -> None:
    """Store what the strip shows of a view's traces."""
    for key, trace in zip(trace_state.keys_of(collection), traces, strict=True):
        record = trace_state.ensure(key)
        text = " ".join(map(str, whole(trace)))
        if record.whole != text or not record.mural:
            record.whole, record.mural = text, _mural(trace)
        record.timed = trace.has_times
    areas.redraw()


def mural_of(key: str) -> str:
    """Return the stored mural of a trace; empty if there is none."""
    record = trace_state.find(key)
    return record.mural if record is not None else ""


def whole_of(key: str) -> Window | None:
    """Return the time of all calls of a trace; None if it is not known."""
    record = trace_state.find(key)
    return selection.read_range(record.whole) if record is not None else None


def is_timed(key: str) -> bool:
    """Return whether what is stored of a trace are times, and not numbers of its records."""
    record = trace_state.find(key)
    return record is None or bool(record.timed)


_CONNECTIONS = ((signals.on_show, _store),)


def register() -> None:
    """Store with each view that is drawn."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
