"""The call hierarchy as a cone tree (Robertson, Mackinlay, Card 1991), over SEAT's compact trace.

A caller is the tip of a cone, its callees stand around its foot, clockwise in the order of the calls; a
callee that repeats in a row stands there once, with how often. Seen from above, and flat (``opening`` 0), it
is the disc tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Drawing, Labels, Legend, LegendEntry
from ....drawing.projection import fit
from ....drawing.selector import Selector
from ....progress import Progress
from ....trace import profile
from ....trace.model import Trace
from ....views.calls.actions import with_actions
from ....views.calls.colors import Coloring
from ....views.calls.pull_apart import pull_apart
from ....views.view import View
from ..commands import COMMANDS
from ..headline import about, headline, measured
from . import labels as names
from .actions import OPEN_AROUND, TURN
from .camera import SHARE, on_the_way, whole
from .detail import LevelOfDetail
from .elements import Paint, elements, meaning, surroundings
from .layout import Layout, rise_of
from .opened import goal, in_the_way, open_in_view
from .parameters import QUANTITIES, Parameters
from .paths import find_path
from .prepared import prepare
from .sizes import of_one_call

Ints = NDArray[np.int64]


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the cone tree of one trace.

    Parameters
    ----------
    traces : one Trace
    parameters : Parameters
    frame : Frame
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    UsageError
        If a thread, a filter or the focus doesn't exist.
    """
    (trace,) = traces
    prepared = prepare(trace, parameters, progress)
    p, picture = prepared.parameters, prepared.picture
    camera = whole(picture, p, frame)
    base = Paint.of(picture, prepared.colors, prepared.faded(picture))
    around = surroundings(picture, base, p)
    eye, opened, shown = fit(camera, frame, SHARE), 0, np.ones(len(picture), np.bool_)
    # Also at the beginning, so that a film begins without a jump.
    if p.approach > 0 or (p.toward.strip() and p.layout == "cone"):
        place = goal(prepared)
        camera = on_the_way(p, place, camera)
        eye = fit(camera, frame, SHARE)
        picture, calls = open_in_view(prepared, eye, shown=~in_the_way(picture, place, p.approach, eye))
        opened, shown = len(calls), ~in_the_way(picture, place, p.approach, eye)
    faded = prepared.faded(picture)
    paint = Paint.of(picture, prepared.colors, faded)
    path = find_path(picture, p)
    progress(0.9, "writing labels")
    texts = names.labels(picture, eye, shown & ~faded, path, p, shown)
    leaders = names.leaders(texts, paint.neutral["line"])
    closed = picture.closed
    progress(1.0, "drawn")
    counted = picture.nodes.depth > 1
    facts = prepared.facts
    return Drawing(
        palette=paint.palette,
        elements=(
            *elements(picture, paint, path, p, shown),
            *(some for some in (*around, leaders) if len(some)),
        ),
        camera=camera,
        labels=tuple(group for group in texts.labels if len(group)),
        legends=_legends(
            prepared.colors,
            picture,
            closed,
            paint.neutral,
            bool((picture.nodes.parent[path] >= 0).any()),
            bool(faded.any()),
            p,
        ),
        title=headline(trace),
        notes=_notes(trace, picture, facts, opened, p),
        counts={
            "calls": len(trace.calls),
            "distinct_subtrees": len(picture.graph),
            "shown_nodes": int(np.count_nonzero(counted)),
            "closed_subtrees": int(np.count_nonzero(closed)),
            "opened_near": opened,
            "hidden_calls": int(facts.get("hidden", 0)),
            "faded_calls": int(facts.get("faded", 0)),
            "sunk_calls": int(facts.get("sunk", 0)),
        },
        meaning=meaning(picture, prepared.calls(picture)),
    )


def _legends(
    colors: Coloring, picture: Layout, closed: NDArray[np.bool_], neutral: dict[str, int], path: bool,
    faded: bool, p: Parameters,
) -> tuple[Legend, ...]:  # fmt: skip
    found = [colors.legend] if colors.legend else []
    entries = []
    if path:
        words = {"duration": "most time", "calls": "most calls", "focus": "way to the focus"}[p.path]
        entries.append(LegendEntry(f"tube: {words}", neutral["path"], "glow", Selector(kinds=("path",))))
    if closed.any() and p.layout != "hyperbolic":
        shape = "cone" if p.opening > 0 else "large disc"
        text = f"{shape}: closed subtree, +calls below"
        if p.closed == "shape":
            high = "" if p.opening == 0 else "levels high, "
            text = f"{shape}: closed subtree, {high}calls a level wide, full: most {picture.weights.word}"
        entries.append(LegendEntry(text, neutral["other"], stands_for=Selector(kinds=("closed subtree",))))
    elif closed.any():
        entries.append(LegendEntry("+calls: below a closed subtree", neutral["other"]))
    if (picture.missing > 0).any():
        text, partly = "dashed ring: partly shown, ~callees not shown", Selector(kinds=("partly shown",))
        entries.append(LegendEntry(text, neutral["other"], stands_for=partly))
    if picture.linking.any():
        entries.append(LegendEntry("pale: leads to the focus", len(colors.palette), "ghost"))
    if p.shells != "none":
        words = "bubble: all below one call" if p.layout == "bubble" else "ring: callees of one call"
        entries.append(LegendEntry(words, neutral["other"], stands_for=Selector(kinds=("ring", "cone"))))
    if faded:
        entries.append(LegendEntry("pale: faded by a filter", len(colors.palette), "ghost"))
    if entries:
        found.append(Legend("Tree", tuple(entries)))
    return tuple(found)


def _notes(
    trace: Trace, picture: Layout, facts: dict[str, Any], opened: int, p: Parameters
) -> tuple[str, ...]:
    shown = int(np.count_nonzero(picture.nodes.depth > 1))
    stood = int(picture.iterations[picture.nodes.depth > 1].sum())
    notes = [
        about(trace),
        f"{len(picture.graph):,} distinct subtrees; {shown:,} places of the tree are shown (the most "
        f"interesting by {p.interest}), which represent {profile.counted_calls(trace, stood)} with repeats",
        _order_in_words(picture, p, is_ordered=not len(trace.samples) or trace.samples.are_timed),
    ]
    if p.size != "none":
        what = QUANTITIES.get(p.size, "")
        if p.size == "calls":
            what = f"{profile.calls_word(trace)} in the subtree"
        elif p.size == "weight":
            often = "of one such call" if of_one_call(p) else "in it with all repetitions"
            what = f"{_carried(trace, picture)} {often}"
        notes.append(f"{'size' if p.layout == 'hyperbolic' else 'area'} of a node: {what}")
    if p.layout == "bubble" and p.opening > 0:
        what = rise_of(trace, picture.graph, p)
        notes.append(f"height of a node: {QUANTITIES[what]}, {_scale_in_words(what)}")
    if p.closed == "shape" and picture.closed.any():
        notes.append(
            "closed subtrees: high as levels below; wide as calls on a level on average, logarithmic scale; "
            f"filled as far as {_carried(trace, picture)} in it, square-root scale"
        )
    if (picture.column > 0).any():
        notes.append("long lists of callees stand on cylinders, row by row in the order of the calls")
    if opened:
        notes.append(f"{opened:,} closed subtrees are opened in place, because the camera is near")
    if facts:
        notes.append(
            f"filters: {facts['hidden']:,} calls hidden, {facts['faded']:,} faded, {facts['sunk']:,} sunk"
        )
        notes += [one["hint"] for one in facts["filters"] if "hint" in one]
    if len(picture.threads) < np.count_nonzero(trace.threads.count):
        notes.append(
            f"{len(picture.threads):,} of {int(np.count_nonzero(trace.threads.count)):,} threads are drawn"
        )
    notes += filter(None, (profile.note(trace), trace.problems.note()))
    return tuple(notes)


def _carried(trace: Trace, picture: Layout) -> str:
    """Return what places carry, in words."""
    return profile.calls_word(trace) if picture.weights.kind == "calls" else measured(trace)


def _scale_in_words(what: str) -> str:
    return "square-root scale" if what in ("duration", "self") else "logarithmic scale"


def _order_in_words(picture: Layout, p: Parameters, *, is_ordered: bool) -> str:
    order = "in the order of their calls" if is_ordered else "by their weight, the heaviest first"
    if p.layout == "bubble":
        return f"callees stand clockwise {order}, beginning at the line to their caller"
    if p.layout == "hyperbolic":
        moved = picture.focus.size or p.facing.strip()
        carried = _carried(picture.trace, picture)
        middle = "the focus" if moved else f"the innermost call with half of the {carried}"
        return (
            f"{middle} is in the middle of the ball; lengths shrink towards its rim, which is infinitely far"
        )
    if picture.focus.size or p.facing.strip():
        return "the cones are turned so that the focus is in front"
    return f"callees stand clockwise {order}, beginning at the right"


VIEW = View(
    name="cone",
    title="Cone tree",
    sentence="The call hierarchy as a cone tree: callees stand around the foot of their caller's cone",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    level_of_detail=LevelOfDetail,
    actions=with_actions(TURN, OPEN_AROUND, pull_apart({"level": {"steepness": 2.0}})),
    commands=COMMANDS,
    docs="tree.md",
)

__all__ = ["VIEW", "Labels", "Parameters", "draw", "find_path"]
