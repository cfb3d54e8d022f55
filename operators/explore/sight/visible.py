"""How much of what is highlighted can be seen from here, and the way to where most of it is seen.

Both are computed beside the window, in a thread: no picture waits for them.
"""

import threading
from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Matrix

from ....tracevis3d import units
from ....tracevis3d.layout.sight.affine import Box, box_around, middle
from ....tracevis3d.layout.sight.framing import Region
from ....tracevis3d.layout.sight.visible import best_direction
from ....tracevis3d.scene.window.visible import share_in_sight, surfaces_of
from ...views import viewport
from .. import overlay, pointer, related
from ..motion import zoom
from . import slabs

#: The row of the tooltip.
LABEL = "in sight"


class _Work:
    """One thing at a time that is computed in a thread; what comes of what is no longer wanted is dropped.

    While the view moves, something else is wanted at each moment: only the latest is computed next.
    """

    def __init__(self) -> None:
        self.key: Any = None
        self.asked: Any = None
        self.found: list[tuple[Any, Any]] = []
        self._lock = threading.Lock()
        self._wanted: tuple[Any, Callable[[], Any]] | None = None
        self._at_work = False

    def start(self, key: Any, compute: Callable[[], Any]) -> None:
        """Compute something, unless it is under way or known."""
        if key == self.key:
            return
        with self._lock:
            self.key, self._wanted = key, (key, compute)
            begins, self._at_work = not self._at_work, True
        if begins:
            threading.Thread(target=self._work, name="tracevis3d sight", daemon=True).start()

    def _work(self) -> None:
        try:
            while (wanted := self._next()) is not None:
                key, compute = wanted
                self.found.append((key, compute()))
        except BaseException:
            self._at_work = False
            raise

    def _next(self) -> tuple[Any, Callable[[], Any]] | None:
        with self._lock:
            wanted, self._wanted = self._wanted, None
            self._at_work = wanted is not None
            return wanted

    def take(self) -> Any:
        """Return what was found of the present key, once; None if there is nothing yet."""
        result = None
        while self.found:
            key, found = self.found.pop()
            if key == self.key and result is None:
                result = found
        return result


_shares, _ways = _Work(), _Work()


def _lit(context: bpy.types.Context, space: Any) -> dict[str, Any]:
    """Return object name -> its elements that are lit: with what the mouse is over, or else by selection."""
    found: dict[str, Any] = {}
    for (name, _), elements in overlay.lit_now().items():
        found[name] = related.joined(found.get(name), elements)
    if not found:
        present = [entry for entry in pointer.shown_in(context.scene, space) if entry[2].shows_calls]
        found = dict(related.of_selection(present))
    return found


def _gathered(context: bpy.types.Context, space: Any, lit: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return what is shown, and between which corners: all that is asked of Blender itself."""
    slab = slabs.of(context.scene)
    ends = [slab.ends(axis) for axis in (0, 1, 2)] if slab is not None else []
    bounds = [tuple(end[i] for end in ends) for i in (0, 1)] if ends else []
    parts = [
        (pickable, shown.matrix_world.copy(), lit.get(shown.name, related.NOTHING))
        for _, shown, pickable in pointer.shown_in(context.scene, space)
    ]
    return parts, bounds


def ask(context: bpy.types.Context, area: bpy.types.Area) -> None:
    """Find out how much of what is highlighted can be seen in a 3D view."""
    space = area.spaces.active
    region = next(one for one in area.regions if one.type == "WINDOW")
    lit = _lit(context, space)
    pointed = overlay.state.pointed
    if not lit or pointed is None:
        return
    view = pointer.projection_of(region, space.region_3d)
    key = pointed.revision, tuple(view.matrix.ravel())
    # It is measured where the view stands still: asked for once more.
    stands, _shares.asked = key == _shares.asked, key
    if stands and key != _shares.key:
        parts, bounds = _gathered(context, space, lit)
        _shares.start(key, lambda: share_in_sight(parts, view, *bounds))


def collect() -> bool:
    """Write into the tooltip what was found; return whether there was anything."""
    share = _shares.take()
    descriptions = overlay.state.descriptions
    if share is None or not descriptions:
        return False
    rows = descriptions[-1].rows
    rows[:] = [row for row in rows if row[0] != LABEL]
    rows.append((LABEL, f"{units.percentage(share, 2)} of what is highlighted"))
    return True


def turn(context: bpy.types.Context, area: bpy.types.Area) -> bool:
    """Begin to look for where most of what is highlighted is seen; return whether anything is lit."""
    space = area.spaces.active
    region = next(one for one in area.regions if one.type == "WINDOW")
    lit = _lit(context, space)
    box = _box_of(context, space, lit)
    if box is None:
        return False
    zoom.leave_camera(space, region, middle(box))
    view = space.region_3d
    lens = zoom.lens_of(view)
    left, right, top = viewport.covered(area, region)
    free = Region(region.width, region.height, left, right, top)
    now = [view.view_rotation @ axis for axis in zoom.AXES]
    parts, bounds = _gathered(context, space, lit)

    def look() -> Any:
        return (area, box, *best_direction(surfaces_of(parts, *bounds, coarse=True), box, lens, free, now))

    _ways.key = None
    _ways.start((area.as_pointer(), tuple(now[2])), look)
    return True


def arrive() -> str:
    """Send the 3D view to where most of what is highlighted is seen, once that is known; return that in
    words.
    """
    found = _ways.take()
    if found is None:
        return ""
    area, box, axes, share = found
    if not viewport.is_open(area):
        return ""
    right, up, forward = (list(map(float, axis)) for axis in axes)
    rotation = Matrix((right, up, [-v for v in forward])).transposed().to_quaternion()
    zoom.fly_to_box(area, box, rotation=rotation)
    return f"From here {units.percentage(share, 2)} of what is highlighted can be seen"


def _box_of(context: bpy.types.Context, space: Any, lit: dict[str, Any]) -> Box | None:
    return box_around(
        [
            pointer.box_of(shown, pickable, lit[shown.name])
            for _, shown, pickable in pointer.shown_in(context.scene, space)
            if len(lit.get(shown.name, ()))
        ]
    )


def forget() -> None:
    """Let go of what was found: another file is opened."""
    for work in (_shares, _ways):
        work.key = None
        work.found.clear()
