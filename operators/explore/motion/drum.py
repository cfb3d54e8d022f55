"""Time drums under the mouse: calls on the mantle, and the position along the time axis.

A drum is found again by its rims, which are in the .blend: its section at the beginning and the end of time.
"""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....tracevis3d.drawing.picked import Description
from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.picking import Ray
from ....tracevis3d.views import registry as views
from ....tracevis3d.views.view import Clock, TimeAxis
from ...state import settings, sources
from ...views import make_view

Floats = NDArray[np.float64]

#: Pieces of a band around the mantle.
_PIECES = 16


@dataclass(frozen=True, eq=False)
class Drum:
    """One drum of a view, in the coordinates of the object that shows its rims.

    Attributes
    ----------
    view, shown : str
        Names of the view's collection and of the object.
    source : int
        Which of the view's traces.
    section : float64 (k, 3)
        The mantle where time begins, around the hierarchy.
    axis : float64 (3,)
        From the beginning of time to its end.
    """

    view: str
    shown: str
    source: int
    section: Floats
    axis: Floats

    def local(self, ray: Ray) -> Ray | None:
        """Return a ray of the scene in the drum's coordinates."""
        from ....tracevis3d.scene.window import element_metadata

        own = element_metadata.local_ray(ray, bpy.data.objects[self.shown].matrix_world)
        return own[0] if own is not None else None

    def share_along(self, ray: Ray, through: Floats) -> float | None:
        """Return the share of time at which a ray of the scene passes the line along time ``through``."""
        own = self.local(ray)
        if own is None:
            return None
        u, d = self.axis / np.linalg.norm(self.axis), np.asarray(own.direction, np.float64)
        d = d / np.linalg.norm(d)
        apart, across = np.asarray(through) - own.origin, float(u @ d)
        if 1 - across**2 < 1e-6:
            return None  # it runs along time
        at = (across * float(d @ apart) - float(u @ apart)) / (1 - across**2)
        return self.share_of(np.asarray(through) + at * u)

    def share_of(self, point: Floats) -> float:
        """Return the share of time of a point in the drum's coordinates, 0 to 1."""
        share = float((point - self.section[0]) @ self.axis) / float(self.axis @ self.axis)
        return min(max(share, 0.0), 1.0)

    def met(self, ray: Ray, whole: bool = False) -> tuple[Floats, float, float] | None:
        """Return where a ray of the scene meets the mantle: point, share of time, place around it, 0 to 1.

        That is where the mantle is seen from inside, or where it is met first if it is shown as a ``whole``.
        """
        own = self.local(ray)
        if own is None:
            return None
        u = self.axis / np.linalg.norm(self.axis)
        first = np.eye(3)[int(np.argmin(np.abs(u)))]
        first -= (first @ u) * u
        first /= np.linalg.norm(first)
        plane = np.stack([first, np.cross(u, first)])
        o, d, p = plane @ own.origin, plane @ own.direction, self.section @ plane.T
        edge = np.diff(p, axis=0)
        turn = d[0] * edge[:, 1] - d[1] * edge[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = p[:-1] - o
            t = (gap[:, 0] * edge[:, 1] - gap[:, 1] * edge[:, 0]) / turn
            w = (gap[:, 0] * d[1] - gap[:, 1] * d[0]) / turn
        point = own.origin + t[:, None] * own.direction
        share = (point - self.section[0]) @ self.axis / float(self.axis @ self.axis)
        hits = np.flatnonzero((t > 0) & (w >= 0) & (w <= 1) & (share >= 0) & (share <= 1))
        if not len(hits):
            return None
        i = hits[np.argmin(t[hits])] if whole else hits[np.argmax(t[hits])]
        return point[i], float(share[i]), float(i + w[i]) / len(edge)


def of_object(shown: Any) -> Drum | None:
    """Return the drum whose rims an object shows; None if it shows none."""
    from ....tracevis3d.scene.window import element_metadata

    view = (
        next((v for v in shown.users_collection if settings.is_view(v)), None) if shown is not None else None
    )
    axis = declared(view) if view is not None else None
    if view is None or axis is None or shown.get("tracevis3d_kind") != axis.kind:
        return None
    holds = element_metadata.held(shown)
    if holds is None or len(holds.first) < 3:
        return None
    begin, end = (holds.middle[holds.first[i] : holds.first[i + 1]].astype(np.float64) for i in (0, 1))
    axis = end[0] - begin[0]
    if len(begin) < 2 or np.linalg.norm(axis) < 1e-6:
        return None
    return Drum(view.name, shown.name, holds.source, begin, axis)


def of_view(view: bpy.types.Collection) -> list[Drum]:
    """Return the drums that a view shows."""
    return [drum for shown in view.objects if shown.visible_get() and (drum := of_object(shown)) is not None]


def all_in(scene: bpy.types.Scene) -> list[Drum]:
    """Return the drums of all views of a scene."""
    return [drum for view in settings.all_in(scene) for drum in of_view(view)]


_known: list[tuple[Any, Clock]] = []


def declared(view: bpy.types.Collection) -> TimeAxis | None:
    """Return the axis of time that a view declares; None if its times lie along x."""
    try:
        return views.find(settings.of(view).view).time_axis
    except TraceVisError:
        return None


def where(drum: Drum) -> Clock | None:
    """Return the index of positions on a drum; None if its traces are not in memory."""
    from ....tracevis3d.scene.window import element_metadata

    view = bpy.data.collections[drum.view]
    traces, axis = sources.in_memory(view), declared(view)
    holds = element_metadata.held(bpy.data.objects[drum.shown])
    if traces is None or axis is None or holds is None:
        return None
    for key, found in _known:
        if key == (drum.view, holds.stamp):
            return found
    try:
        made = axis.clock(traces, make_view.figure_of(view, traces).parameters)
    except TraceVisError:
        return None
    _known[:] = [*_known[-3:], ((drum.view, holds.stamp), made)]
    return made


def forget() -> None:
    """Let go of everything that was worked out."""
    _known.clear()


def _is_solid(drum: Drum) -> bool:
    view = bpy.data.collections[drum.view]
    axis = declared(view)
    return axis is not None and axis.is_solid(settings.values(view))


def begin(scene: bpy.types.Scene, ray: Ray, hit: Any) -> tuple[str, Floats, float] | None:
    """Return the object, a point in its coordinates and the share of time where dragging begins.

    ``hit`` is the pressed element; without one it is the mantle.
    """
    drums = all_in(scene)
    if hit is not None:
        for drum in drums:
            if drum.view == hit.view and drum.source == hit.held.source:
                through = _inside(drum, hit.point)
                return drum.shown, through, drum.share_of(through)
        return None
    for drum in drums:
        found = drum.met(ray, _is_solid(drum))
        if found is not None:
            return drum.shown, found[0], found[1]
    return None


def beside(scene: bpy.types.Scene, ray: Ray) -> tuple[str, Floats, float] | None:
    """Return where dragging beside all elements begins: on the line in the middle of a drum."""
    for drum in all_in(scene):
        through = drum.section.mean(axis=0)
        share = drum.share_along(ray, through)
        if share is not None:
            return drum.shown, through, share
    return None


def _inside(drum: Drum, point: Floats) -> Floats:
    """Return a point of the scene in the drum's coordinates."""
    back = np.linalg.inv(np.array(bpy.data.objects[drum.shown].matrix_world, np.float64))
    return np.asarray(back[:3, :3] @ point + back[:3, 3])


def quads(drum: Drum, left: float, right: float) -> list[Floats]:
    """Return the corners (4, 3), in the scene, of the pieces of a band around the mantle, from end to end."""
    matrix = np.array(bpy.data.objects[drum.shown].matrix_world, np.float64)
    at = np.unique(np.linspace(0, len(drum.section) - 1, _PIECES + 1).astype(np.int64))
    low, high = (drum.section[at] + share * drum.axis for share in sorted((left, right)))
    corner = np.stack([low[:-1], high[:-1], high[1:], low[1:]], axis=1)
    corner = corner @ matrix[:3, :3].T + matrix[:3, 3]
    return list(corner if corner[0, 0, 2] < corner[-1, 2, 2] else corner[::-1, [3, 2, 1, 0]])


def tell(scene: bpy.types.Scene, ray: Ray) -> list[Description]:
    """Return the description of the place on a mantle that a ray meets; empty if it meets none."""
    for drum in all_in(scene):
        found = drum.met(ray, _is_solid(drum))
        knows = where(drum) if found is not None else None
        if found is None or knows is None:
            continue
        return [knows.describe(drum.source, found[1], found[2])]
    return []


def share_under(view: bpy.types.Collection, hit: Any) -> float | None:
    """Return the share of time at which an element of a drum was met; None if it is on none."""
    drum = _of_hit(view, hit)
    return drum.share_of(_inside(drum, hit.point)) if drum is not None else None


def time_under(view: bpy.types.Collection, hit: Any) -> int | None:
    """Return the time at which an element of a drum was met, in nanoseconds; None if it is on none."""
    drum = _of_hit(view, hit)
    knows = where(drum) if drum is not None else None
    if drum is None or knows is None:
        return None
    return int(knows.time_at(drum.source, drum.share_of(_inside(drum, hit.point))))


def _of_hit(view: bpy.types.Collection, hit: Any) -> Drum | None:
    return next((drum for drum in of_view(view) if drum.source == hit.held.source), None)
