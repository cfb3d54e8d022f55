"""A live view in the scene: pages of bars that move as wholes, texts, the ruler, the edge that is *now*.

Everything is made once. A tick moves objects and writes attributes of the few pages that have changed; no
mesh is made in it and no step of undo. Python keeps references only until undo or another file replaces what
they point to: then :meth:`LiveScene.find` looks them up by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.explanations import Explanations
from ...drawing.picked import Description
from ...drawing.primitives import Callout, Camera, Labels
from ...drawing.selector import Selector
from ...drawing.stream import BESIDE, LENGTH, LabelList, StreamLabels
from ...layout.sight.picking import Ray
from ...live.stream.live_view import CELLS, LEAST_CELLS, LiveView
from ...live.stream.pages import Ring
from ...live.stream.ruler import gap_ends, ruler, ticks
from ...units import duration
from .. import camera, lighting, materials, styles
from ..window.highlight import Outline
from .bar_mesh import EDGES, TRIANGLES, Faces, pick
from .caption import FRAME, Sheet, legend_sheet, title_and_foot
from .faces import ALL, eyes_on, pixels_along, seen
from .pages import PageObjects, part_of, turned
from .texts import TextMesh, write

#: On the collection: it is the scene's live view.
LIVE = "tracevis3d_live"
#: Colour of the edge *now*, and of warnings.
_NOW = (0.98, 0.45, 0.16)
#: Seconds between two layouts of names, and between two assignments of colours.
_TEXTS_S, _SETTLE_S = 0.3, 2.0
#: Seconds between two ticks from which on they are rare.
_SLOW_S = 0.12
#: Scene units that lines of the ruler are wide.
_GRID = 0.022


@dataclass(frozen=True, eq=False)
class Pointed:
    """A bar under the mouse.

    Attributes
    ----------
    description : Description
    shape : Outline
        In the coordinates of the object that it is part of.
    page : str
        That object's name.
    across : float
        Where it was met, in the stream's coordinates.
    """

    description: Description
    shape: Outline
    page: str
    across: float


class LiveScene:
    """The objects of a live view.

    Parameters
    ----------
    view : LiveView
    scene : bpy.types.Scene
    style : str
    title : str
        What is watched.

    Attributes
    ----------
    ring : Ring
    name : str
        Of the collection.
    stale : bool
        The objects may be gone: :meth:`find` looks for them.
    """

    def __init__(self, view: LiveView, scene: Any, style: str, title: str) -> None:
        self.view, self.ring, self.title = view, Ring(view), title
        self.style = styles.named(style)
        self.scene_name = scene.name
        # What has been written: texts that don't move are only written again if they change.
        self._legend: Any = None
        self._still: Any = None
        self._texts_at = self._settled_at = self._ticked_at = -1e9
        self._ticks: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._ticks_now = self._names_now = 0
        self._extent: Any = None
        self._labels = StreamLabels()
        self._status = ""
        self._now = 0
        self._now_at = (0.0, 0.0, 0.0)
        self._box = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        self._pending: list[Callable[[int], None]] = []
        collection = bpy.data.collections.new(f"{title} live")
        collection[LIVE] = True
        self.name = collection.name
        scene.collection.children.link(collection)
        scene.world = lighting.world(self.style)
        self._camera: Any = None
        self._objects: dict[str, Any] = {}
        self._pages = PageObjects(self.ring, self._add, self.style.background)
        self.stale = False
        self.chosen: frozenset[str] = frozenset()
        self._frame_scene(scene)

    # -- finding existing objects ----------------------------------------------------------------------------

    def find(self) -> bool:
        """Look up all objects again, after undo; return whether the live view is still there."""
        collection = bpy.data.collections.get(self.name)
        scene = bpy.data.scenes.get(self.scene_name)
        if collection is None or scene is None or LIVE not in collection:
            return False
        if collection not in scene.collection.children_recursive:
            return False
        there = {shown.get("tracevis3d_part"): shown for shown in collection.objects}
        self._objects = {part: shown for part, shown in there.items() if part and not part.startswith("page")}
        self._pages.find(there)
        self._texts_at, self._ticks, self._extent = -1e9, None, None
        self._legend = self._still = None
        self.stale = False
        return True

    @property
    def collection(self) -> Any:
        """The live view's collection; None if it no longer exists."""
        return bpy.data.collections.get(self.name)

    def remove(self) -> None:
        """Take the live view out of the file."""
        collection = self.collection
        self._objects = {}
        self._pages.forget()
        if collection is None or LIVE not in collection:
            return
        for shown in list(collection.objects):
            data = shown.data
            bpy.data.objects.remove(shown)
            if isinstance(data, bpy.types.Mesh):
                bpy.data.meshes.remove(data)
            elif isinstance(data, bpy.types.Camera):
                bpy.data.cameras.remove(data)
        bpy.data.collections.remove(collection)

    def _link(self, part: str, data: Any) -> Any:
        shown = bpy.data.objects.new(f"{self.name} {part}", data)
        shown["tracevis3d_part"] = part
        shown.hide_select = True
        self.collection.objects.link(shown)
        return shown

    def _add(self, part: str) -> Any:
        """Return a new object with an empty mesh."""
        mesh = bpy.data.meshes.new(f"{self.name} {part}")
        mesh.materials.append(materials.surface("ink", self.style))
        return self._link(part, mesh)

    def _write(self, part: str, text: TextMesh) -> None:
        """Write the texts of a part, whose object is made if there is none yet."""
        if part not in self._objects:
            self._objects[part] = self._add(part)
        write(self._objects[part].data, text)

    # -- a tick -------------------------------------------------------------------------------------------

    def tick(self, now: int, clock: float, status: str = "") -> None:
        """Show the data received until ``now``.

        Parameters
        ----------
        now : int
            The trace's nanoseconds at the front edge.
        clock : float
            Seconds of any steady clock.
        status : str
            A few words on the feed, for the foot of the picture.
        """
        self._now = now
        if clock - self._settled_at > _SETTLE_S:
            self._settled_at = clock
            self.ring.settle()
            self._pages.faces = self._seen_faces()
            self._follow_pixels()
        else:
            # Bars that come into sight appear at once; bars out of sight are removed later.
            both = zip(self._pages.faces, self._seen_faces(), strict=True)
            self._pages.faces = tuple(a or b for a, b in both)
        self.ring.advance(now)
        self._pages.highlighted = self._highlighted()
        self._pages.show(lambda origin: self._along(origin - now))
        # Texts are spread over ticks without new pages, to keep ticks short; unless ticks are rare.
        slow, self._ticked_at = clock - self._ticked_at > _SLOW_S, clock
        if not self._pending and clock - self._texts_at > _TEXTS_S:
            self._texts_at, self._status = clock, status
            self._pending = [
                self._write_moving, self._write_still, self._write_title, self._write_legend,
            ]  # fmt: skip
        if slow or not self._pages.made:
            due = len(self._pending) if slow else 1
            for step in self._pending[:due]:
                step(now)
            del self._pending[:due]
        self._move("names", self._names_now, now)
        self._write_ruler(now)
        for part in ("ticks", "grid"):
            self._move(part, self._ticks_now, now)

    def _highlighted(self) -> frozenset[int]:
        """Return the colours of what is chosen in the legend, if it has any of it."""
        if not self.chosen:
            return frozenset()
        every = np.arange(len(self.ring.palette), dtype=np.int32)
        chosen = [entry.selector for entry in self.view.legend().entries if entry.text in self.chosen]
        return frozenset(every[Selector.of_any(chosen, "", every, every.astype(np.int64))].tolist())

    def rescale(self, now: int) -> None:
        """Show another length of time: that of the view has changed."""
        self.ring.place_all(now)
        self._ticks, self._texts_at = None, -1e9

    # -- pointing -----------------------------------------------------------------------------------------

    def point(self, ray: Ray) -> Pointed | None:
        """Return the bar that ``ray`` meets first, and its description; None: no bar."""
        mine = np.array([*self._inward(ray.origin), *self._inward(ray.direction), ray.near])
        met = pick(self.ring, mine, self._now)
        if met is None:
            return None
        page, bar, far = met
        place = mine[:3] + far * mine[3:6]
        at = self._now + round(float(place[0]) * self.view.window_ns / LENGTH)
        part = slice(bar, bar + 1)
        description = self.view.describe(page.bars[part], at, self._now)
        if description is None:
            return None
        corner = page.corner[part] if self.view.along == "x" else turned(page.corner[part])
        shape = Outline(np.ascontiguousarray(corner[0]), TRIANGLES, EDGES)
        return Pointed(description, shape, f"{self.name} {part_of(page)}", float(place[1]))

    def _inward(self, v: NDArray[np.float64]) -> tuple[float, float, float]:
        """Return a direction or place of the scene as time, across and height."""
        x, y, z = (float(c) for c in v)
        return (x, y, z) if self.view.along == "x" else (-y, x, z)

    def _along(self, ns: float) -> tuple[float, float, float]:
        at = ns * LENGTH / self.view.window_ns
        return (at, 0.0, 0.0) if self.view.along == "x" else (0.0, -at, 0.0)

    def _move(self, part: str, origin: int, now: int) -> None:
        if part in self._objects:
            self._objects[part].location = self._along(origin - now)

    def _seen_faces(self) -> Faces:
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None:
            return ALL
        (left, right), (bottom, top) = self.view.extent()
        eyes = [self._inward(eye) for eye in eyes_on(scene)]
        return seen(eyes, (-LENGTH, left, bottom), (0.0, right, top), self.view.straight) if eyes else ALL

    def _follow_pixels(self) -> None:
        """Merge what no pixel shows: the window may be small."""
        scene = bpy.data.scenes.get(self.scene_name)
        (left, right), (_, top) = self.view.extent()
        ends = np.array([[-LENGTH, (left + right) / 2, top / 2], [0.0, (left + right) / 2, top / 2]])
        if self.view.along == "y":
            ends = np.column_stack([ends[:, 1], -ends[:, 0], ends[:, 2]])
        pixels = pixels_along(scene, *ends.tolist()) if scene is not None else 0.0
        self.view.cells = int(np.clip(pixels, LEAST_CELLS, CELLS)) if pixels else CELLS

    # -- texts --------------------------------------------------------------------------------------------

    def _place(self, labels: Labels) -> NDArray[np.floating[Any]]:
        """Return where labels stand in the scene (n, 3)."""
        return labels.anchor if self.view.along == "x" else turned(labels.anchor)

    def _texts(self, groups: tuple[Labels, ...]) -> TextMesh:
        text = TextMesh()
        for labels in groups:
            ink = _NOW if labels.kind == "warning" else self.style.ink
            text.labels(labels, self._place(labels), ink, self.style.background)
        return text

    def _write_moving(self, now: int) -> None:
        extent = self.view.extent()
        if extent != self._extent:
            self._extent = extent
            self._frame_scene(bpy.data.scenes[self.scene_name])
        self._names_now = now
        self._labels = self.view.labels(now)
        self._write("names", self._texts(self._labels.moving))

    def _write_still(self, _now: int) -> None:
        groups = self._labels.still
        said = [(g.kind, g.text, g.align, g.anchor.tobytes(), g.height.tobytes(), g.room.tobytes())
                for g in groups]  # fmt: skip
        if said != self._still:
            self._still = said
            self._write("still names", self._texts(groups))

    def _said(self) -> tuple[str, list[str], bool]:
        """Return the title, notes, most important first, and whether the title is an alarm."""
        view = self.view
        title = f"{self.title}: live, {duration(max(self._now, 0), 2)} so far"
        notes = [self._status, view.facts()]
        if view.alarms:
            # Problems come first.
            notes.insert(0, title)
            more = f" (and {len(view.alarms) - 1:,} more)" if len(view.alarms) > 1 else ""
            title = f"{view.alarms[0].kind.capitalize()}: {view.alarms[0].sentence}{more}"
        if view.hidden:
            notes.append(f"{view.hidden:,} {view.hidden_what} not shown")
        if view.coarse > 1:
            notes.append(f"merged {view.coarse} times more coarsely, because there is too much to show")
        return title, [note for note in notes if note], bool(view.alarms)

    def _write_title(self, _now: int) -> None:
        title, notes, alarmed = self._said()
        ink = _NOW if alarmed else self.style.ink
        self._write_sheet("title", title_and_foot(self._camera, title, notes, ink, self.style.muted))

    def _write_legend(self, _now: int) -> None:
        """Write the legend, if it or its colours have changed."""
        legend, palette = self.view.legend(), self.ring.palette
        shown = [
            (entry.text, palette[min(entry.color, len(palette) - 1)].tobytes()) for entry in legend.entries
        ]
        if shown == self._legend:
            return
        self._legend = shown
        self._write_sheet("legend", legend_sheet(self._camera, legend, palette, self.style.ink))

    def _write_sheet(self, part: str, sheet: Sheet) -> None:
        self._write(part, sheet.mesh)
        shown, eye = self._objects[part], self._objects["camera"]
        if shown.parent != eye:
            shown.parent = eye

    def _write_ruler(self, now: int) -> None:
        """Write the ruler when a tick has come in or gone out; between these times it moves."""
        moments, gaps = ticks(self.view, now), gap_ends(self.view, now)
        if (moments, gaps) == self._ticks:
            return
        self._ticks, self._ticks_now = (moments, gaps), now
        text, grid = TextMesh(), TextMesh()
        for axis in ruler(self.view, moments, now):
            (grid if axis.grid else text).axis(axis, self.style.ink, self.style.faint, _GRID)
        for axis in ruler(self.view, gaps, now):
            # Lines without texts: the foot says how many rows are missing between them.
            if axis.grid:
                grid.axis(axis, _NOW, _NOW, 2 * _GRID)
        self._write("ticks", text)
        self._write("grid", grid)

    # -- what explains it in the window ---------------------------------------------------------------------

    @property
    def fills(self) -> tuple[Any, ...]:
        """What is different whenever there is other data, or more beside it, to be framed."""
        return (*self._box, *map(len, self._labels.still))

    def explanations(self) -> Explanations:
        """Return what explains the picture as it is now, for an overlay of the window.

        Returns
        -------
        Explanations
            In the scene's coordinates. Alarms are callouts at what they are about.
        """
        title, notes, _ = self._said()
        view, now, palette = self.view, self._now, self.ring.palette
        legend = view.legend()
        last = len(palette) - 1
        entries = tuple(replace(entry, color=min(entry.color, last)) for entry in legend.entries)
        names: list[Labels] = []
        callouts: list[Callout] = []
        shift, moving = np.array(self._along(self._names_now - now)), len(self._labels.moving)
        for number, group in enumerate(self._labels):
            anchor = (self._place(group) + (shift if number < moving else 0.0)).astype(np.float32)
            if group.kind == "warning":
                points = map(tuple, anchor.astype(np.float64).tolist())
                callouts += [Callout(text, "", point) for text, point in zip(group.text, points, strict=True)]
            else:
                # Beside the data there is room for all of a text.
                free = (group.room > 0.0) & (number >= moving)
                names.append(replace(group, anchor=anchor, room=np.where(free, np.inf, group.room)))
        edge = LabelList("edge", 0 if view.along == "x" else -1)
        edge.add("now", self._now_at, 0.38)
        names.append(replace(edge.labels(), rank=np.full(1, np.inf, np.float32)))
        axes = [axis for axis in ruler(view, ticks(view, now), now) if not axis.grid]
        return Explanations(
            title, tuple(notes), (replace(legend, entries=entries),) if entries else (), palette, tuple(axes),
            tuple(names), tuple(callouts), *self._box,
        )  # fmt: skip

    # -- what stands still --------------------------------------------------------------------------------

    def _frame_scene(self, scene: Any) -> None:
        """Make the edge that is now, and the camera that sees the window."""
        self._legend = None
        (low, high), (bottom, top) = self.view.extent()
        text, word = TextMesh(), TextMesh()
        edge = np.array(
            [[low, bottom - 0.1], [high, bottom - 0.1], [high, top], [low, top], [low, bottom - 0.1]]
        )
        if self.view.along == "x":
            path = np.column_stack([np.full(5, 0.03), edge])
            # In the window texts of the ruler may be larger than they are printed: it stands above.
            self._now_at = (0.0, high, top + 0.4)
            word.add("now", np.array([0.0, low - 0.05, -0.95]), 0.38, _NOW, 0, 0)
            self._box = (-LENGTH, low, bottom), (0.0, high, top)
            box_low, box_high = (-LENGTH, low, bottom - 1.1), (BESIDE, high, top)
        else:
            path = np.column_stack([edge[:, 0], np.full(5, -0.03), edge[:, 1]])[:2]
            if self.view.edge_height is not None:
                path[:, 2] = self.view.edge_height
            # Below the moments that pass there.
            self._now_at = (high + 0.25, -0.05, -0.42)
            word.add("now", np.array(self._now_at), 0.38, _NOW, 0, -1)
            self._box = (low, 0.0, bottom), (high, LENGTH, top)
            box_low, box_high = (low - 0.3, 0.0, bottom - 0.4), (high + 1.2, LENGTH, top)
        text.line(path, 0.05, _NOW, "x")
        self._write("edge", text)
        self._write("now", word)
        wanted = Camera(direction=self.view.direction, low=box_low, high=box_high, lens=60.0)
        corners = np.array(
            [[x, y, z] for x in (box_low[0], box_high[0]) for y in (box_low[1], box_high[1])
             for z in (box_low[2], box_high[2])]
        )  # fmt: skip
        region = (50.0, 80.0, FRAME.width - 50.0, FRAME.height - 190.0)
        self._camera = camera.fit(wanted, FRAME, region, corners)
        eye = self._objects.get("camera")
        if eye is None:
            eye = camera.place(self._camera, f"{self.name} camera")
            eye["tracevis3d_part"] = "camera"
            self.collection.objects.link(eye)
            self._objects["camera"] = eye
            scene.camera = eye
        else:
            camera.place(self._camera, eye.name, eye)
