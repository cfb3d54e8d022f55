"""The threads of the view as a list: the main one, those that are shown and hidden, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .....drawing.primitives import Drawing, Image
from .....trace.model import Trace
from .....views.actions import Choice
from .....views.lists import ListRow, RowList, RowLook
from .alike import KIND, groups

#: Rows that the list has at most.
_MOST = 600


def rows(traces: Sequence[Trace], drawing: Drawing, _parameters: Mapping[str, Any]) -> list[ListRow]:
    """Return the threads: those shown first, in their order.

    Parameters
    ----------
    traces : sequence of Trace
        One.
    drawing : Drawing
        Of the view.

    Returns
    -------
    list of ListRow
    """
    threads = traces[0].threads
    shown = [
        thread
        for element in drawing.elements
        if element.kind == "thread" and not isinstance(element, Image)
        for thread in element.id.tolist()
    ]
    members = _members(traces[0], drawing)
    known = {*shown, *(t for several in members.values() for t in several)}
    others = [t for t in range(len(threads)) if t not in known and threads.count[t]]
    found = []
    for place, thread in enumerate([*shown, *others][:_MOST]):
        several = members.get(thread, [thread])
        key = ", ".join(f"{threads.process[t]}:{threads.tid[t]}" for t in several)
        title = threads.title(thread) + (f" × {len(several):,}" if len(several) > 1 else "")
        found.append(ListRow(key, title, place if place < len(shown) else -1))
    return found


def _members(trace: Trace, drawing: Drawing) -> dict[int, list[int]]:
    """Return the threads that share a row with those that do the same, by the first of them."""
    meaning, group = drawing.meaning.get(KIND), groups(trace)
    found = {}
    for link in meaning.links if meaning is not None else ():
        for thread in np.flatnonzero(np.diff(link.first)).tolist():
            several = link.of(thread)
            if (group[several] == group[thread]).all():
                found[thread] = [thread, *(t for t in several.tolist() if t != thread)]
    return found


def look(row: ListRow, parameters: Mapping[str, Any]) -> RowLook:
    """Return the buttons beside a thread.

    Parameters
    ----------
    row : ListRow
        A thread.
    parameters : mapping of str to object
        Those of the view.

    Returns
    -------
    RowLook
    """
    main = parameters["main"]
    is_main = row.key == main or (main == "auto" and row.place == 0)
    shown = row.place >= 0 and not set(_words(row.key)) <= set(_words(parameters["hide"]))
    before = (("MAIN", "SOLO_ON" if is_main else "SOLO_OFF"),)
    if not shown:
        return RowLook(False, before, (("SHOW", "HIDE_ON"),))
    if "," in row.key:
        return RowLook(
            True, (), (("OPEN", "ADD"), ("UP", "TRIA_UP"), ("DOWN", "TRIA_DOWN"), ("HIDE", "HIDE_OFF"))
        )
    focused = row.key in _words(parameters["focus"])
    after = (
        ("FOCUS", "ZOOM_OUT" if focused else "ZOOM_IN"),
        ("UP", "TRIA_UP"),
        ("DOWN", "TRIA_DOWN"),
        ("HIDE", "HIDE_OFF"),
    )
    return RowLook(True, before, after)


def change(
    row: ListRow, choice: str, every: Sequence[ListRow], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters that a button beside a thread changes.

    Parameters
    ----------
    row : ListRow
        The thread whose button was pressed.
    choice : str
        Which button.
    every : sequence of ListRow
        All rows, in order.
    parameters : mapping of str to object
        Those of the view; they stay as they are.

    Returns
    -------
    dict
    """
    key = row.key
    shown = [other.key for other in every if other.place >= 0]
    hidden, focused = _words(parameters["hide"]), _words(parameters["focus"])
    if choice == "MAIN":
        return {"main": key}
    if choice == "OPEN":
        return {"opened": ", ".join([*_words(parameters["opened"]), _words(key)[0]])}
    if choice == "HIDE":
        return {"hide": ", ".join([*hidden, key])}
    if choice == "SHOW":
        if set(_words(key)) <= set(hidden):
            return {"hide": ", ".join(word for word in hidden if word not in _words(key))}
        return {"threads": ", ".join([*shown, *hidden, key])}
    if choice == "FOCUS":
        rest = [word for word in focused if word != key]
        return {"focus": ", ".join(rest if key in focused else [*focused, key])}
    if key not in shown:
        return {}
    place = shown.index(key)
    shown.remove(key)
    shown.insert(max(place + (-1 if choice == "UP" else 1), 0), key)
    return {"order": ", ".join(shown)}


def _words(text: str) -> list[str]:
    """Return the words of a parameter that names threads."""
    return [word for word in (word.strip() for word in text.split(",")) if word]


THREADS = RowList(
    "thread",
    "Threads",
    "Choose the main thread, or hide, show, move or widen a thread",
    rows,
    look,
    (
        Choice("MAIN", "Main Thread", "Pull it out; the previous main thread goes back among the others"),
        Choice("HIDE", "Hide", "Leave the thread out"),
        Choice("SHOW", "Show", "Draw the thread"),
        Choice("OPEN", "Open", "Give each thread of the group a row of its own"),
        Choice("UP", "Up", "Move the thread up"),
        Choice("DOWN", "Down", "Move the thread down"),
        Choice("FOCUS", "Focus", "Widen the thread, or reset its width"),
    ),
    change,
)
