"""Overlays of the 3D views: highlighted elements with the scene's depth, and texts beside the mouse."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import blf
import bpy

from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.layout.sight.affine import Box, Floats
from ...tracevis3d.overlay.items import Rectangle
from ...tracevis3d.scene.window.highlight import Highlight, Outline, outline
from ...tracevis3d.trace.selection import Ints
from .. import signals
from ..state import selection, settings, trace_state
from ..views import viewport
from . import marks, pointer, related, shapes
from .tooltip import draw_tooltip

#: Fill, edge and width of the edge in pixels of what is lit; colours that the colour-blind tell apart.
_LOOKS = {
    "related": ((0.90, 0.62, 0.0, 0.30), (0.75, 0.45, 0.0, 0.9), 1.0),
    "matched": ((0.0, 0.45, 0.70, 0.35), (0.0, 0.30, 0.55, 1.0), 1.6),
    "selected": ((0.80, 0.47, 0.65, 0.25), (0.62, 0.0, 0.45, 1.0), 2.4),
    "same": ((0.84, 0.37, 0.0, 0.45), (0.55, 0.15, 0.0, 1.0), 2.2),
}
_BAND = (0.80, 0.47, 0.65, 0.22)
_BAND_EDGE = (0.62, 0.0, 0.45, 0.9)
_MARK = (0.0, 0.45, 0.70, 0.16)
_MARK_EDGE = (0.0, 0.35, 0.60, 0.9)
_PAD = 0.3  # around the words of a band, in sizes of their type
_BANNER_WIDEST = 62.0  # sizes of the type: longer lines are hard to read
_HEADING = (0.95, 0.72, 0.30, 1.0)


@dataclass
class State:
    """The state of the mouse; there is one, as there is one mouse.

    Attributes
    ----------
    exploring : bool
        Whether Explore mode is on.
    hit : Hit or None
    pointed : Pointed or None
        What the hit element shows beside calls.
    pinned : Pointed or None
        The same of the element that was clicked, where it represents no call that could be selected.
    descriptions : list of Description
    place : (int, int)
        The mouse in the region's pixels.
    region : int
        Which region it is in: its pointer as a number; 0: none.
    brush : (object name, float, float) or None
        A range along the x of an object, or the axis of a drum, that is being brushed.
    message : str
        Shown at the foot of the view for the moment.
    apart : float
        Pixels about the mouse on which no tooltip lies: something else is drawn there.
    cut : int
        Another number whenever a slab has moved.
    tooltip : (float, float, float, float)
        Where the last tooltip was drawn: left, lower, right and upper pixel of its region.
    banner : (str, str, list of (str, int)) or None
        Heading and sentence at the top of the views, and the traces' selections that they are about.
    """

    exploring: bool = False
    hit: Any = None
    pointed: related.Pointed | None = None
    pinned: related.Pointed | None = None
    descriptions: list[Description] = field(default_factory=list)
    place: tuple[int, int] = (0, 0)
    region: int = 0
    brush: tuple[str, float, float] | None = None
    message: str = ""
    apart: float = 0.0
    cut: int = 0
    tooltip: Rectangle = (0.0, 0.0, 0.0, 0.0)
    banner: tuple[str, str, list[tuple[str, int]]] | None = None


state = State()


class Cover(Protocol):
    """What lies over the scene, such as a legend: it answers the mouse before the scene behind it."""

    def point(self, place: Any) -> list[Description] | None:
        """Take note of the mouse, at a :class:`.place.Place` or, with None, in no 3D view.

        Returns
        -------
        list of Description or None
            What it says of the place; None: it does not lie there.
        """

    def click(self, context: Any, place: Any, double: bool, extend: bool) -> None:
        """Answer a click at a place where it lies."""

    def restore(self, context: Any) -> bool:
        """Take back what clicks have done, as Esc asks for; returns whether there was anything."""


covers: list[Cover] = []

#: Highlighted elements are being drawn: the 3D view and the scale of the screen.
on_lit: signals.Signal[[Any, float]] = signals.Signal()


#: Flat shapes are drawn, below the texts beside the mouse: the context.
on_flat: signals.Signal[[Any]] = signals.Signal()
#: Each returns between which corners, in its own coordinates, an object shows anything; None: all of it.
withins: list[Callable[[Any], Box | None]] = []


def outlined(name: str, pickable: Any, elements: Any) -> Outline:
    """Return the outline of some elements of an object, as far as it shows them."""
    shown = bpy.data.objects.get(name)
    boxes = [box for within in withins if shown is not None and (box := within(shown)) is not None]
    return outline(pickable, elements, boxes[0] if boxes else None)


def announce(heading: str, sentence: str, traces: list[str]) -> None:
    """Write a sentence at the top of the 3D views, until something else is selected in ``traces``."""
    state.banner = (heading, sentence, [(key, selection.revision(key)) for key in traces])
    redraw()


class _Drawn:
    """Batches of one kind of lit elements, made again when what they show has changed."""

    def __init__(self) -> None:
        self.key: Any = None
        self.lit: list[tuple[str, Any, Ints, str]] = []
        self.batches: list[tuple[str, Any]] = []

    def renew(self, key: Any, lit: Any) -> None:
        """Make the batches of ``lit()``: name, Held, elements, look; unless ``key`` is the same."""
        if key == self.key:
            return
        self.key = key
        self.lit = [each for each in lit() if len(each[2])]
        self.batches = [
            (name, Highlight(outlined(name, pickable, elements), *_LOOKS[look]))
            for name, pickable, elements, look in self.lit
        ]

    def draw(self, view: Any, scale: float, through: bool = False) -> None:
        """Draw the batches whose objects are still there; ``through``: before everything else."""
        for name, batch in self.batches:
            shown = bpy.data.objects.get(name)
            if shown is not None:
                batch.draw(shown.matrix_world, view, scale, through=through)


_hovered, _selected, _pinned = _Drawn(), _Drawn(), _Drawn()


def lit_now() -> dict[tuple[str, str], Ints]:
    """Return what is lit with what the mouse is over: object name and look -> elements."""
    return {(name, look): elements for name, _, elements, look in _hovered.lit if state.hit is not None}


def forget() -> None:
    """Release what was drawn."""
    for drawn in (_hovered, _selected, _pinned):
        drawn.key, drawn.lit, drawn.batches = None, [], []
    state.hit, state.descriptions, state.brush, state.region, state.banner = None, [], None, 0, None
    state.pointed = state.pinned = None


def _draw_lit() -> None:
    """Draw what is lit in the region that is being drawn."""
    context = bpy.context
    space, view = context.space_data, context.region_data
    if view is None or not space.overlay.show_overlays:
        return
    on_lit.send(view, context.preferences.system.ui_scale)
    if not settings.all_in(context.scene):
        return
    signals.on_draw.send(context)
    shown_here = pointer.shown_in(context.scene, space)
    present = [entry for entry in shown_here if entry[2].has_related or entry[2].has_description]
    scale = context.preferences.system.ui_scale
    if not present:
        return
    stamp = (tuple((shown.name, pickable.stamp) for _, shown, pickable in present), state.cut)
    keys = {key for holder, _, _ in present for key in trace_state.keys_of(holder)}
    chosen = tuple((key, selection.revision(key)) for key in sorted(keys))
    if any(revision for _, revision in chosen):
        _selected.renew((stamp, chosen), lambda: _lit_selection(present))
        # In an X-ray picture the selection shows through everything else.
        _selected.draw(view, scale, bool(space.shading.show_xray))
    what = related.kinds_of(context)
    if state.hit is not None and state.pointed is not None and state.pointed.asked and not state.hit.is_call:
        # A wait or a match is more specific than its call, whose function would have too many elements.
        what &= {"MATCH"}
    if (pinned := state.pinned) is not None:
        _pinned.renew((stamp, pinned.revision), lambda: _lit_related(present, {}, what, pinned, "selected"))
        _pinned.draw(view, scale, bool(space.shading.show_xray))
    calls = {key: selection.hovered(key) for key in keys}
    if any(map(len, calls.values())) or state.pointed is not None:
        found = tuple((key, call.tobytes()) for key, call in sorted(calls.items()))
        pointed = state.pointed
        about = pointed.revision if pointed is not None else 0
        _hovered.renew(
            (stamp, found, about, tuple(sorted(what))), lambda: _lit_related(present, calls, what, pointed)
        )
        _hovered.draw(view, scale)


def _lit_selection(present: list[tuple[Any, Any, Any]]) -> list[tuple[str, Any, Ints, str]]:
    holds_of = {shown.name: pickable for _, shown, pickable in present}
    return [
        (name, holds_of[name], found, "selected") for name, found in related.of_selection(present).items()
    ]


def _lit_related(
    present: list[tuple[Any, Any, Any]],
    calls: dict[str, Ints],
    what: set[str],
    pointed: related.Pointed | None,
    same: str = "same",
) -> list[tuple[str, Any, Ints, str]]:
    holds_of = {shown.name: pickable for _, shown, pickable in present}
    lit = related.of(present, calls, what, pointed.asked if pointed is not None else ())
    found = [
        (name, holds_of[name], getattr(each, role), same if role == "same" else role)
        for role in ("related", "matched", "same")
        for name, each in lit.items()
    ]
    if pointed is not None and pointed.shown in holds_of:
        # Elements without links are highlighted too.
        pickable = holds_of[pointed.shown]
        found.append((pointed.shown, pickable, pointed.within(pickable), same))
    return found


def _draw_texts() -> None:
    """Draw bands, marks and texts in the region that is being drawn."""
    context = bpy.context
    region, view, space = context.region, context.region_data, context.space_data
    if view is None or not space.overlay.show_overlays:
        return
    if not (settings.all_in(context.scene) or state.descriptions or state.message):
        return
    on_flat.send(context)
    scale = context.preferences.system.ui_scale
    for band, words, look in _bands(context):
        _draw_band(region, view, band, words, look, scale)
    if state.banner is not None and banner_is_shown():
        _draw_banner(context.area, region, *state.banner[:2], scale)
    if not state.exploring:
        return
    if state.descriptions and state.region == region.as_pointer():
        state.tooltip = draw_tooltip(
            context.area, region, state.descriptions, state.place, state.apart, scale
        )
    if state.message:
        _draw_message(region, state.message, scale)


def _bands(context: bpy.types.Context) -> list[tuple[Floats, str, str]]:
    """Return the ranges of time to show: corners (4, 3) in the scene, words, and look."""
    found = [(quad, words, "brush") for quad, words in marks.brushed_bands(context.scene, state.brush)]
    found += [(quad, words, "mark") for quad, words in marks.marked_bands(context.scene)]
    return found


def _draw_band(region: Any, view: Any, quad: Floats, words: str, look: str, scale: float) -> None:
    at = pointer.projection_of(region, view).pixels_in_front(quad)
    if at is None:
        return
    fill, edge = (_BAND, _BAND_EDGE) if look == "brush" else (_MARK, _MARK_EDGE)
    shapes.polygon(at, fill)
    for a, b in ((0, 3), (1, 2)):
        shapes.stroke(at[[a, b]], edge, 1.5 * scale)
    if words:
        size = 0.9 * shapes.TEXT * scale
        left, low, right, top = _plate_of(at, words, size)
        shapes.rectangle(left, low, right, top, (*edge[:3], 0.95))
        pad = _PAD * size
        shapes.write(words, left + pad, low + pad, size, shapes.INK)


def _plate_of(corners: Floats, words: str, size: float) -> Rectangle:
    """Return what the words of a band lie on: above the middle of its upper edge, in pixels."""
    blf.size(0, size)
    wide, _ = blf.dimensions(0, words)
    x, y = ((corners[2] + corners[3]) / 2).tolist()
    pad = _PAD * size
    return x - wide / 2 - pad, y + 0.4 * size - pad, x + wide / 2 + pad, y + 1.4 * size


def covered(context: bpy.types.Context, region: Any, view: Any) -> tuple[Rectangle, ...]:
    """Return where the words of bands lie in a region, which other texts keep off."""
    size, eye = 0.9 * shapes.TEXT * context.preferences.system.ui_scale, pointer.projection_of(region, view)
    seen = ((eye.pixels_in_front(quad), words) for quad, words, _ in _bands(context) if words)
    return tuple(_plate_of(at, words, size) for at, words in seen if at is not None)


def _draw_banner(area: Any, region: Any, heading: str, sentence: str, scale: float) -> None:
    """Draw a heading and a sentence at the top of what no header and no sidebar covers."""
    left, right, top = viewport.covered(area, region)
    size = 1.05 * shapes.TEXT * scale
    step, pad = shapes.LINE * size, 0.8 * size
    free = region.width - left - right - 4 * pad
    if free < 10 * size:
        return
    blf.size(0, size)
    lines = _wrapped(sentence, min(free, _BANNER_WIDEST * size))
    wide = max(blf.dimensions(0, line)[0] for line in [heading, *lines])
    x, y = left + pad, region.height - top - pad
    shapes.rectangle(x, y - step * (len(lines) + 1) - 1.4 * pad, x + wide + 2 * pad, y, shapes.GROUND)
    shapes.write(heading, x + pad, y - pad - 0.75 * size, size, _HEADING)
    for i, line in enumerate(lines, 1):
        shapes.write(line, x + pad, y - pad - 0.75 * size - i * step, size, shapes.INK)


def banner_is_shown() -> bool:
    """Return whether a sentence stands at the top: it does until something else is selected."""
    return state.banner is not None and all(
        selection.revision(key) == revision for key, revision in state.banner[2]
    )


def banner_height() -> int:
    """Return how many pixels of a 3D view a sentence at its top takes, about: a heading and three lines."""
    size = 1.05 * shapes.TEXT * bpy.context.preferences.system.ui_scale
    return round(4 * shapes.LINE * size + 3 * size)


def _wrapped(text: str, wide: float) -> list[str]:
    """Return ``text`` in lines that are not wider, in the type that is set."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and blf.dimensions(0, longer)[0] > wide:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _draw_message(region: Any, words: str, scale: float) -> None:
    size = 1.1 * shapes.TEXT * scale
    blf.size(0, size)
    wide, _ = blf.dimensions(0, words)
    left, low, pad = (region.width - wide) / 2, 2.5 * size, 0.6 * size
    shapes.rectangle(left - pad, low - pad, left + wide + pad, low + size + 0.6 * pad, shapes.GROUND)
    shapes.write(words, left, low, size, shapes.INK)


def say(sentence: str) -> None:
    """Show a sentence at the foot of the 3D views for a while."""

    def hush() -> None:
        if state.message == sentence:
            state.message = ""
            redraw()

    state.message = sentence
    redraw()
    bpy.app.timers.register(hush, first_interval=2.5)


def redraw() -> None:
    """Let all 3D views be drawn again."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _on_select(_trace: str) -> None:
    redraw()


_handles: list[Any] = []


def _on_show(_scene: Any, view: Any, _traces: list[Any], _drawing: Any) -> None:
    """Describe no element of a view that was drawn anew: it is elsewhere, or gone."""
    if state.hit is not None and state.hit.view == view.name:
        state.hit, state.descriptions, state.pointed = None, [], None


def register() -> None:
    """Draw in all 3D views from now on; where there is no window nothing is drawn."""
    if bpy.app.background:
        return
    kinds = ((_draw_lit, "POST_VIEW"), (_draw_texts, "POST_PIXEL"))
    for draw, when in kinds:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when))
    signals.on_select.connect(_on_select)
    signals.on_show.connect(_on_show)


def unregister() -> None:
    """Draw nothing any more."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    signals.on_select.disconnect(_on_select)
    signals.on_show.disconnect(_on_show)
    forget()
