"""Writes the page: names are data in it, never markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import write_text
from ..drawing.primitives import Axis, Camera, Drawing, Labels, Legend
from ..trace.model import Trace
from ..units import printable
from ..version import __version__
from .geometry import geometry_of

#: Names that a page holds at most, the most important first.
_MOST_LABELS = 20_000
#: Vertices lie on a grid of so many cells along each axis.
_CELLS = 65_535
#: Ground, ink and lesser ink of the styles.
LOOKS: dict[str, tuple[str, str, str]] = {
    "paper": ("#ffffff", "#1a1c21", "#666b73"),
    "flat": ("#ffffff", "#1a1c21", "#666b73"),
    "stage": ("#090b10", "#edeff5", "#99a1b0"),
}
_HERE = Path(__file__).parent
_TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{style_hash}'; \
script-src 'sha256-{script_hash}'">
<meta name="viewport" content="width=device-width">
<meta name="generator" content="TraceVis3D {version}">
<title>{title}</title>
<style>{style}</style></head>
<body><noscript>This page draws with JavaScript and WebGL 2.</noscript>
{sheets}
<script>{script}</script>
</body></html>
"""
_SHEET = """<script type="application/json" id="facts{number}">{facts}</script>
<script type="application/octet-stream" id="data{number}">{data}</script>"""
_REPORT = '<script type="application/json" id="report">{report}</script>'


@dataclass(frozen=True)
class Sheet:
    """A picture of a page of several.

    Attributes
    ----------
    title : str
        In the list of all.
    text : str
        What is said of it.
    drawing : Drawing
    """

    title: str
    text: str
    drawing: Drawing


def write(
    drawing: Drawing,
    traces: Sequence[Trace],
    path: str | os.PathLike[str],
    style: str = "paper",
    sentence: str = "",
) -> dict[str, int]:
    """Write a drawing as a page that opens without a network.

    Parameters
    ----------
    drawing : Drawing
    traces : sequence of Trace
        Those that are drawn.
    path : path
        .html
    style : {"paper", "stage", "flat"}
    sentence : str
        What is drawn, for who can't see it.

    Returns
    -------
    dict
        ``bytes`` of the page, ``boxes`` and ``triangles`` in it.

    Raises
    ------
    InputError
        If it can't be written.
    """
    sheet, columns = _sheet("", drawing, traces, style, sentence)
    return {
        "bytes": _write(path, drawing.title, [sheet]),
        "boxes": len(columns["box_item"]),
        "triangles": len(columns["triangle"]) // 3,
    }


def write_report(
    sheets: Sequence[Sheet],
    traces: Sequence[Trace],
    path: str | os.PathLike[str],
    heading: str,
    style: str = "paper",
) -> int:
    """Write pictures as a page with a list of them, each with what is said of it.

    Parameters
    ----------
    sheets : sequence of Sheet
        The first is seen first.
    traces : sequence of Trace
        Those that are drawn.
    path : path
        .html
    heading : str
    style : {"paper", "stage", "flat"}

    Returns
    -------
    int
        Bytes of the page.

    Raises
    ------
    InputError
        If it can't be written.
    """
    parts = [_REPORT.format(report=as_json([{"title": one.title, "text": one.text} for one in sheets]))]
    for i, one in enumerate(sheets):
        parts.append(_sheet(str(i or ""), one.drawing, traces, style, one.text or heading)[0])
    return _write(path, heading, parts)


def _sheet(
    number: str, drawing: Drawing, traces: Sequence[Trace], style: str, sentence: str
) -> tuple[str, Mapping[str, NDArray[np.generic]]]:
    """Return the elements of a picture, and its columns."""
    geometry = geometry_of(drawing, traces, _rgb(LOOKS[style][0]))
    columns = geometry.arrays()
    facts = {**_facts(drawing, style, sentence), "kinds": geometry.kinds, "names": geometry.names,
             "traces": [trace.source.title for trace in traces], "columns": []}  # fmt: skip
    data = _packed(_compact(columns, facts), facts["columns"])
    return _SHEET.format(number=number, facts=as_json(facts), data=data), columns


def _write(path: str | os.PathLike[str], title: str, sheets: Sequence[str]) -> int:
    """Write a page, and return its bytes."""
    script = (_HERE / "viewer.js").read_text("utf-8")
    sheet = (_HERE / "viewer.css").read_text("utf-8")
    text = _TEMPLATE.format(
        title=html.escape(printable(title or "TraceVis3D")), version=__version__, style=sheet, script=script,
        style_hash=_hash(sheet), script_hash=_hash(script), sheets="\n".join(sheets),
    )  # fmt: skip
    write_text(path, text)
    return len(text.encode("utf-8", "surrogatepass"))


def as_json(facts: object) -> str:
    r"""Return JSON that can stand in a script element: nothing in it ends the element or begins a comment.

    Parameters
    ----------
    facts : object
        Of what JSON has.

    Returns
    -------
    str

    Examples
    --------
    >>> as_json({"name": "</script><!--"})
    '{"name": "\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(facts)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _compact(
    columns: Mapping[str, NDArray[np.generic]], facts: dict[str, Any]
) -> dict[str, NDArray[np.generic]]:
    """Return columns that pack to a fifth: vertices on a grid of 65,536 cells, and differences of neighbours.

    Where the grid lies goes into ``facts``.
    """
    found = dict(columns)
    position = np.asarray(found.pop("position"), np.float64).reshape(-1, 3)
    low = position.min(axis=0) if len(position) else np.zeros(3)
    cell = (position.max(axis=0) - low) / _CELLS if len(position) else np.zeros(3)
    facts["grid"] = {"low": low.tolist(), "cell": cell.tolist()}
    steps = np.round((position - low) / np.where(cell > 0, cell, 1.0)).astype(np.uint16).T.ravel()
    found["steps"] = np.diff(steps, prepend=steps[:1] * 0)
    triangle = np.asarray(found["triangle"], np.uint32)
    found["triangle"] = np.diff(triangle, prepend=triangle[:1] * 0)
    return found


def _packed(columns: Mapping[str, NDArray[np.generic]], listed: list[dict[str, Any]]) -> str:
    """Return columns behind each other, packed; where each is goes into ``listed``."""
    parts, at = [], 0
    for name, column in columns.items():
        raw = np.ascontiguousarray(column).tobytes()
        listed.append({"name": name, "type": column.dtype.name, "at": at, "length": len(column)})
        raw += b"\0" * (-len(raw) % 8)
        parts.append(raw)
        at += len(raw)
    return base64.b64encode(zlib.compress(b"".join(parts), 6)).decode()


def _facts(drawing: Drawing, style: str, sentence: str) -> dict[str, Any]:
    colors = [
        "#" + "".join(f"{round(min(max(c, 0), 1) * 255):02x}" for c in row[:3]) for row in drawing.palette
    ]
    ground, ink, muted = LOOKS[style]
    return {
        "title": drawing.title,
        "sentence": sentence,
        "notes": list(drawing.notes),
        "look": {"ground": ground, "ink": ink, "muted": muted, "shaded": style != "flat"},
        "camera": _camera(drawing.camera, style == "flat"),
        "legends": [_legend(legend, colors) for legend in drawing.legends],
        "callouts": [
            {"text": one.text, "detail": one.detail, "point": list(map(float, one.point)),
             "color": colors[one.color] if 0 <= one.color < len(colors) else muted,
             "inferred": one.inferred}
            for one in drawing.callouts
        ],
        "axes": [_axis(axis) for axis in drawing.axes],
        "labels": _labels(drawing.labels, drawing.palette),
    }  # fmt: skip


def _camera(camera: Camera, flat: bool) -> dict[str, Any]:
    direction = np.asarray(camera.direction, np.float64)
    if flat:
        axis = int(np.abs(direction).argmax())
        direction = np.eye(3)[axis] * np.sign(direction[axis])
    return {
        "direction": direction.tolist(),
        "up": list(map(float, camera.up)),
        "low": list(map(float, camera.low)),
        "high": list(map(float, camera.high)),
        "lens": float(camera.lens),
        "flat": flat or camera.projection == "orthographic",
    }


def _legend(legend: Legend, colors: list[str]) -> dict[str, Any]:
    ramp = None
    if legend.ramp:
        first, last = legend.ramp
        ramp = {
            "colors": colors[first : last + 1],
            "ticks": [[float(at), text] for at, text in zip(legend.ramp_tick, legend.ramp_text)],
        }
    entries = [
        [entry.text, colors[entry.color]] for entry in legend.entries if 0 <= entry.color < len(colors)
    ]
    return {"title": legend.title, "entries": entries, "ramp": ramp}


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "origin": list(map(float, axis.origin)), "direction": list(map(float, axis.direction)),
        "length": float(axis.length), "ticks": [[float(at), text] for at, text in zip(axis.tick, axis.text)],
        "minor": list(map(float, axis.minor)), "title": axis.title,
        "outward": list(map(float, axis.outward)), "height": float(axis.height),
    }  # fmt: skip


def _labels(groups: Sequence[Labels], palette: NDArray[np.float32]) -> list[list[Any]]:
    """Return each label as [text, x, y, z, height, room, rank, group, dark ground?], highest rank first."""
    rows: list[list[Any]] = []
    light = np.asarray(palette[:, :3], np.float64) @ [0.2126, 0.7152, 0.0722] if len(palette) else np.ones(1)
    for group in groups:
        plane = [group.align, *map(float, group.right), *map(float, group.up)]
        for i, text in enumerate(group.text):
            room = float(group.room[i])
            ground = int(group.background[i]) if len(group.background) else -1
            ink = 0 if ground < 0 else 1 if light[min(ground, len(light) - 1)] > 0.45 else 2
            place = [round(float(x), 4) for x in group.anchor[i]]
            rows.append(
                [text, *place, round(float(group.height[i]), 4), round(room, 4) if np.isfinite(room) else -1,
                 float(group.rank[i]), ink, plane]
            )  # fmt: skip
    rows.sort(key=lambda row: -row[6])
    return rows[:_MOST_LABELS]


def _rgb(color: str) -> tuple[float, float, float]:
    return int(color[1:3], 16) / 255, int(color[3:5], 16) / 255, int(color[5:7], 16) / 255
