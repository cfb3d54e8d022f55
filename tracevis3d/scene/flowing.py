"""A live view in the scene: pages of bars that move as wholes, texts, the ruler, the edge that is *now*.

Everything is made once. A tick moves objects and writes attributes of the few pages that have changed; no
mesh is made in it and no step of undo. Python keeps references only until undo or another file replaces what
they point to: then :meth:`FlowScene.find` looks them up by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..drawing.frame import Frame
from ..drawing.words import Camera
from ..layout.picking import Ray
from ..layout.ticks import duration, time_ticks
from ..live.flows.flow import BESIDE, LENGTH, Flow, Said, Text
from ..live.flows.ring import FACES, TRIANGLES, Page, Ring
from . import camera, materials, meshes, stage, styles
from .color import is_dark
from .flow_texts import Inked, write_texts
from .glyphs import typeface
from .highlight import Outline

#: On the collection: it is the scene's live view.
LIVE = "tracevis3d_live"
#: Inks on bars.
_ON_DARK, _ON_LIGHT = (1.0, 1.0, 1.0), (0.08, 0.09, 0.11)
#: The edge that is now.
_NOW = (0.98, 0.45, 0.16)
#: Seconds between two settings of names, and between two looks at who gets colours.
_TEXTS_S, _SETTLE_S = 0.3, 2.0
#: Seconds between two ticks from which on they are rare.
_SLOW_S = 0.12
_FRAME = Frame(1920, 1080)
#: Edges of a bar with four corners at the start and four at the end.
_EDGES = np.array(
    [[0, 1], [1, 2], [2, 3], [0, 3], [4, 5], [5, 6], [6, 7], [4, 7], [0, 4], [1, 5], [2, 6], [3, 7]], np.int32
)


def _corner_edges() -> NDArray[np.int32]:
    number = {tuple(sorted(edge)): i for i, edge in enumerate(_EDGES.tolist())}
    return np.array(
        [number[tuple(sorted((face[k], face[(k + 1) % 4])))] for face in FACES.tolist() for k in range(4)],
        np.int32,
    )


@dataclass(frozen=True, eq=False)
class Pointed:
    """A bar that somebody points at.

    Attributes
    ----------
    said : Said
    shape : Outline
        In the coordinates of the object that it is part of.
    page : str
        That object's name.
    across : float
        Where it was met, in the view's own coordinates.
    """

    said: Said
    shape: Outline
    page: str
    across: float


class FlowScene:
    """The objects of a live view.

    Parameters
    ----------
    flow : Flow
    scene : bpy.types.Scene
    style : str
    title : str
        What is watched.

    Attributes
    ----------
    ring : Ring
    name : str
        Of the collection.
    written : int
        Pages written in the last tick.
    """

    def __init__(self, flow: Flow, scene: Any, style: str, title: str) -> None:
        self.flow, self.ring, self.title = flow, Ring(flow), title
        self.style = styles.named(style)
        self.scene_name = scene.name
        self.written = 0
        self._texts_at = self._settled_at = self._ticked_at = -1e9
        self._tick_shown: tuple[int, ...] = ()
        self._ticks_now = self._names_now = 0
        self._extent: Any = None
        self._told = ""
        self._now = 0
        self._still = Inked()
        self._pending: list[Callable[[int], None]] = []
        collection = bpy.data.collections.new(f"{title} live")
        collection[LIVE] = True
        self.name = collection.name
        scene.collection.children.link(collection)
        scene.world = stage.world(self.style)
        self._view: Any = None
        self._objects: dict[str, Any] = {}
        self._pages: dict[int, Any] = {}
        self.stale = False
        self._frame_scene(scene)

    # -- finding what is there ----------------------------------------------------------------------------

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
        self._pages = {}
        for page in (self.ring.open, *self.ring.pages):
            page.dirty = True
            if (shown := there.get(f"page {page.number}")) is not None:
                self._pages[page.number] = shown
        self._texts_at, self._tick_shown, self._extent = -1e9, (), None
        self.stale = False
        return True

    @property
    def collection(self) -> Any:
        """The live view's collection; None if it is gone."""
        return bpy.data.collections.get(self.name)

    def remove(self) -> None:
        """Take the live view out of the file."""
        collection = self.collection
        self._objects, self._pages = {}, {}
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

    def _object(self, part: str, data: Any) -> Any:
        shown = bpy.data.objects.new(f"{self.name} {part}", data)
        shown["tracevis3d_part"] = part
        shown.hide_select = True
        self.collection.objects.link(shown)
        return shown

    def _named(self, part: str) -> Any:
        """Return the object of a part, made if there is none yet."""
        if part not in self._objects:
            mesh = bpy.data.meshes.new(f"{self.name} {part}")
            mesh.materials.append(materials.surface("ink", self.style))
            self._objects[part] = self._object(part, mesh)
        return self._objects[part]

    # -- a tick -------------------------------------------------------------------------------------------

    def tick(self, now: int, clock: float, told: str = "") -> None:
        """Show what has come until ``now``.

        Parameters
        ----------
        now : int
            The trace's nanoseconds at the front edge.
        clock : float
            Seconds of any steady clock.
        told : str
            A few words for the foot of the picture.
        """
        ring, self._now = self.ring, now
        if clock - self._settled_at > _SETTLE_S:
            self._settled_at = clock
            ring.settle()
        ring.advance(now)
        self.written = 0
        self._show_pages(now)
        # Not all texts in one tick, that would be a long one; unless ticks are rare.
        slow, self._ticked_at = clock - self._ticked_at > _SLOW_S, clock
        if not self._pending and clock - self._texts_at > _TEXTS_S:
            self._texts_at, self._told = clock, told
            self._pending = [self._set_names, self._set_still_names, self._set_frame_texts]
        for write in self._pending if slow else self._pending[:1]:
            write(now)
        self._pending = [] if slow else self._pending[1:]
        self._move("names", self._names_now, now)
        self._set_ticks(now)
        self._move("ticks", self._ticks_now, now)

    def rescale(self, now: int) -> None:
        """The window's length has changed."""
        self.ring.rescale(now)
        self._tick_shown, self._texts_at = (), -1e9

    # -- pointing -----------------------------------------------------------------------------------------

    def point(self, ray: Ray) -> Pointed | None:
        """Return the bar that ``ray`` meets first, and what is said of it; None: none, or nothing."""
        mine = np.array([*self._inward(ray.origin), *self._inward(ray.direction), ray.near])
        met = self.ring.pick(mine, self._now)
        if met is None:
            return None
        page, row, far = met
        place = mine[:3] + far * mine[3:6]
        at = self._now + round(float(place[0]) * self.flow.window_ns / LENGTH)
        part = slice(row, row + 1)
        said = self.flow.tell(page.rows[part], at, self._now)
        if said is None:
            return None
        corner = page.corner[part] if self.flow.along == "x" else _turned(page.corner[part])
        shape = Outline(np.ascontiguousarray(corner[0]), TRIANGLES, _EDGES)
        return Pointed(said, shape, f"{self.name} page {page.number}", float(place[1]))

    def _inward(self, v: NDArray[np.float64]) -> tuple[float, float, float]:
        """Return a direction or place of the scene as time, across and height."""
        x, y, z = (float(c) for c in v)
        return (x, y, z) if self.flow.along == "x" else (-y, x, z)

    def _along(self, ns: float) -> tuple[float, float, float]:
        at = ns * LENGTH / self.flow.window_ns
        return (at, 0.0, 0.0) if self.flow.along == "x" else (0.0, -at, 0.0)

    def _move(self, part: str, origin: int, now: int) -> None:
        if part in self._objects:
            self._objects[part].location = self._along(origin - now)

    def _show_pages(self, now: int) -> None:
        for page in (self.ring.open, *self.ring.pages):
            if page.number not in self._pages:
                self._pages[page.number] = self._object(f"page {page.number}", self._page_mesh(page))
                page.dirty = True
            shown = self._pages[page.number]
            if page.dirty:
                page.dirty = False
                self.written += 1
                mesh = shown.data
                corner = page.corner if self.flow.along == "x" else _turned(page.corner)
                mesh.attributes["position"].data.foreach_set("vector", corner.reshape(-1))
                mesh.attributes[materials.TINT].data.foreach_set("color", page.color.reshape(-1))
                mesh.update()
            shown.location = self._along(page.origin - now)

    def _page_mesh(self, page: Page) -> Any:
        n = page.room
        step = 8 * np.arange(n, dtype=np.int32)[:, None]
        mesh = bpy.data.meshes.new(f"{self.name} page")
        meshes.fill(
            mesh,
            np.zeros((8 * n, 3), np.float32),
            (FACES.reshape(-1)[None] + step).reshape(-1).astype(np.int32),
            np.arange(0, 24 * n, 4, dtype=np.int32),
            (_EDGES.reshape(-1)[None] + step).reshape(-1, 2).astype(np.int32),
            (_corner_edges()[None] + 12 * np.arange(n, dtype=np.int32)[:, None]).reshape(-1).astype(np.int32),
        )
        meshes.set_color(mesh, materials.TINT, "POINT", np.ones((8 * n, 4), np.float32), active=True)
        mesh.materials.append(materials.surface("ink", self.style))
        return mesh

    # -- texts --------------------------------------------------------------------------------------------

    def _place_of(self, text: Text, origin: int) -> NDArray[np.float64]:
        if text.time is not None:
            at = (text.time - origin) * LENGTH / self.flow.window_ns
        else:
            at = -LENGTH + 0.08 if text.far else 0.18
        if self.flow.along == "x":
            return np.array([at, text.across, text.height])
        # Before the front of what ends now.
        return np.array([text.across, -at if text.time is not None or text.far else -0.08, text.height])

    def _set_names(self, now: int) -> None:
        extent = self.flow.extent()
        if extent != self._extent:
            self._extent = extent
            self._frame_scene(bpy.data.scenes[self.scene_name])
        flowing, still = Inked(), Inked()
        dark = is_dark(self.flow.colors())
        for text in self.flow.texts(now):
            into = still if text.time is None else flowing
            color = _NOW if text.warns else self.style.ink
            if text.kind >= 0:
                color = _ON_DARK if text.kind >= len(dark) or dark[text.kind] else _ON_LIGHT
            at = self._place_of(text, now)
            if text.warns:
                into.ground(text.text, at, text.size, text.room, self.style.background)
            into.add(text.text, at, text.size, color, text.room, text.align)
        self._names_now, self._still = now, still
        write_texts(self._named("names").data, flowing, typeface())

    def _set_still_names(self, _now: int) -> None:
        write_texts(self._named("still names").data, self._still, typeface())

    def _set_frame_texts(self, now: int) -> None:
        """Write title, legend and foot on a pane before the camera."""
        view = self._view
        pane, ink = camera.Pane.of(view), Inked()
        ink.flat = True
        tall, wide = _FRAME.height, _FRAME.width
        unit = pane.unit

        def put(text: str, left: float, base: float, size: float, color: Any, room: float = 0.0) -> float:
            at = pane.local(np.array([[left, base]]))[0]
            ink.add(text, at, size * unit, color, room * unit, -1)
            return ink.width(typeface()) / unit

        clock = duration(max(now, 0), 2)
        put(f"{self.title}: live, {clock} so far", 60, tall - 74, 44, self.style.ink, wide - 120)
        left, base = 60.0, tall - 124.0
        for name, srgb in self.flow.legend():
            wanted = 46 + 14.5 * min(len(name), 60)
            if left + wanted > wide - 60:
                left, base = 60.0, base - 34
                if base < tall - 170:
                    break
            corner = np.array(
                [[left, base - 3], [left + 18, base - 3], [left + 18, base + 15], [left, base + 15]]
            )
            ink.patch(pane.local(corner), srgb)
            left += 28 + put(name[:60], left + 26, base, 28, self.style.ink) + 26
        words = [self._told, self.flow.facts()]
        if self.flow.hidden:
            words.append(f"{self.flow.hidden:,} {self.flow.hidden_what} not shown")
        if self.flow.coarse > 1:
            words.append(f"taken together {self.flow.coarse} times coarser, for want of room")
        foot = "  ·  ".join(w for w in words if w)
        put(foot, 60, 40, 25, self.style.muted, wide - 120)
        write_texts(self._named("title").data, ink, typeface())
        shown, eye = self._objects["title"], self._objects["camera"]
        if shown.parent != eye:
            shown.parent = eye

    def _set_ticks(self, now: int) -> None:
        """Set the ruler when a tick has come in or gone out; between these times it moves."""
        window = self.flow.window_ns
        step = time_ticks(0, window, 6)
        gap = int(step.at[1] - step.at[0]) if len(step.at) > 1 else window
        first = -(-(now - window) // gap)
        shown = tuple(range(first, now // gap + 1))
        if shown == self._tick_shown:
            return
        self._tick_shown, self._ticks_now = shown, now
        at = [n * gap for n in shown if n >= 0]
        ink = Inked()
        (low, high), (_, top) = self.flow.extent()
        scale = LENGTH / window
        for when in at:
            along = (when - now) * scale
            text = duration(when, 4)
            if self.flow.along == "x":
                ink.add(text, np.array([along, low - 0.05, -0.5]), 0.34, self.style.ink, 0, 0)
                line = [[along, low, -0.06], [along, high, -0.06], [along, high, top]]
            else:
                ink.add(text, np.array([high + 0.25, -along, 0.0]), 0.34, self.style.ink, 0, -1)
                line = [[low, -along, -0.02], [high, -along, -0.02]]
            ink.line(np.array(line), 0.022, self.style.faint, self.flow.along)
        write_texts(self._named("ticks").data, ink, typeface())

    # -- what stands still --------------------------------------------------------------------------------

    def _frame_scene(self, scene: Any) -> None:
        """Make the edge that is now, and the camera that sees the window."""
        (low, high), (bottom, top) = self.flow.extent()
        still = Inked()
        edge = np.array(
            [[low, bottom - 0.1], [high, bottom - 0.1], [high, top], [low, top], [low, bottom - 0.1]]
        )
        if self.flow.along == "x":
            path = np.column_stack([np.full(5, 0.03), edge])
            still.add("now", np.array([0.0, low - 0.05, -0.95]), 0.38, _NOW, 0, 0)
            box_low, box_high = (-LENGTH, low, bottom - 1.1), (BESIDE, high, top)
        else:
            path = np.column_stack([edge[:, 0], np.full(5, -0.03), edge[:, 1]])[:2]
            if self.flow.edge_height is not None:
                path[:, 2] = self.flow.edge_height
            # Below the moments that pass there.
            still.add("now", np.array([high + 0.25, -0.05, -0.42]), 0.38, _NOW, 0, -1)
            box_low, box_high = (low - 0.3, 0.0, bottom - 0.4), (high + 1.2, LENGTH, top)
        still.line(path, 0.05, _NOW, "x")
        write_texts(self._named("edge").data, still, typeface())
        words = Camera(direction=self.flow.direction, low=box_low, high=box_high, lens=60.0)
        corners = np.array(
            [[x, y, z] for x in (box_low[0], box_high[0]) for y in (box_low[1], box_high[1])
             for z in (box_low[2], box_high[2])]
        )  # fmt: skip
        region = (50.0, 80.0, _FRAME.width - 50.0, _FRAME.height - 190.0)
        self._view = camera.fit(words, _FRAME, region, corners)
        eye = self._objects.get("camera")
        if eye is None:
            eye = camera.place(self._view, f"{self.name} camera")
            eye["tracevis3d_part"] = "camera"
            self.collection.objects.link(eye)
            self._objects["camera"] = eye
            scene.camera = eye
        else:
            camera.place(self._view, eye.name, eye)


def _turned(corner: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return corners along y, towards the reader, of corners along x."""
    out = np.empty_like(corner)
    out[..., 0] = corner[..., 1]
    out[..., 1] = -corner[..., 0]
    out[..., 2] = corner[..., 2]
    return out
