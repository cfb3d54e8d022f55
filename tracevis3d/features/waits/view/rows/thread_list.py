"""The threads of the view as a list: the main one, those that are shown and hidden, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .....drawing.primitives import Drawing, Image
from .....trace.model import Trace
from .....views.actions import Choice
from .....views.lists import ListRow, RowList, RowLook

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
    known = set(shown)
    others = [t for t in range(len(threads)) if t not in known and threads.count[t]]
    return [
        ListRow(
            f"{threads.process[thread]}:{threads.tid[thread]}",
            threads.title(thread),
            place if place < len(shown) else -1,
        )
        for place, thread in enumerate([*shown, *others][:_MOST])
    ]


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
    shown = row.place >= 0 and row.key not in _words(parameters["hide"])
    before = (("MAIN", "SOLO_ON" if is_main else "SOLO_OFF"),)
    if not shown:
        return RowLook(False, before, (("SHOW", "HIDE_ON"),))
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
    if choice == "HIDE":
        return {"hide": ", ".join([*hidden, key])}
    if choice == "SHOW":
        if key in hidden:
            return {"hide": ", ".join(word for word in hidden if word != key)}
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
        Choice("UP", "Up", "Move the thread up"),
        Choice("DOWN", "Down", "Move the thread down"),
        Choice("FOCUS", "Focus", "Widen the thread, or reset its width"),
    ),
    change,
)
