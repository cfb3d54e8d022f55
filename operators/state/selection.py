"""The selection and the hovered calls of each trace: one selection for all views of a trace.

The selection lies in the .blend (:mod:`.trace_state`): it is saved, and undone. What the mouse is over is
only remembered while it is there. ``trace`` is always a trace's key: ``trace.source.hash or
trace.source.path``, or :func:`.trace_state.key_of` of a view's stored source. None of these functions pushes
a step of undo: operators that have ``"UNDO"`` among their options do.
"""

from collections.abc import Mapping

from ...tracevis3d.trace.selection import MOST as MOST
from ...tracevis3d.trace.selection import Calls, Ints, same_calls, whole_numbers
from ...tracevis3d.trace.selection import Selection as Selection
from ...tracevis3d.trace.selection import read_range as read_range
from .. import handlers, signals
from . import trace_state


def selected(trace: str) -> Selection:
    """Return the selection in a trace."""
    record = trace_state.find(trace)
    if record is None:
        return Selection()
    return Selection.of_texts(record.calls, record.active, record.time_range)


def revision(trace: str) -> int:
    """Return a number that changes with each change of the selection; 0: nothing was ever selected."""
    record = trace_state.find(trace)
    return 0 if record is None else record.revision


def select(
    trace: str,
    calls: Calls | None = None,
    *,
    active: int | None = None,
    time_range: tuple[int, int] | None = None,
    extend: bool = False,
) -> int:
    """Select calls, a time range, or both, replacing the selection.

    Parameters
    ----------
    trace : str
        The trace's key.
    calls, active, time_range, extend
        As in :meth:`~tracevis3d.trace.selection.Selection.chosen`.

    Returns
    -------
    int
        How many calls could not be selected since they are more than :data:`MOST`.
    """
    wanted, left_out = selected(trace).chosen(calls, active, time_range, extend)
    write(trace, wanted)
    return left_out


def deselect(trace: str, calls: Calls | None = None) -> None:
    """Take ``calls`` out of the selection, or everything."""
    write(trace, Selection() if calls is None else selected(trace).without(calls))


def write(trace: str, wanted: Selection) -> None:
    """Store ``wanted`` as the selection of ``trace``, and send the signal if it differs."""
    record = trace_state.find(trace)
    if record is None:
        if not wanted:
            return
        record = trace_state.ensure(trace)
    texts = wanted.texts()
    if all(getattr(record, name) == text for name, text in texts.items()):
        return
    for name, text in texts.items():
        setattr(record, name, text)
    record.revision = (record.revision + 1) % (1 << 30)
    signals.on_select.send(trace)


#: Trace's key -> calls under the mouse: of this session, and never stored.
_hovered: dict[str, Ints] = {}


def hover(what: Mapping[str, Calls]) -> None:
    """Say which calls are under the mouse: key of each trace concerned -> int (n,); {}: none."""
    before = dict(_hovered)
    now = {trace: whole_numbers(calls) for trace, calls in what.items()}
    _hovered.clear()
    _hovered.update(now)
    for trace in {*before, *now} - same_calls(before, now):
        signals.on_select.send(trace)


def hovered(trace: str) -> Ints:
    """Return the calls of ``trace`` that are under the mouse, int64 (n,)."""
    return _hovered.get(trace, Selection().calls)


def _after_undo() -> None:
    signals.on_select.send("")


def _after_loading() -> None:
    _hovered.clear()
    signals.on_select.send("")


_CONNECTIONS = ((handlers.after_undo, _after_undo), (handlers.after_loading, _after_loading))


def register() -> None:
    """Follow what Blender does to the file."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    _hovered.clear()
