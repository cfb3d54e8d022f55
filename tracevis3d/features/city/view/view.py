"""The program as a city: classes are buildings, packages districts, calls arcs over the roofs.

After polymetric views (Lanza and Ducasse), CodeCity (Wettel and Lanza), treemaps (Johnson and Shneiderman)
and De Pauw's clusters. Of two runs colour shows what grows and what shrinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.palettes import Colors
from ....drawing.picked import Description, PickedElement
from ....drawing.primitives import Drawing, Tubes
from ....progress import Progress
from ....trace.model import Trace
from ....trace.profile import calls_word
from ....views.calls.actions import with_actions
from ....views.describe import StoredNames
from ....views.describe import describe as describe_element
from ....views.view import View
from ..actions import HIDE_STACK, PLAY_STACK
from ..findings import change, summary
from ..metrics import ADDITIVE, NAMES, Parts, name_of
from ..stacks import stacks_at
from . import buildings, curves, names
from .layout import Layout, camera, compose
from .parameters import Parameters

_FINDING: Colors = np.array([0.93, 0.38, 0.09, 1.0], np.float32)


def draw(traces: Sequence[Trace], parameters: Parameters, frame: Frame, progress: Progress) -> Drawing:
    """Draw the city of one trace, or what changes from one to another.

    Parameters
    ----------
    traces : one or two of Trace
    parameters : Parameters
    frame : Frame
        Of the picture.
    progress : Progress

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        If there are no calls.
    """
    progress(0.0, "measuring the parts")
    picture = compose(traces, parameters, frame)
    progress(0.6, "building")
    drawing = DrawingBuilder()
    mark = drawing.color(_FINDING)
    if picture.before is not None:
        sentence, top = change(
            picture.names(), picture.before, picture.value, picture.parameters.height, traces[1]
        )
        drawing.note(f"{traces[0].source.title} and {traces[1].source.title}")
    else:
        whole = Parts(picture.runs[-1].parts.what, picture.path, picture.runs[-1].parts.of_function)
        sentence, top = summary(whole, picture.value, picture.parameters.height, traces[-1])
        drawing.note(traces[0].source.title)
    buildings.districts(drawing, picture)
    colors = buildings.buildings(drawing, picture)
    buildings.glyphs(drawing, picture)
    pairs = 0
    if parameters.stack and len(picture.tiles) == 1:
        run, moment = picture.runs[-1], units.read_time("stack", parameters.stack)
        found = stacks_at(run.trace, run.parts.of_function, moment, curves.TRAIL)
        curves.stacks(drawing, picture, found)
        sentence, top = curves.said_of(picture, found, moment), -1
    else:
        pairs = curves.arcs(drawing, picture)
    names.names(drawing, picture, colors, top if parameters.findings else -1, mark)
    drawing.note(*_notes(picture, pairs))
    progress(1.0, "drawn")
    return drawing.finish(camera(picture, _highest(drawing)), sentence, parts=len(picture.path), pairs=pairs)


def _highest(drawing: DrawingBuilder) -> float:
    """Return how high curves over the roofs rise."""
    tubes = (one for one in drawing.elements if isinstance(one, Tubes))
    return max((float(tube.point[:, 2].max()) for tube in tubes), default=0.0)


def _notes(picture: Layout, pairs: int) -> tuple[str, ...]:
    p = picture.parameters
    kind = units.SCALES[p.scale]
    notes = [f"area: {name_of(p.area, picture.runs[-1].trace)}"]
    if picture.high > 0:
        notes.append(f"height: {name_of(p.height, picture.runs[-1].trace)}, {kind} scale")
    if picture.rules.glyph:
        notes.append(f"glyph: {NAMES[picture.rules.glyph]}")
    tiles = len(picture.tiles)
    if p.arcs and pairs > p.arcs * tiles:
        each = " in each slice" if tiles > 1 else ""
        calls = calls_word(picture.runs[-1].trace)
        notes.append(f"arcs: the {p.arcs:,} of {pairs:,} pairs with most {calls}{each}")
    if p.floors > 1 and p.height not in ADDITIVE:
        notes.append(f"{NAMES[p.height]} has no floors: it does not add up over time")
    if tiles > 1:
        notes.append(
            f"{tiles:,} slices of {units.duration(picture.window[1] / tiles)}, each with its highest part"
        )
    if p.multiples and tiles == 1:
        notes.append("multiples need floors=2 or more")
    if p.multiples and p.stack:
        notes.append("no stack is shown on small cities")
    if picture.before is not None:
        notes.append("frames: how high it was in the first run")
    elif len(picture.runs) > 1:
        notes.append("small cities show the second run alone")
    notes.append(picture.runs[-1].trace.problems.note())
    return tuple(notes)


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the description of a building: its measures, and its longest call.

    Parameters
    ----------
    element : PickedElement
    traces : sequence of Trace or StoredNames
        One or two.
    parameters : object
        Those of the view.

    Returns
    -------
    list of Description
    """
    texts = dict(element.texts)
    if "part" not in texts:
        return describe_element(element, traces, parameters)
    said = Description(texts.pop("part"), rows=[(title, text) for title, text in texts.items() if text])
    if not any(call >= 0 for call in element.calls.values()):
        return [said]
    return [said, *describe_element(element.as_call(), traces, parameters)]


VIEW = View(
    name="city",
    title="City",
    sentence="The program as a city: classes are buildings, packages districts; of two runs, what grows",
    traces=(1, 2),
    parameters=Parameters,
    draw=draw,
    describe=describe,
    actions=with_actions(PLAY_STACK, HIDE_STACK),
    suits=lambda trace: 0.2 if len(trace.calls) else 0.0,
    docs="city.md",
)
