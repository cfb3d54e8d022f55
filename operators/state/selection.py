"""What is selected and hovered in each trace: one selection for all views of a trace.

The selection lies in the .blend (:mod:`.trace_state`): it is saved, and undone. What the mouse is over is
only remembered while it is there. ``trace`` is always a trace's key: ``trace.source.hash or
trace.source.path``, or :func:`.trace_state.key_of` of a view's stored source. None of these functions pushes
a step of undo: operators that have ``"UNDO"`` among their options do.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import handlers, signals
from . import trace_state

Ints = NDArray[np.int64]

#: So many calls can be selected one by one; the first ones are kept.
MOST = 200_000


@dataclass(frozen=True, eq=False)
class Selection:
    """What is selected in a trace.

    Attributes
    ----------
    calls : int64 (n,)
        Indices into ``Trace.calls``, ascending.
    active : int
        The call selected last; -1 if there is none.
    time_range : (int, int) or None
        Nanoseconds.
    """

    calls: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    active: int = -1
    time_range: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.calls)

    def __bool__(self) -> bool:
        return len(self.calls) > 0 or self.time_range is not None


def selected(trace: str) -> Selection:
    """Return what is selected in a trace."""
    record = trace_state.find(trace)
    if record is None:
        return Selection()
    active = record.active
    return Selection(
        read_calls(record.calls),
        int(active) if active.isdecimal() else -1,
        read_range(record.time_range),
    )


def revision(trace: str) -> int:
    """Return a number that changes with each change of the selection; 0: nothing was ever selected."""
    record = trace_state.find(trace)
    return 0 if record is None else record.revision


def select(
    trace: str,
    calls: ArrayLike | Iterable[int] | None = None,
    *,
    active: int | None = None,
    time_range: tuple[int, int] | None = None,
    extend: bool = False,
) -> int:
    """Select calls, a time range, or both, in place of what was selected.

    Parameters
    ----------
    trace : str
        The trace's key.
    calls : int array, optional
        Indices into ``Trace.calls``; None: none, or with ``extend`` those that are.
    active : int, optional
        The call that details are shown of; the first of ``calls`` if left out.
    time_range : (int, int), optional
        Nanoseconds.
    extend : bool
        Keep what is selected.

    Returns
    -------
    int
        How many calls could not be selected since they are more than :data:`MOST`.
    """
    before = selected(trace)
    given = np.empty(0, np.int64) if calls is None else _whole(calls)
    if active is None:
        active = int(given[0]) if len(given) else (before.active if extend else -1)
    wanted = np.unique(np.concatenate([before.calls, given]) if extend else given)
    left_out = max(len(wanted) - MOST, 0)
    if time_range is None and extend:
        time_range = before.time_range
    if time_range is not None:
        time_range = (min(time_range), max(time_range))
    write(trace, Selection(wanted[:MOST], active, time_range))
    return left_out


def deselect(trace: str, calls: ArrayLike | None = None) -> None:
    """Take ``calls`` out of the selection, or everything."""
    if calls is None:
        write(trace, Selection())
        return
    before = selected(trace)
    kept = np.setdiff1d(before.calls, _whole(calls))
    active = before.active if before.active in kept else (int(kept[-1]) if len(kept) else -1)
    write(trace, Selection(kept, active, before.time_range))


def write(trace: str, wanted: Selection) -> None:
    """Store ``wanted`` as the selection of ``trace``, and send the signal if it differs."""
    record = trace_state.find(trace)
    if record is None:
        if not wanted:
            return
        record = trace_state.ensure(trace)
    words = {
        "calls": write_calls(wanted.calls),
        "active": str(wanted.active) if wanted.active >= 0 else "",
        "time_range": "" if wanted.time_range is None else "{} {}".format(*wanted.time_range),
    }
    if all(getattr(record, name) == text for name, text in words.items()):
        return
    for name, text in words.items():
        setattr(record, name, text)
    record.revision = (record.revision + 1) % (1 << 30)
    signals.on_select.send(trace)


_hovered: dict[str, Ints] = {}


def hover(what: dict[str, Ints]) -> None:
    """Say which calls are under the mouse: key of each trace concerned -> int64 (n,); {}: none."""
    global _hovered
    before, _hovered = _hovered, what
    for trace in {*before, *what}:
        old, new = before.get(trace), what.get(trace)
        if old is None or new is None or not np.array_equal(old, new):
            signals.on_select.send(trace)


def hovered(trace: str) -> Ints:
    """Return the calls of ``trace`` that are under the mouse, int64 (n,)."""
    return _hovered.get(trace, np.empty(0, np.int64))


_PART = re.compile(r"(\d+)(?:-(\d+))?")


def write_calls(calls: Ints) -> str:
    """Return ascending numbers as text: ``3 7-9``."""
    if not len(calls):
        return ""
    new = np.flatnonzero(np.diff(calls) != 1) + 1
    first = calls[np.concatenate([[0], new])].tolist()
    last = calls[np.concatenate([new - 1, [len(calls) - 1]])].tolist()
    return " ".join(f"{a}-{b}" if b > a else str(a) for a, b in zip(first, last, strict=True))


def read_calls(text: str) -> Ints:
    """Return the numbers that :func:`write_calls` wrote; what is no number is passed over."""
    parts = [(int(a), int(b or a)) for a, b in _PART.findall(text)]
    if not parts:
        return np.empty(0, np.int64)
    low, high = np.array(parts, np.int64).T
    count = np.clip(high - low + 1, 0, MOST)
    begin = np.repeat(low - (np.cumsum(count) - count), count)
    return (begin + np.arange(len(begin)))[:MOST]


def read_range(text: str) -> tuple[int, int] | None:
    """Return the two numbers that ``text`` holds; None if it doesn't."""
    words = text.split()
    try:
        low, high = (int(word) for word in words)
    except ValueError:
        return None
    return low, high


def _whole(calls: ArrayLike | Iterable[int]) -> Ints:
    if not isinstance(calls, np.ndarray):
        calls = np.fromiter(calls, np.int64) if isinstance(calls, Iterable) else np.array([calls], np.int64)
    return np.atleast_1d(calls).astype(np.int64)


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
