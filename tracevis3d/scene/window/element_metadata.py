"""The elements that the scene's objects show, and their metadata, read back from the meshes.

It is there after undo, and after the .blend is opened again, with the trace or without. Beside positions and
ids the meshes carry what each element represents (:func:`write_drawing`).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...drawing.links import Link
from ...drawing.picked import PickedElement
from ...drawing.primitives import Boxes, Drawing, Element, Image, Lines, Marks, Tubes, Wedges
from ...drawing.selector import Selector
from ...layout.scales import TimeScale
from ...layout.sight.picking import BoxPicker, DiscPicker, Met, Ray, TubePicker
from .. import compat
from ..geometry import meshes
from . import stored_links

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_PREFIX = "tracevis3d_"
#: Stored for each element that represents calls: name -> Blender's type of the attribute, and dtype.
_FACTS: dict[str, tuple[str, type[np.generic]]] = {
    "function": ("INT", np.int32),
    "depth": ("INT", np.int32),
    "thread": ("INT", np.int32),
    "count": ("INT", np.int32),
    "duration": ("FLOAT", np.float32),
    "own": ("FLOAT", np.float32),
}
#: Each element's index into the drawing's palette.
_COLOR = "palette_index"
_MOST = 2**31 - 1
#: A pin is this many times as high as its size, its ball this much of it above the tip.
_PIN_HEIGHT, _PIN_BALL = 1.8, 1.3


class ElementMetadata(Protocol):
    """The metadata of the elements: :class:`tracevis3d.views.element_metadata.ElementMetadata` is one."""

    calls: dict[int, Ints]
    values: tuple[tuple[str, NDArray[np.float64]], ...]
    texts: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[Link, ...]


_stamp = 0


def write_drawing(collection: Any, drawing: Drawing, metadata: list[Any]) -> None:
    """Write beside the elements of ``drawing``, built in ``collection``, what they represent.

    Parameters
    ----------
    collection : bpy.types.Collection
    drawing : Drawing
    metadata : list of ElementMetadata or None
        One per element of the drawing.
    """
    for shown in collection.objects:
        place = shown.get(_PREFIX + "element")
        if place is not None and 0 <= place < len(drawing.elements):
            write(shown, drawing.elements[place], metadata[place])
    stored_links.write_relations(collection, drawing.relations)


def write(shown: Any, element: Element, metadata: ElementMetadata | None) -> None:
    """Write to the mesh of an object what its elements represent.

    Parameters
    ----------
    shown : bpy.types.Object
    element : Element
        What it shows.
    metadata : ElementMetadata or None
    """
    global _stamp
    _stamp += 1
    mesh = shown.data
    for key in [name for name in mesh.keys() if name.startswith(_PREFIX)]:  # noqa: SIM118 - no dict
        del mesh[key]
    word = type(element).__name__
    mesh[_PREFIX + "word"] = word
    # Changes whenever the content may have changed; undo restores it.
    mesh[_PREFIX + "stamp"] = f"{time.time_ns():x}-{_stamp}"
    points = isinstance(element, (Boxes, Marks))
    which: Any = slice(None)
    if isinstance(element, Marks):
        mesh[_PREFIX + "shape"], mesh[_PREFIX + "axis"] = element.shape, element.along
    if isinstance(element, (Tubes, Lines)):
        count = np.diff(element.first)
        which = np.flatnonzero(count > 0)
        mesh[_PREFIX + "sections"] = count[which].astype(np.int32).tolist()
    if isinstance(element, Wedges):
        count = np.diff(element.first)
        which = np.flatnonzero(count > 1)
        mesh[_PREFIX + "sections"] = count[which].astype(np.int32).tolist()
        if len(element.time):
            mesh[_PREFIX + "time"] = np.asarray(element.time[which], np.float32).reshape(-1).tolist()
    if isinstance(element, (Boxes, Wedges)) and element.window is not None:
        # Nanoseconds exceed Blender's integers.
        mesh[_PREFIX + "window"] = "{} {}".format(*element.window)
    if not isinstance(element, Image):
        colors = np.asarray(element.color, np.int32)[which]
        if points:
            meshes.set_attribute(mesh, _COLOR, "INT", "POINT", colors)
        else:
            mesh[_PREFIX + _COLOR] = colors.tolist()
    if metadata is None:
        for name in _FACTS:
            if name in mesh.attributes:
                mesh.attributes.remove(mesh.attributes[name])
        return
    mesh[_PREFIX + "calls"] = sorted(metadata.calls)
    for name, (kind, dtype) in _FACTS.items():
        values = getattr(metadata, name)
        if not len(values):
            if name in mesh.attributes:
                mesh.attributes.remove(mesh.attributes[name])
            continue
        if dtype == np.int32:
            values = np.minimum(values, _MOST)
        if points:
            meshes.set_attribute(mesh, name, kind, "POINT", values)
        else:
            mesh[_PREFIX + name] = np.asarray(values[which], dtype).tolist()
    if element.kind not in ("call", "cluster"):
        # The ids of these kinds are calls.
        for source, calls in metadata.calls.items():
            mesh[f"{_PREFIX}calls_{source}"] = " ".join(map(str, calls[which].tolist()))
    for title, texts in metadata.texts:
        mesh[f"{_PREFIX}text_{title}"] = np.array(texts, object)[which].tolist() if texts else []
    mesh[_PREFIX + "values"] = [title for title, _ in metadata.values]
    for i, (_, values) in enumerate(metadata.values):
        mesh[f"{_PREFIX}value_{i}"] = np.asarray(values[which], np.float64).tolist()
    every = np.arange(len(element))[which]
    stored_links.write(mesh, [link.taken(every) for link in metadata.links])


class PickableMesh:
    """The elements that one object shows, in the object's own coordinates.

    Parameters
    ----------
    shown : bpy.types.Object

    Attributes
    ----------
    kind : str
    source : int
        Which of the view's traces.
    word : str
        ``Boxes``, ``Tubes``, ``Lines`` or ``Marks``.
    stamp : tuple
        Another one whenever what is held is another.
    """

    def __init__(self, shown: Any) -> None:
        mesh = shown.data
        self.kind = str(shown.get(_PREFIX + "kind", ""))
        self.source = int(shown.get(_PREFIX + "source", 0))
        self.word = str(mesh.get(_PREFIX + "word", "")) or _guessed(mesh)
        self.stamp = _key(mesh)
        self.look = str(mesh.get(_PREFIX + "shape", "sphere"))
        self.axis = "xyz".index(str(mesh.get(_PREFIX + "axis", "z")))
        window = str(mesh.get(_PREFIX + "window", "")).split()
        self.window = (int(window[0]), int(window[1])) if len(window) == 2 else None
        n = len(mesh.vertices)
        self._points = _values(mesh, "position", "vector", (n, 3))
        self.time = np.empty((0, 2), np.float32)
        if self.is_boxes or self.word == "Marks":
            self.low = self._points
            self.size = _values(mesh, "size", "vector", (n, 3))
            low, high = _values(mesh, "id", "value", (n,), np.int32), None
            if "id_high" in mesh.attributes:
                high = _values(mesh, "id_high", "value", (n,), np.int32)
            self.id: Ints = low.astype(np.int64)
            if high is not None:
                self.id = (high.astype(np.int64) << 32) | (self.id & 0xFFFFFFFF)
            if "start" in mesh.attributes and "end" in mesh.attributes:
                columns = [_values(mesh, name, "value", (n,)) for name in ("start", "end")]
                self.time = np.stack(columns, axis=1)
        elif self.word == "Wedges":
            self._read_wedges(mesh)
        else:
            self._read_sections(mesh)
        #: Each element's palette index, int32 (n,); empty for objects of a version that did not store it.
        self.color = self._colors(mesh)
        self._facts = {name: self._fact(mesh, name) for name in _FACTS}
        #: One of the view's traces -> the call of it that each element represents.
        self.calls: dict[int, Ints] = {}
        if self.kind in ("call", "cluster"):
            self.calls = {self.source: self.id}
        else:
            for source in mesh.get(_PREFIX + "calls", ()):
                text = mesh.get(f"{_PREFIX}calls_{source}", "")
                calls = np.array(text.split(), np.int64)
                if len(calls) == len(self.id):
                    self.calls[int(source)] = calls
        begin = _PREFIX + "text_"
        #: Texts of each element: titles and texts.
        self.texts: list[tuple[str, list[str]]] = [
            (name.removeprefix(begin), [str(text) for text in mesh[name]])
            for name in mesh.keys()  # noqa: SIM118 - no dict
            if name.startswith(begin) and len(mesh[name]) == len(self.id)
        ]
        titles = mesh.get(_PREFIX + "values", ())
        self.values = [(str(t), np.array(mesh[f"{_PREFIX}value_{i}"])) for i, t in enumerate(titles)]
        #: What each element shows beside calls.
        self.links = [link for link in stored_links.read(mesh) if len(link) == len(self.id)]

    @property
    def is_boxes(self) -> bool:
        """Whether the elements are boxes."""
        return self.word == "Boxes"

    @property
    def shows_calls(self) -> bool:
        """Whether the elements represent calls; others only help to read the picture."""
        return bool(self.calls)

    @property
    def has_related(self) -> bool:
        """Whether other elements may be highlighted with these."""
        return self.shows_calls or bool(self.links)

    @property
    def has_description(self) -> bool:
        """Whether the elements can be described, by their calls or by themselves."""
        return self.shows_calls or bool(self.texts) or bool(self.values)

    def __len__(self) -> int:
        return len(self.id)

    def of_any(self, selectors: Iterable[Selector]) -> NDArray[np.bool_]:
        """Return which elements any of some selectors means, bool (n,)."""
        return Selector.of_any(selectors, self.kind, self.color, self.id)

    def fact(self, name: str) -> NDArray[Any]:
        """Return ``function``, ``depth``, ``thread``, ``count``, ``duration`` or ``own`` of all."""
        return self._facts[name]

    @cached_property
    def axis_of_depth(self) -> int | None:
        """Along which of y and z the elements' depths in the stack grow, 1 or 2; None where along neither."""
        depth = self.fact("depth").astype(np.float64)
        if not self.is_boxes or len(depth) < 3 or np.ptp(depth) == 0:
            return None
        at = self.low[:, 1:].astype(np.float64)
        apart = at - at.mean(axis=0)
        deeper = depth - depth.mean()
        common = np.abs(apart.T @ deeper)
        spread = np.sqrt((apart**2).sum(axis=0) * (deeper**2).sum())
        # Walls may rise slightly with each step: the axis with the longer steps counts.
        step = np.where(common > 0.5 * spread, common, 0.0)
        return 1 + int(np.argmax(step)) if step.any() else None

    def widest(self, most: int) -> Ints:
        """Return the elements that are widest along x, no more than ``most``, int64 (n,)."""
        if len(self) <= most:
            return np.arange(len(self))
        return np.asarray(np.argpartition(-self.size[:, 0], most)[:most], np.int64)

    def element_of(self, source: int, call: int) -> int | None:
        """Return the first element that represents a call.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        call : int

        Returns
        -------
        int or None
            None if none does.
        """
        if source not in self.calls:
            return None
        found = np.flatnonzero(self.calls[source] == call)
        return int(found[0]) if len(found) else None

    def picked(self, element: int, local: Sequence[float] | NDArray[np.float64]) -> PickedElement:
        """Return the metadata of one element.

        Parameters
        ----------
        element : int
            Its place among all.
        local : float (3,)
            Where it was met, in the object's coordinates.

        Returns
        -------
        PickedElement
        """
        met = [0.5, 0.5]
        if self.word in ("Boxes", "Wedges", "Marks") and len(self.low):
            for i, axis in enumerate((0, 2)):
                wide = float(self.size[element, axis])
                share = (float(local[axis]) - float(self.low[element, axis])) / wide if wide > 0 else 0.0
                met[i] = min(max(share, 0.0), 1.0)
        facts = {name: column[element].item() for name, column in self._facts.items() if len(column)}
        if "function" in facts:
            facts["same"] = int(np.count_nonzero(self.fact("function") == facts["function"]))
        calls = {source: int(column[element]) for source, column in self.calls.items()}
        begin, end = self.time[element].tolist() if len(self.time) else (0.0, 0.0)
        return PickedElement(
            self.kind,
            self.source,
            int(self.id[element]),
            {source: call for source, call in calls.items() if call >= 0},
            (float(local[0]), float(local[1]), float(local[2])),
            (met[0], met[1]),
            (begin, end) if len(self.time) else None,
            self.window,
            facts,
            min(self.calls, default=0),
            tuple((title, column[element]) for title, column in self.texts),
            tuple((title, float(column[element])) for title, column in self.values),
        )

    def _colors(self, mesh: Any) -> NDArray[np.int32]:
        if self.is_boxes or self.word == "Marks":
            known = _COLOR in mesh.attributes
            return _values(mesh, _COLOR, "value", (len(self.id) if known else 0,), np.int32)
        kept = np.array(mesh.get(_PREFIX + _COLOR, ()), np.int32)
        return kept if len(kept) == len(self.id) else np.empty(0, np.int32)

    def _fact(self, mesh: Any, name: str) -> NDArray[Any]:
        kind, dtype = _FACTS[name]
        if self.is_boxes or self.word == "Marks":
            attribute = mesh.attributes.get(name)
            if attribute is None or attribute.data_type != kind or attribute.domain != "POINT":
                return np.empty(0, dtype)
            return _values(mesh, name, "value", (len(self.low),), dtype)
        kept = np.array(mesh.get(_PREFIX + name, ()), dtype)
        return kept if len(kept) == len(self.id) else np.empty(0, dtype)

    def _read_sections(self, mesh: Any) -> None:
        """Take middles and half axes of tubes' sections from their rings of vertices."""
        count = np.array(mesh.get(_PREFIX + "sections", ()), np.int64)
        rings = int(count.sum() + 2 * len(count))
        sides = len(self._points) // rings if rings else 0
        self.first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        self.sides = sides
        if not rings or rings * sides != len(self._points) or "element_id" not in mesh.attributes:
            self._read_nothing()
            return
        # Each tube has one more ring at either end, for its caps.
        ends = self.first[1:] + 2 * np.arange(1, len(count) + 1)
        inner = np.ones(rings, np.bool_)
        inner[ends - 1] = inner[ends - count - 2] = False
        self.ring = self._points.reshape(rings, sides, 3)[inner]
        self.middle = self.ring.mean(axis=1, dtype=np.float64).astype(np.float32)
        quarter = sides // 4 if sides % 4 == 0 else 0
        width = self.ring[:, 0] - self.middle
        if quarter:
            height = self.ring[:, quarter] - self.middle
        else:
            # With six sides, the corners at a sixth and a third of the turn give the half axis across.
            sixth, third = sides // 6, sides // 3
            height = (self.ring[:, sixth] + self.ring[:, third] - 2 * self.middle) / np.sqrt(3.0)
        self.across = np.concatenate([width, height.astype(np.float32)], axis=1)
        faces = _values(mesh, "element_id", "value", (len(mesh.polygons),), np.int32)
        per = (count - 1) * sides + 2
        self.id = faces[np.cumsum(per) - per].astype(np.int64)

    def _read_wedges(self, mesh: Any) -> None:
        """Take the pieces of bent blocks from two of their four sides: two sections for each piece."""
        count = np.array(mesh.get(_PREFIX + "sections", ()), np.int64) - 1
        n = int(count.sum())
        self.sides, self.id = 4, np.empty(0, np.int64)
        if not n or len(self._points) < 16 * n or "element_id" not in mesh.attributes:
            self._read_nothing()
            return
        # The faces of each side come together, four points each; some run the other way round.
        one, other = self._points[: 4 * n].reshape(n, 4, 3), self._points[8 * n : 12 * n].reshape(n, 4, 3)
        ends = [(side[:, :2].mean(axis=1), side[:, 2:].mean(axis=1)) for side in (one, other)]
        apart = [np.linalg.norm(ends[0][0] - ends[1][i], axis=1) for i in (0, 1)]
        turned = (apart[1] < apart[0])[:, None, None]
        other = np.where(turned, other[:, [2, 3, 0, 1]], other)
        # Corners in turn around each section, so that its outline can be drawn.
        first, second = (np.concatenate([one[:, i], other[:, i]], axis=1) for i in ([0, 1], [3, 2]))
        crossed = np.linalg.norm(first[:, 1] - first[:, 2], axis=1) > np.linalg.norm(
            first[:, 1] - first[:, 3], axis=1
        )
        self.ring = np.stack([first, second], axis=1)
        self.ring[crossed] = self.ring[crossed][:, :, [0, 1, 3, 2]]
        self.ring = self.ring.reshape(-1, 4, 3)
        self.middle = self.ring.mean(axis=1)
        half = (self.ring[:, 1] - self.ring[:, 0]) / 2, (self.ring[:, 3] - self.ring[:, 0]) / 2
        self.across = np.concatenate(half, axis=1).astype(np.float32)
        self.first = 2 * np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        faces = _values(mesh, "element_id", "value", (len(mesh.polygons),), np.int32)
        self.id = faces[self.first[:-1] // 2].astype(np.int64)
        time = np.array(mesh.get(_PREFIX + "time", ()), np.float32).reshape(-1, 2)
        if len(time) == len(count):
            self.time = time
        reach = np.abs(self.across[:, :3]) + np.abs(self.across[:, 3:])
        self.low = np.minimum.reduceat(self.middle - reach, self.first[:-1])
        self.size = np.maximum.reduceat(self.middle + reach, self.first[:-1]) - self.low

    def _read_nothing(self) -> None:
        """Hold no elements: the mesh is from another version, or was edited manually."""
        self.id = np.empty(0, np.int64)
        self.first, self.ring = np.zeros(1, np.int64), np.empty((0, 0, 3), np.float32)
        self.middle, self.across = np.empty((0, 3), np.float32), np.empty((0, 6), np.float32)

    @cached_property
    def along(self) -> tuple[float, float] | None:
        """(a, b) such that x = a + b * share of the time window; None without times."""
        if not len(self.time):
            return None
        first, last = int(np.argmin(self.time[:, 0])), int(np.argmax(self.time[:, 1]))
        begin, end = float(self.time[first, 0]), float(self.time[last, 1])
        left, right = float(self.low[first, 0]), float(self.low[last, 0] + self.size[last, 0])
        if not (end > begin and right > left):
            return None
        slope = (right - left) / (end - begin)
        return left - slope * begin, slope

    @cached_property
    def time_scale(self) -> TimeScale | None:
        """The times along x; None without times."""
        if self.window is None or self.along is None:
            return None
        first, length = self.along
        return TimeScale(self.window, (first, first + length))

    @cached_property
    def extent(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest coordinates (3,) of all boxes."""
        low = self.low.min(axis=0).astype(np.float64)
        return low, (self.low + self.size).max(axis=0).astype(np.float64)

    @cached_property
    def _picker(self) -> BoxPicker | DiscPicker | TubePicker:
        if self.is_boxes:
            return BoxPicker(self.low, self.size, self.time)
        if self.word == "Marks":
            return _marks_picker(self.low, self.size, self.look, self.axis)
        return TubePicker(self.middle, self.across, self.first)

    def prepare(self) -> None:
        """Build what :meth:`pick` needs; it is built at the first pick otherwise."""
        if len(self):
            _ = self._picker

    def pick(self, ray: Ray, thick: bool, now: float, farthest: float) -> Met | None:
        """Return what a ray meets first.

        Parameters
        ----------
        ray : Ray
            In the object's coordinates.
        thick : bool
            Boxes, too, count as met if they are passed within the ray's radius.
        now : float
            The drawing's time: what comes later is not there yet.
        farthest : float
            Distance beyond which nothing counts.

        Returns
        -------
        Met or None
        """
        if not len(self):
            return None
        picker = self._picker
        if isinstance(picker, BoxPicker):
            return picker.hit(ray, thick, now, farthest)
        return picker.pick(ray, farthest)

    def bounds(self, elements: ArrayLike | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lowest and highest coordinates (k, 3) of some elements, or of all."""
        which = np.arange(len(self)) if elements is None else np.asarray(elements, np.int64)
        if self.is_boxes:
            low = self.low[which].astype(np.float64)
            return low, low + self.size[which]
        if self.word == "Marks":
            half = self.size[which].astype(np.float64) / 2
            low, high = self.low[which] - half, self.low[which] + half
            if self.look == "pin":
                low[:, 2], high[:, 2] = self.low[which, 2], self.low[which, 2] + 2 * half[:, 2] * _PIN_HEIGHT
            elif self.look == "shell":
                # It extends down from its point, or to the right.
                (high if self.axis == 2 else low)[:, self.axis] = self.low[which, self.axis]
                end, sign = (low, -1) if self.axis == 2 else (high, 1)
                end[:, self.axis] = self.low[which, self.axis] + sign * 2 * half[:, self.axis]
            return low, high
        low, high = self._bounds_of_sections
        return low[which], high[which]

    @cached_property
    def _bounds_of_sections(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and highest coordinates of each element that has sections, none of which is empty."""
        if len(self.first) < 2:
            return np.empty((0, 3)), np.empty((0, 3))
        reach = np.abs(self.across[:, :3]) + np.abs(self.across[:, 3:])
        low = np.minimum.reduceat(self.middle - reach, self.first[:-1])
        high = np.maximum.reduceat(self.middle + reach, self.first[:-1])
        return low.astype(np.float64), high.astype(np.float64)


def _marks_picker(point: Floats, extents: Floats, shape: str, axis: int) -> DiscPicker | TubePicker:
    """Return the picker of signs: balls, from the tip to the ball of a pin, round solids about an axis."""
    n = len(point)
    if shape == "disc":
        return DiscPicker((point - extents / 2).astype(np.float32), extents.astype(np.float32), axis)
    if shape == "shell":
        others = [i for i in (0, 1, 2) if i != axis]
        across = np.zeros((n, 2, 6), np.float32)
        across[:, :, others[0]] = extents[:, None, others[0]] / 2
        across[:, :, 3 + others[1]] = extents[:, None, others[1]] / 2
        middle = np.repeat(point[:, None], 2, axis=1).astype(np.float32)
        across[:, 0] = 0.0
        middle[:, 1, axis] += (-1 if axis == 2 else 1) * extents[:, axis]
        first = np.arange(0, 2 * n + 1, 2, dtype=np.int64)
        return TubePicker(middle.reshape(-1, 3), across.reshape(-1, 6), first)
    size = extents[:, 0]
    half = (size / 2).astype(np.float32)
    across = np.zeros((n, 6), np.float32)
    across[:, 0] = across[:, 4] = half
    if shape not in ("pin", "cone"):
        return TubePicker(point, across, np.arange(n + 1, dtype=np.int64))
    tip, top = point, point.copy()
    top[:, 2] += size * (_PIN_BALL if shape == "pin" else 1.0)
    middle = np.stack([tip, top], axis=1).reshape(-1, 3)
    thin = np.zeros_like(across)
    sections = np.stack([thin, across], axis=1).reshape(-1, 6)
    return TubePicker(middle, sections, np.arange(0, 2 * n + 1, 2, dtype=np.int64))


def _values(
    mesh: Any, name: str, prop: str, shape: tuple[int, ...], dtype: type[np.generic] = np.float32
) -> NDArray[Any]:
    out = np.empty(shape, dtype)
    attribute = mesh.attributes.get(name)
    if attribute is None or len(attribute.data) != shape[0]:
        out.fill(0)
    elif out.size:
        attribute.data.foreach_get(prop, out.reshape(-1))
    return out


def _guessed(mesh: Any) -> str:
    """Return the word of a mesh that was built without :func:`write_drawing`."""
    return "Boxes" if "size" in mesh.attributes else "Tubes"


#: Objects that were read last; a view has about ten.
_MOST_KEPT = 256
_kept: OrderedDict[tuple[int, str, int], PickableMesh] = OrderedDict()


def _key(mesh: Any) -> tuple[int, str, int]:
    # The number of points too: a mesh that was edited manually keeps its stamp.
    return mesh.session_uid, str(mesh.get(_PREFIX + "stamp", "")), len(mesh.vertices)


def pickable_mesh(shown: Any) -> PickableMesh | None:
    """Return the elements that ``shown`` shows; None if it is not an object of a drawing's elements."""
    if shown.type != "MESH" or shown.data is None or (_PREFIX + "kind") not in shown:
        return None
    mesh = shown.data
    key = _key(mesh)
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = PickableMesh(shown)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(key)
    return found


def forget() -> None:
    """Forget everything that was read."""
    _kept.clear()
    stored_links.forget()


def now_of(shown: Any, frame: float) -> float:
    """Return the drawing's time that the nodes of an object show.

    Parameters
    ----------
    shown : bpy.types.Object
    frame : float
        Of the scene.

    Returns
    -------
    float
        0 to 1.
    """
    for modifier in shown.modifiers:
        if compat.has_input(modifier, "Now") and compat.has_input(modifier, "Timed"):
            if not compat.get_input(modifier, "Timed"):
                return 1.0
            if not compat.get_input(modifier, "Play"):
                return float(compat.get_input(modifier, "Now"))
            first, last = compat.get_input(modifier, "First"), compat.get_input(modifier, "Last")
            return float(min(max((frame - first) / max(last - first, 1.0), 0.0), 1.0))
    return 1.0
