"""The explanations of a drawing, apart from its data: an overlay in the window, print in a picture.

A drawing is packed with its explanations into the scene, so that a saved .blend explains itself without the
trace.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .primitives import Axis, Callout, Drawing, Labels, Legend, LegendEntry, Stretch, Vector
from .selector import Selector

#: Maximum number of names kept, the highest ranks first.
MOST_NAMES = 20_000
#: A packed text that unpacks to more than this is refused.
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Explanations:
    """All that explains one drawing.

    Attributes
    ----------
    title : str
    facts : tuple of str
        Short facts, most important first.
    legends : tuple of Legend
    palette : float32 (k, 4)
        sRGB and alpha of the legends' colours, as they appear in the scene.
    axes : tuple of Axis
    names : tuple of Labels
        Texts at points of the scene.
    callouts : tuple of Callout
        What is to be seen first, most important first.
    low, high : Vector
        The box of the data, which the window frames.
    stretches : tuple of Stretch
        Parts of the time, for the time strip.
    reading : Vector or None
        As :attr:`.primitives.Camera.reading`.
    """

    title: str
    facts: tuple[str, ...]
    legends: tuple[Legend, ...]
    palette: NDArray[np.float32]
    axes: tuple[Axis, ...]
    names: tuple[Labels, ...]
    callouts: tuple[Callout, ...]
    low: Vector
    high: Vector
    stretches: tuple[Stretch, ...] = ()
    reading: Vector | None = None


def explanations_of(drawing: Drawing, palette: NDArray[np.float32] | None = None) -> Explanations:
    """Return the explanations of ``drawing``.

    Parameters
    ----------
    drawing : Drawing
    palette : float32 (k, 4), optional
        The colours as the scene shows them; the drawing's own if left out.

    Returns
    -------
    Explanations
    """
    camera = drawing.camera
    low, high = camera.all_of_it or (camera.low, camera.high)
    return Explanations(
        drawing.title,
        drawing.notes,
        drawing.legends,
        drawing.palette if palette is None else palette,
        drawing.axes,
        highest(drawing.labels),
        drawing.callouts,
        low,
        high,
        drawing.stretches,
        camera.reading,
    )


def highest(names: Iterable[Labels], most: int = MOST_NAMES) -> tuple[Labels, ...]:
    """Return the groups of ``names`` with at most ``most`` texts in all, those of the highest ranks.

    Parameters
    ----------
    names : iterable of Labels
    most : int

    Returns
    -------
    tuple of Labels
        Groups without texts are left out.
    """
    groups = [group for group in names if len(group)]
    if sum(map(len, groups)) <= most:
        return tuple(groups)
    rank = np.concatenate([group.rank for group in groups])
    kept = np.zeros(len(rank), np.bool_)
    kept[np.argsort(-rank, kind="stable")[:most]] = True
    out, first = [], 0
    for group in groups:
        rows = np.flatnonzero(kept[first : first + len(group)])
        first += len(group)
        if len(rows):
            out.append(group.only(rows))
    return tuple(out)


def packed(explanations: Explanations) -> str:
    """Return ``explanations`` as a text of printable ASCII characters, for a .blend.

    Parameters
    ----------
    explanations : Explanations

    Returns
    -------
    str
    """
    e = explanations
    words: dict[str, Any] = {
        "title": e.title,
        "facts": list(e.facts),
        "palette": _numbers(e.palette),
        "legends": [_legend_words(legend) for legend in e.legends],
        "axes": [dict(vars(axis)) for axis in e.axes],
        "names": [_names_words(group) for group in e.names],
        "callouts": [dict(vars(callout)) for callout in e.callouts],
        "box": [list(e.low), list(e.high)],
        "stretches": [dict(vars(stretch)) for stretch in e.stretches],
        "reading": list(e.reading) if e.reading is not None else None,
    }
    return base64.b85encode(zlib.compress(json.dumps(words, allow_nan=True).encode(), 1)).decode()


def unpacked(text: str) -> Explanations | None:
    """Return what :func:`packed` was given; None where ``text`` is something else.

    Parameters
    ----------
    text : str
        From a file, so it may hold anything.

    Returns
    -------
    Explanations or None
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b85decode(text), _MOST_BYTES)
        if unpacker.unconsumed_tail:
            return None
        words = json.loads(data)
        palette = np.array(words["palette"], np.float32).reshape(-1, 4)
        names = tuple(_names(group) for group in words["names"])
        legends = tuple(_legend(legend, len(palette)) for legend in words["legends"])
        low, high = (_vector(v) for v in words["box"])
        return Explanations(
            str(words["title"]),
            tuple(map(str, words["facts"])),
            legends,
            palette,
            tuple(_axis(axis) for axis in words["axes"]),
            names,
            tuple(_callout(callout) for callout in words["callouts"]),
            low,
            high,
            tuple(_stretch(stretch, len(palette)) for stretch in words.get("stretches", ())),
            _vector(words["reading"]) if words.get("reading") else None,
        )
    except (ValueError, KeyError, TypeError, IndexError, zlib.error, RecursionError):
        return None


def packed_names(names: Iterable[Labels]) -> str:
    """Return names alone as :func:`packed` returns all.

    Parameters
    ----------
    names : iterable of Labels

    Returns
    -------
    str
    """
    words = [_names_words(group) for group in names if len(group)]
    return base64.b85encode(zlib.compress(json.dumps(words).encode(), 1)).decode()


def unpacked_names(text: str) -> tuple[Labels, ...]:
    """Return what :func:`packed_names` was given; nothing where ``text`` is something else.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of Labels
    """
    try:
        data = zlib.decompressobj().decompress(base64.b85decode(text), _MOST_BYTES)
        return tuple(_names(group) for group in json.loads(data))
    except (ValueError, KeyError, TypeError, IndexError, zlib.error, RecursionError):
        return ()


def _numbers(values: NDArray[Any]) -> list[float]:
    flat = np.asarray(values, np.float64).ravel()
    return [float(f"{v:.7g}") for v in flat.tolist()]


def _legend_words(legend: Legend) -> dict[str, Any]:
    entries = [
        [e.text, e.color, e.look, vars(e.stands_for) if e.stands_for is not None else None]
        for e in legend.entries
    ]
    return {**vars(legend), "entries": entries}


def _legend(words: dict[str, Any], colors: int) -> Legend:
    entries = [
        LegendEntry(str(text), _index(color, colors), look, _selector(*stands_for))
        for text, color, look, *stands_for in words["entries"]
    ]
    ramp = words["ramp"]
    return Legend(
        str(words["title"]),
        tuple(entries),
        (_index(ramp[0], colors), _index(ramp[1], colors)) if ramp else None,
        tuple(map(float, words["ramp_tick"])),
        tuple(map(str, words["ramp_text"])),
    )


def _selector(words: dict[str, Any] | None = None) -> Selector | None:
    if words is None:
        return None
    return Selector(
        tuple((int(first), int(last)) for first, last in words["colors"]),
        tuple(map(str, words["kinds"])),
        tuple(map(int, words["ids"])),
    )


def _index(value: Any, most: int) -> int:
    index = int(value)
    if not 0 <= index < most:
        raise ValueError
    return index


def _names_words(group: Labels) -> dict[str, Any]:
    words = dict(vars(group))
    for key in ("anchor", "height", "room", "rank"):
        words[key] = _numbers(words[key])
    ids = group.background.tolist(), group.id.tolist()
    return {**words, "text": list(group.text), "background": ids[0], "id": ids[1]}


def _names(words: dict[str, Any]) -> Labels:
    text = tuple(map(str, words["text"]))
    n = len(text)
    anchor = np.array(words["anchor"], np.float32).reshape(n, 3)
    height, room, rank = (np.array(words[k], np.float32).reshape(n) for k in ("height", "room", "rank"))
    background = np.array(words["background"], np.int32)
    ids = np.array(words.get("id", ()), np.int64)
    shorter = tuple(tuple(map(str, texts)) for texts in words.get("shorter", ()))
    whole = all(len(column) in (0, n) for column in (background, ids, shorter))
    if not whole or words["align"] not in (-1, 0, 1):
        raise ValueError
    return Labels(
        str(words["kind"]),
        text,
        anchor,
        height,
        room,
        rank,
        words["align"],
        _vector(words["right"]),
        _vector(words["up"]),
        background,
        int(words["source"]),
        ids,
        shorter,
    )


def _axis(words: dict[str, Any]) -> Axis:
    window = words.get("window")
    axis = Axis(
        _vector(words["origin"]),
        _vector(words["direction"]),
        float(words["length"]),
        tuple(map(float, words["tick"])),
        tuple(map(str, words["text"])),
        tuple(map(float, words["minor"])),
        str(words["title"]),
        _vector(words["outward"]),
        float(words["height"]),
        float(words["grid"]),
        (int(window[0]), int(window[1])) if window else None,
    )
    if len(axis.tick) != len(axis.text):
        raise ValueError
    return axis


def _callout(words: dict[str, Any]) -> Callout:
    return Callout(
        str(words["text"]),
        str(words["detail"]),
        _vector(words["point"]),
        float(words["rank"]),
        int(words["color"]),
        tuple((int(source), int(call)) for source, call in words.get("calls", ())),
        tuple((int(source), int(a), int(b)) for source, a, b in words.get("spans", ())),
        bool(words.get("inferred", False)),
    )


def _stretch(words: dict[str, Any], colors: int) -> Stretch:
    return Stretch(
        int(words["source"]),
        int(words["start"]),
        int(words["end"]),
        str(words["text"]),
        _index(words["color"], colors),
    )


def _vector(values: Any) -> Vector:
    x, y, z = map(float, values)
    return x, y, z
