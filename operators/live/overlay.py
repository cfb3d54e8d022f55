"""What explains a live view, drawn over each 3D view that does not look through its camera."""

from typing import Any

import bpy

from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.layout.sight.view_projection import ViewProjection
from ...tracevis3d.overlay.compose import compose
from ...tracevis3d.overlay.items import Choices, Overlay, Target, Theme
from ...tracevis3d.overlay.names import prepare
from .. import handlers, signals
from ..explore import overlay as explore
from ..explore.place import Place
from ..overlay.canvas import Canvas, measure, measure_in
from ..overlay.content import Content, contents
from ..overlay.draw import depths_of, others
from ..overlay.framing import Framed, Subject
from ..overlay.page import is_page, saw
from ..overlay.room import free_of, gizmo_of, theme_of
from ..views import viewport
from .watched_feed import Feed, on_picture

#: By the address of a region: what draws there, and what was drawn last.
_regions: dict[int, tuple[Canvas, Overlay]] = {}
#: The 3D view that a live view fills until somebody moves it, and which data it was filled with.
_framed: list[Any] = []


class _Legend:
    """What a person does with the legend: which headings are folded or opened, and where the mouse is."""

    folded: frozenset[int] = frozenset()
    pointed = ""


_legend = _Legend()


def _subject() -> Subject | None:
    """Return what explains the live view that is watched; None: none is shown."""
    shown = _shown()
    if shown is None or shown.stale:
        return None
    explained = shown.explanations()
    names = prepare(explained.names, explained.palette, measure)
    return Subject(Content(explained, names, explained.names), (0.0, 0.0, 0.0), shown.style.name)


def is_shown_in(scene: bpy.types.Scene) -> bool:
    """Whether a scene shows the live view that is watched."""
    shown = _shown()
    return shown is not None and bool(shown.scene_name == scene.name)


def look(context: bpy.types.Context) -> None:
    """Let the 3D view be filled by the live view, until somebody moves it."""
    scene = context.window.scene if context.window is not None else context.scene
    area = viewport.area_of(context)
    framed = Framed(scene.name, _subject)
    viewport.look(context, framed)
    _framed[:] = [area, framed, _kind()] if area is not None else []


def _shown() -> Any:
    return Feed.current.shown if Feed.current is not None else None


def _kind() -> tuple[Any, ...]:
    """Return what is different whenever other data is to be framed."""
    shown = _shown()
    return (shown, *shown.fills) if shown is not None else ()


def follow() -> None:
    """Fill the 3D view anew if the live view has become larger, or is another one."""
    if not _framed or not (kind := _kind()) or kind == _framed[2]:
        return
    area, framed, before = _framed
    if not viewport.is_open(area) or framed.is_moved(area):
        # A person has chosen another viewpoint.
        _framed.clear()
        return
    if before[:1] != kind[:1] and (camera := _camera()) is not None:
        viewport.view_from(area.spaces.active, camera)
        framed = Framed(framed.scene, _subject)
    _framed[:] = [area, framed, kind]
    framed(area)


def _camera() -> bpy.types.Object | None:
    shown = _shown()
    scene = bpy.data.scenes.get(shown.scene_name) if shown is not None else None
    return scene.camera if scene is not None else None


def texts(region: bpy.types.Region) -> list[Any]:
    """Return the texts that were last drawn over a region, as :class:`.items.Text`."""
    made = drawn(region)
    return list(made.texts) if made is not None else []


def drawn(region: bpy.types.Region) -> Overlay | None:
    """Return what was last drawn over a region; None: nothing."""
    known = _regions.get(region.as_pointer())
    return known[1] if known is not None else None


def _choices(subject: Subject) -> Choices:
    """Return which entries of the legend are chosen, and which one the mouse is on."""
    chosen = Feed.current.chosen if Feed.current is not None else frozenset()

    def among(texts: frozenset[str]) -> frozenset[tuple[int, int]]:
        legends = enumerate(subject.content.explained.legends)
        return frozenset(
            (k, i) for k, found in legends for i, entry in enumerate(found.entries) if entry.text in texts
        )

    return Choices(_legend.folded, among(chosen), among(frozenset({_legend.pointed})))


def _is_drawn(context: bpy.types.Context) -> bool:
    """Whether the overlay is drawn in the region of a context."""
    shows = context.region_data is not None and context.space_data.overlay.show_overlays
    return bool(shows and is_shown_in(context.scene))


def _draw() -> None:
    context = bpy.context
    region, view, space = context.region, context.region_data, context.space_data
    if not _is_drawn(context):
        _regions.pop(region.as_pointer(), None)
        return
    saw(context)
    subject = None if is_page(context.scene) else _subject()
    if subject is None:
        _regions.pop(region.as_pointer(), None)
        return
    scale = context.preferences.system.ui_scale
    if measure_in(Theme(scale=scale).type):
        contents.forget()
    free = free_of(context.area, region, context.scene)
    banner = explore.banner_is_shown()
    if banner:
        free = (*free[:3], free[3] - explore.banner_height())
    canvas, before = _regions.get(region.as_pointer(), (Canvas(), Overlay()))
    depths = depths_of(region, view)
    made = compose(
        subject.content.explained,
        subject.content.names,
        ViewProjection.of(view.perspective_matrix, region.width, region.height),
        free,
        view.view_location,
        theme_of(subject.style, scale),
        measure,
        choices=_choices(subject),
        # Callouts stay in their places; the texts that move are others at each moment.
        before=Overlay(places=before.places),
        covered=depths.covered if depths is not None else None,
        heading=viewport.is_main(space, view),
        title=not banner,
        corner=gizmo_of(space, scale),
    )
    canvas.draw(made)
    _regions[region.as_pointer()] = canvas, made


def _at(place: Place) -> Target | None:
    """Return what of the legend lies under the mouse, the smallest: callouts let the mouse through."""
    made = drawn(place.region)
    found = [
        target
        for target in (made.targets if made is not None else ())
        if target.kind != "callout"
        and target.box[0] <= place.x < target.box[2]
        and target.box[1] <= place.y < target.box[3]
    ]
    return min(found, key=lambda target: target.box[3] - target.box[1], default=None)


def _entry(target: Target | None) -> str:
    """Return the text of an entry of the legend; empty where the target is none."""
    shown = _shown()
    if target is None or target.kind != "entry" or shown is None:
        return ""
    legend, entry = target.index
    legends = shown.explanations().legends
    entries = legends[legend].entries if legend < len(legends) else ()
    # The legend may have changed since it was drawn.
    return str(entries[entry].text) if entry < len(entries) else ""


class _Cover(explore.Cover):
    def point(self, place: Place | None) -> list[Description] | None:
        target = _at(place) if place is not None else None
        if (text := _entry(target)) != _legend.pointed:
            _legend.pointed = text
            explore.redraw()
        if target is None:
            return None
        rows = [("click", "mutes everything else; again: shows all"), ("Shift, click", "adds or removes it")]
        return [Description(text, "", rows)] if text else []

    def click(self, context: bpy.types.Context, place: Place, double: bool, extend: bool) -> None:
        target, feed = _at(place), Feed.current
        if target is None or feed is None:
            return
        if target.kind == "legend":
            _legend.folded ^= {target.index[0]}
        elif text := _entry(target):
            one = frozenset({text})
            if extend:
                feed.choose(feed.chosen ^ one)
            else:
                feed.choose(frozenset() if feed.chosen == one and not double else one)

    def restore(self, context: bpy.types.Context) -> bool:
        feed = Feed.current
        if feed is None or not feed.chosen:
            return False
        feed.choose(frozenset())
        return True


def forget() -> None:
    """Release everything that was drawn."""
    _regions.clear()
    _framed.clear()
    _legend.folded, _legend.pointed = frozenset(), ""


_cover = _Cover()
_handles: list[Any] = []
_CONNECTIONS = ((handlers.before_loading, forget), (on_picture, follow))


def register() -> None:
    """Draw in all 3D views from now on; where there is no window nothing is drawn."""
    signals.connect(_CONNECTIONS)
    explore.covers.append(_cover)
    others.append(_is_drawn)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Draw nothing any more."""
    signals.disconnect(_CONNECTIONS)
    explore.covers.remove(_cover)
    others.remove(_is_drawn)
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    forget()
