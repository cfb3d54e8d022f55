"""A live view in the scene: pages of bars that move as wholes, texts, the ruler, the edge that is *now*.

Everything is made once. A tick moves objects and writes attributes of the few pages that have changed; no
mesh is made in it and no step of undo. Python keeps references only until undo or another file replaces what
they point to: then :meth:`LiveScene.find` looks them up by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Camera
from ...layout.picking import Ray
from ...layout.ticks import time_ticks
from ...live.stream.live_view import BESIDE, CELLS, LEAST_CELLS, LENGTH, LiveView, Said, Text
from ...live.stream.pages import TRIANGLES, Page, Ring
from ...units import duration
from .. import camera, lighting, materials, styles
from ..color import is_dark
from ..geometry import meshes
from ..text.glyphs import typeface
from ..window.highlight import Outline
from .faces import ALL, EDGES, Faces, eyes_on, pixels_along, seen, topology
from .texts import Inked, write_texts

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
#: Pages that get other faces in a tick.
_REFACED = 2


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


class LiveScene:
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
    written, made : int
        Pages written in the last tick, and meshes made for pages.
    """

    def __init__(self, flow: LiveView, scene: Any, style: str, title: str) -> None:
        self.flow, self.ring, self.title = flow, Ring(flow), title
        self.style = styles.named(style)
        self.scene_name = scene.name
        self.written = self.made = 0
        self._faces: Faces = ALL
        # What is written already: texts that stand still are written when they change.
        self._legend: Any = None
        self._still_said: Any = None
        self._still_written: Any = None
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
        scene.world = lighting.world(self.style)
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
        self._legend = self._still_written = None
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
            self._faces = self._seen_faces()
            self._follow_pixels()
        else:
            # What comes into sight is there at once, what goes out of it later.
            self._faces = tuple(a or b for a, b in zip(self._faces, self._seen_faces(), strict=True))
        ring.advance(now)
        self.written = self.made = 0
        self._show_pages(now)
        # Not all texts in one tick, nor beside new pages, that would be a long one; unless ticks are rare.
        slow, self._ticked_at = clock - self._ticked_at > _SLOW_S, clock
        if not self._pending and clock - self._texts_at > _TEXTS_S:
            self._texts_at, self._told = clock, told
            self._pending = [
                self._set_names, self._set_still_names, self._set_frame_texts, self._set_legend,
            ]  # fmt: skip
        if slow or not self.made:
            due = len(self._pending) if slow else 1
            for write in self._pending[:due]:
                write(now)
            del self._pending[:due]
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
        shape = Outline(np.ascontiguousarray(corner[0]), TRIANGLES, EDGES)
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

    def _seen_faces(self) -> Faces:
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None:
            return ALL
        (left, right), (bottom, top) = self.flow.extent()
        eyes = [self._inward(eye) for eye in eyes_on(scene)]
        return seen(eyes, (-LENGTH, left, bottom), (0.0, right, top), self.flow.straight) if eyes else ALL

    def _follow_pixels(self) -> None:
        """Take together what no pixel shows: the window may be small."""
        scene = bpy.data.scenes.get(self.scene_name)
        (left, right), (_, top) = self.flow.extent()
        ends = np.array([[-LENGTH, (left + right) / 2, top / 2], [0.0, (left + right) / 2, top / 2]])
        if self.flow.along == "y":
            ends = np.column_stack([ends[:, 1], -ends[:, 0], ends[:, 2]])
        pixels = pixels_along(scene, *ends.tolist()) if scene is not None else 0.0
        self.flow.cells = int(np.clip(pixels, LEAST_CELLS, CELLS)) if pixels else CELLS

    def _show_pages(self, now: int) -> None:
        for page in (self.ring.open, *self.ring.pages):
            if page.number not in self._pages:
                mesh = bpy.data.meshes.new(f"{self.name} page")
                mesh.materials.append(materials.surface("ink", self.style))
                self._pages[page.number] = self._object(f"page {page.number}", mesh)
                self._give_faces(page, mesh)
            shown = self._pages[page.number]
            mesh = shown.data
            if mesh.get("tracevis3d_faces") != _number(self._faces) and self.made < _REFACED:
                self._give_faces(page, mesh)
            if page.dirty:
                page.dirty = False
                self.written += 1
                corner = page.corner if self.flow.along == "x" else _turned(page.corner)
                mesh.attributes["position"].data.foreach_set("vector", corner.reshape(-1))
                mesh.attributes[materials.TINT].data.foreach_set("color", page.color.reshape(-1))
                mesh.update()
            shown.location = self._along(page.origin - now)

    def _give_faces(self, page: Page, mesh: Any) -> None:
        """Let a page have those faces that can be seen."""
        self.made += 1
        page.dirty = True
        mesh.clear_geometry()
        meshes.fill(mesh, np.zeros((8 * page.room, 3), np.float32), *topology(self._faces, page.room))
        meshes.set_color(mesh, materials.TINT, "POINT", np.ones((8 * page.room, 4), np.float32), active=True)
        mesh["tracevis3d_faces"] = _number(self._faces)

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
        texts = self.flow.texts(now)
        self._still_said = [text for text in texts if text.time is None], dark.tobytes()
        for text in texts:
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
        if self._still_said != self._still_written:
            self._still_written = self._still_said
            write_texts(self._named("still names").data, self._still, typeface())

    def _set_frame_texts(self, now: int) -> None:
        """Write title and foot on a pane before the camera."""
        sheet = _Sheet(self._view)
        wide = _FRAME.width - 120
        clock = duration(max(now, 0), 2)
        title = f"{self.title}: live, {clock} so far"
        sheet.put(title, 60, _FRAME.height - 74, 44, self.style.ink, wide)
        words = [self._told, self.flow.facts()]
        if self.flow.hidden:
            words.append(f"{self.flow.hidden:,} {self.flow.hidden_what} not shown")
        if self.flow.coarse > 1:
            words.append(f"taken together {self.flow.coarse} times coarser, for want of room")
        foot = "  ·  ".join(w for w in words if w)
        sheet.put(foot, 60, 40, 25, self.style.muted, wide)
        self._show_sheet("title", sheet)

    def _set_legend(self, _now: int) -> None:
        """Write the legend on the same pane, if it has changed."""
        entries = [(name, tuple(np.round(srgb, 4).tolist())) for name, srgb in self.flow.legend()]
        if entries == self._legend:
            return
        self._legend = entries
        sheet = _Sheet(self._view)
        left, base = 60.0, _FRAME.height - 124.0
        for name, srgb in entries:
            wanted = 46 + 14.5 * min(len(name), 60)
            if left + wanted > _FRAME.width - 60:
                left, base = 60.0, base - 34
                if base < _FRAME.height - 170:
                    break
            corner = np.array(
                [[left, base - 3], [left + 18, base - 3], [left + 18, base + 15], [left, base + 15]]
            )
            sheet.ink.patch(sheet.pane.local(corner), srgb)
            left += 28 + sheet.put(name[:60], left + 26, base, 28, self.style.ink) + 26
        self._show_sheet("legend", sheet)

    def _show_sheet(self, part: str, sheet: _Sheet) -> None:
        write_texts(self._named(part).data, sheet.ink, typeface())
        shown, eye = self._objects[part], self._objects["camera"]
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
        self._legend = None
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


class _Sheet:
    """What is written on the pane before the camera, in pixels of the frame."""

    def __init__(self, view: Any) -> None:
        self.pane, self.ink = camera.Pane.of(view), Inked()
        self.ink.flat = True

    def put(self, text: str, left: float, base: float, size: float, color: Any, room: float = 0.0) -> float:
        """Write a text; return how long it is."""
        unit = self.pane.unit
        at = self.pane.local(np.array([[left, base]]))[0]
        self.ink.add(text, at, size * unit, color, room * unit, -1)
        return self.ink.width(typeface()) / unit


def _turned(corner: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return corners along y, towards the reader, of corners along x."""
    out = np.empty_like(corner)
    out[..., 0] = corner[..., 1]
    out[..., 1] = -corner[..., 0]
    out[..., 2] = corner[..., 2]
    return out


def _number(faces: Faces) -> int:
    return sum(1 << i for i, kept in enumerate(faces) if kept)
