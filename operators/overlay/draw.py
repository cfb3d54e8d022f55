"""Draws what explains the views over each region of a 3D view that does not show the page."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
import gpu
from mathutils import Matrix, Vector

from ...tracevis3d.layout.sight.framing import Lens
from ...tracevis3d.layout.sight.view_projection import ViewProjection
from ...tracevis3d.overlay.compose import compose
from ...tracevis3d.overlay.fading import Fading
from ...tracevis3d.overlay.items import Choices, Overlay, Rectangle, Theme
from ...tracevis3d.overlay.names import Prepared
from ...tracevis3d.overlay.ramps import choices
from ...tracevis3d.overlay.sight import Depths
from .. import handlers
from ..explore import overlay as explore
from ..explore.sight import slabs
from ..state import settings
from ..views import viewport
from . import legend, minimap
from .canvas import Canvas, atlas, measure, measure_in
from .content import Content, contents
from .page import is_page
from .room import free_of, gizmo_of, theme_of

#: Seconds between two readings of the depths, and between two redraws while names come and go.
_READ, _AGAIN = 0.25, 1 / 30


@dataclass
class Region:
    """The overlay of one region.

    Attributes
    ----------
    shown : dict
        Name of a view's collection -> the overlay that was composed last.
    seen : dict
        Name -> the same as it was drawn, with names that come and go.
    keys : dict
        Name -> what that was composed from.
    composing, drawing : float
        Milliseconds of the processor that either took.
    """

    shown: dict[str, Overlay] = field(default_factory=dict)
    seen: dict[str, Overlay] = field(default_factory=dict)
    fading: dict[str, Fading] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    canvas: dict[str, Canvas] = field(default_factory=dict)
    depths: Depths | None = None
    read: float = 0.0
    names: dict[str, tuple[Any, Prepared]] = field(default_factory=dict)
    composing: float = 0.0
    drawing: float = 0.0


#: By the address of each region.
regions: dict[int, Region] = {}
#: Folded legends by the name of a view's collection.
folded: dict[str, frozenset[int]] = {}
#: Whether another overlay is drawn in the region of a context, which asks for its depths.
others: list[Callable[[bpy.types.Context], bool]] = []


def _known(region: bpy.types.Region) -> Region:
    """Return what is known of a region; when a new one is met, what was of closed ones is released."""
    key = region.as_pointer()
    if key not in regions:
        screens = [window.screen for window in bpy.context.window_manager.windows]
        present = {r.as_pointer() for screen in screens for area in screen.areas for r in area.regions}
        for gone in regions.keys() - present:
            del regions[gone]
        regions[key] = Region()
    return regions[key]


def _wanted(context: bpy.types.Context) -> bool:
    space = context.space_data
    return bool(
        context.region_data is not None
        and space.overlay.show_overlays
        and settings.all_in(context.scene)
        and not is_page(context.scene)
    )


def _read_depths() -> None:
    """Keep the depths of the region that is being drawn: names behind something are not shown."""
    context = bpy.context
    if not (_wanted(context) or any(wants(context) for wants in others)):
        return
    region, view = context.region, context.region_data
    known = _known(region)
    now = time.perf_counter()
    fits = known.depths is not None and known.depths.fits(region.width, region.height)
    if fits and now - known.read < _READ:
        if known.depths is not None and not known.depths.is_of(view.perspective_matrix):
            _look_again()
        return
    known.read = now
    try:
        buffer = gpu.state.active_framebuffer_get().read_depth(0, 0, region.width, region.height)
        buffer.dimensions = region.width * region.height
        lens = Lens.of(view.window_matrix, view.is_perspective, view.view_distance)
        found = Depths.of(buffer, region.width, region.height, view.perspective_matrix, lens)
        if known.depths is None or not known.depths.is_same(found):
            known.depths = found
    except (RuntimeError, ValueError, SystemError):
        known.depths = None


def _projection(region: bpy.types.Region, view: bpy.types.RegionView3D) -> ViewProjection:
    return ViewProjection.of(view.perspective_matrix, region.width, region.height)


def _look_again() -> None:
    if not bpy.app.timers.is_registered(explore.redraw):
        bpy.app.timers.register(explore.redraw, first_interval=_READ)


def _draw() -> None:
    """Compose and draw the overlay of the region that is being drawn."""
    context = bpy.context
    if not _wanted(context):
        if any(wants(context) for wants in others):
            _known(context.region).shown = _known(context.region).seen = {}
        else:
            regions.pop(context.region.as_pointer(), None)
        return
    region, view = context.region, context.region_data
    known = _known(region)
    scale = context.preferences.system.ui_scale
    if measure_in(Theme(scale=scale).type):
        contents.forget()
    free, active = free_of(context.area, region, context.scene), settings.active_in(context.scene)
    # The last target is named at the top, instead of the title.
    banner = explore.banner_is_shown()
    if banner:
        free = (*free[:3], free[3] - explore.banner_height())
    # While the view moves the depths are those of a moment ago: what was hidden then stays so until they are
    # read again.
    depths = depths_of(region, view)
    sight = known.depths.seen_before(_projection(region, view)) if known.depths is not None else None
    now, at_once = time.perf_counter(), context.preferences.view.smooth_view == 0
    shown: dict[str, Overlay] = {}
    seen_as: dict[str, Overlay] = {}
    moving = False
    known.composing = known.drawing = 0.0
    # The view with title and legend goes first: the texts of others keep off its own, and all off the map and
    # the words of ranges of time.
    taken: tuple[Rectangle, ...] = (
        *minimap.covered(context.area, region, context.space_data, context.scene),
        *explore.covered(context, region, view),
    )
    for collection in sorted(settings.all_in(context.scene), key=lambda one: one != active):
        content = contents.of(collection)
        if content is None:
            continue
        stored = settings.of(collection)
        place = Vector(stored.place)
        seen = view.perspective_matrix @ Matrix.Translation(place)
        eye = ViewProjection.of(seen, region.width, region.height)
        name, before = collection.name, known.shown.get(collection.name)
        begun = time.thread_time()
        names = names_of(context.scene, collection, content, region)
        chosen = _choices(context.scene, collection, content)
        # Of a quad view the one that can be turned has title and legend.
        main = viewport.is_main(context.space_data, view)
        heading, corner = collection == active and main, gizmo_of(context.space_data, scale)
        key = (
            id(content), id(names), tuple(map(tuple, seen)), tuple(view.view_location - place), region.width,
            region.height, free, stored.style, scale, chosen.key, id(known.depths), heading, banner, corner,
            taken,
        )  # fmt: skip
        made, fading = before, known.fading.setdefault(name, Fading())
        if made is None or known.keys.get(name, (None,))[0] != key:
            made = compose(
                content.explained,
                names,
                eye,
                free,
                view.view_location - place,
                theme_of(stored.style, scale),
                measure,
                choices=chosen,
                before=fading.before(names, before, now),
                sight=sight,
                covered=depths.covered if depths is not None else None,
                heading=heading,
                title=not banner,
                corner=corner,
                taken=taken,
            )
        composed = time.thread_time()
        taken = (*made.taken, *(text.box for text in made.texts))
        # What the key knows by its address must not go.
        shown[name], known.keys[name] = made, (key, content, known.depths, chosen.names, names)
        seen_as[name] = made if at_once else fading.step(made, names, eye, now)
        moving |= not at_once and fading.is_moving
        known.canvas.setdefault(name, Canvas()).draw(seen_as[name])
        known.composing += (composed - begun) * 1e3
        known.drawing += (time.thread_time() - composed) * 1e3
    known.shown, known.seen = shown, seen_as
    if moving and not bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.register(_go_on, first_interval=_AGAIN)


def _go_on() -> None:
    """Draw names that come and go as opaque as they are now."""
    explore.redraw()


def depths_of(region: bpy.types.Region, view: bpy.types.RegionView3D) -> Depths | None:
    """Return the depths of a region, as it looks now; None if they are of another moment."""
    depths = _known(region).depths
    return depths if depths is not None and depths.is_of(view.perspective_matrix) else None


def names_of(
    scene: bpy.types.Scene, collection: bpy.types.Collection, content: Content, region: bpy.types.Region
) -> Prepared:
    """Return the names of what a view shows: of a slab of it, or of all."""
    known, box = _known(region), slabs.bounds_in(scene, collection)
    if box is None:
        return content.names
    place = list(settings.of(collection).place)
    low, high = box[0] - place, box[1] - place
    key = (content, low.tolist(), high.tolist())
    if known.names.get(collection.name, (None,))[0] != key:
        known.names[collection.name] = key, content.names.of_stretch(low, high)
    return known.names[collection.name][1]


def _choices(scene: bpy.types.Scene, collection: bpy.types.Collection, content: Content) -> Choices:
    """Return what a person has chosen of the explanations of a view."""
    explained = content.explained
    chosen, shown = legend.chosen_in(scene), legend.shown_in(scene)
    every = [(k, i) for k, one in enumerate(explained.legends) for i in range(len(choices(one)))]

    def among(found: legend.Chosen) -> frozenset[tuple[int, int]]:
        return frozenset(at for at in every if found and legend.words_of(explained, *at) in found.entries)

    lit = (
        among(shown)
        if shown.how == "pointed"
        else legend.entries_of(collection, explained, explore.state.hit)
    )
    names = legend.names_of(collection, content, shown)
    return Choices(folded.get(collection.name, frozenset()), among(chosen), lit, names)


def texts(region: bpy.types.Region) -> list[Any]:
    """Return the texts that were last drawn over a region, as :class:`.items.Text`."""
    known = regions.get(region.as_pointer())
    return [text for made in known.seen.values() for text in made.texts] if known is not None else []


def drawn(region: bpy.types.Region) -> list[tuple[Canvas, Overlay]]:
    """Return what was last drawn over a region."""
    known = regions.get(region.as_pointer())
    return [(known.canvas[name], made) for name, made in known.seen.items()] if known is not None else []


def fold(name: str, legend: int) -> None:
    """Fold a legend of a view, or open it."""
    folded[name] = folded.get(name, frozenset()) ^ {legend}


def forget() -> None:
    """Release everything that was drawn."""
    regions.clear()
    folded.clear()
    atlas.forget()
    contents.forget()
    legend.forget()


_handles: list[Any] = []


def register() -> None:
    """Draw in all 3D views from now on; where there is no window nothing is drawn."""
    handlers.before_loading.connect(forget)
    if bpy.app.background:
        return
    for draw, when in ((_read_depths, "POST_VIEW"), (_draw, "POST_PIXEL")):
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when))


def unregister() -> None:
    """Draw nothing any more."""
    handlers.before_loading.disconnect(forget)
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    forget()
