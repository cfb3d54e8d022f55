"""What views leave out: a stack of filters per view, as text, applied to what is drawn."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import bpy

from ..tracevis3d.drawing.thin import thinned
from ..tracevis3d.errors import TraceVisError, UsageError
from . import settings

#: Stacks whose outcome is kept for each trace: working it out takes time for millions of calls.
_MOST = 8


def stack_of(collection: bpy.types.Collection) -> str:
    """Return the filters of a view as text."""
    return str(settings.of(collection).filters).strip()


def states(trace: Any, text: str) -> Any:
    """Return what becomes of each call of a trace under a stack, uint8 (calls,).

    Raises
    ------
    UsageError
        If the stack can't be read, or names what the trace hasn't.
    """
    from ..tracevis3d.analysis.filters.facts import Facts
    from ..tracevis3d.analysis.filters.stack import apply, parse
    from ..tracevis3d.views.derived import derived

    kept = derived(trace).kept
    key = ("filters " + text, 0)
    if key not in kept:
        facts = kept.setdefault(("filter facts", 0), Facts(trace))
        for old in [name for name in kept if name[0].startswith("filters ")][: -_MOST + 1]:
            del kept[old]
        kept[key] = apply(parse(text), facts).state
    return kept[key]


def applied(text: str, traces: list[Any], drawing: Any) -> Any:
    """Return ``drawing`` with the filters of ``text`` applied, for each trace that has what they name.

    Raises
    ------
    UsageError
        If the stack can't be read, or none of the traces has what it names.
    """
    if not text:
        return drawing
    found, refused = {}, None
    for source, trace in enumerate(traces):
        try:
            found[source] = states(trace, text)
        except UsageError as error:
            refused = error
    if not found and refused is not None:
        raise refused
    left = thinned(drawing, found)
    missing = sum(map(len, drawing.elements)) - sum(map(len, left.elements))
    note = f"filters ({text}) leave out {missing:,} of what is drawn"
    return replace(left, notes=(*left.notes, note))


def prepare(text: str, traces: list[Any]) -> None:
    """Work out what :func:`applied` will need: beside the window, where that takes time."""
    for trace in traces if text else ():
        with suppress(TraceVisError):
            states(trace, text)


def added(text: str, name: str, **values: str) -> str:
    """Return the stack ``text`` with a filter more; one that is there already is not added twice."""
    from ..tracevis3d.analysis.filters.stack import Applied, as_text, parse

    stack = parse(text) if text else []
    effect, what = values.pop("effect", "hide"), values.pop("what", "subtree")
    wanted = Applied(name, values, effect, what)
    if any(one.as_text() == wanted.as_text() for one in stack):
        return text
    return as_text([*stack, wanted])
