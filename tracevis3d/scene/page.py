"""The page: what is printed into a scene for its camera alone. The window shows overlays in its stead."""

from __future__ import annotations

import hashlib
from typing import Any

from ..drawing.explanations import (
    Explanations,
    explanations_of,
    packed,
    packed_names,
    unpacked,
    unpacked_names,
)
from ..drawing.primitives import Drawing, Labels
from .parts import NAMES, PART

#: On a view's collection: explanations of its drawing, and the names that replace those of functions.
_EXPLANATIONS, _DETAIL = "tracevis3d_explanations", "tracevis3d_near_names"
#: Digests of both, so that a redraw only compares a few characters.
_STAMP, _DETAIL_STAMP = "tracevis3d_explanations_digest", "tracevis3d_near_digest"
#: Parts that are printed, beside those of names; the second row are live views'.
_PARTS = (
    "title", "legend", "labels", "axis texts", "axis lines", "wall", "sign",
    "names", "still names", "ticks", "now",
)  # fmt: skip
#: On printed objects that are no part of the picture.
PRINTED = "tracevis3d_printed"


def is_printed(shown: Any) -> bool:
    """Return whether an object is print, or a camera: neither is data.

    Parameters
    ----------
    shown : bpy.types.Object

    Returns
    -------
    bool
    """
    part = str(shown.get(PART, ""))
    framed = shown.parent is not None and shown.parent.type == "CAMERA"
    named = part.startswith(NAMES) or PRINTED in shown
    return framed or named or part in _PARTS or shown.type == "CAMERA"


def keep(collection: Any, drawing: Drawing, palette: Any) -> None:
    """Store what explains ``drawing`` on its collection, for the window.

    Parameters
    ----------
    collection : bpy.types.Collection
    drawing : Drawing
    palette : float32 (k, 4)
        Its colours as the scene shows them.
    """
    text = packed(explanations_of(drawing, palette))
    if collection.get(_EXPLANATIONS) != text:
        collection[_EXPLANATIONS] = text
        collection[_STAMP] = _digest(text)


def is_stored(collection: Any) -> bool:
    """Return whether anything is stored by :func:`keep`; it is not if the view is of an older version.

    Parameters
    ----------
    collection : bpy.types.Collection

    Returns
    -------
    bool
    """
    return _EXPLANATIONS in collection


def stamps(collection: Any) -> tuple[str, str]:
    """Return what is different whenever something else explains a view.

    Parameters
    ----------
    collection : bpy.types.Collection

    Returns
    -------
    (str, str)
        Of what :func:`keep` has stored, and of what :func:`store_detail_names` has.
    """
    return str(collection.get(_STAMP, "")), str(collection.get(_DETAIL_STAMP, ""))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stored(collection: Any) -> Explanations | None:
    """Return what explains the drawing of a view; None where nothing readable is stored.

    Parameters
    ----------
    collection : bpy.types.Collection

    Returns
    -------
    Explanations or None
    """
    return unpacked(str(collection.get(_EXPLANATIONS, "")))


def store_detail_names(collection: Any, source: int, names: tuple[Labels, ...]) -> None:
    """Store the names that zooming in has brought, of one of a view's traces.

    Parameters
    ----------
    collection : bpy.types.Collection
    source : int
    names : tuple of Labels
    """
    collection[f"{_DETAIL} {source}"] = packed_names(names)
    _stamp_detail(collection)


def remove_detail_names(collection: Any, source: int | None = None) -> None:
    """Remove what :func:`store_detail_names` has stored, of one trace or of all.

    Parameters
    ----------
    collection : bpy.types.Collection
    source : int, optional
    """
    for key in [key for key in collection.keys() if key.startswith(_DETAIL)]:  # noqa: SIM118
        if source is None or key == f"{_DETAIL} {source}":
            del collection[key]
            _stamp_detail(collection)


def _stamp_detail(collection: Any) -> None:
    found = detail_names(collection)
    collection[_DETAIL_STAMP] = (
        _digest("\n".join(f"{k} {text}" for k, text in found.items())) if found else ""
    )


def detail_names(collection: Any) -> dict[int, str]:
    """Return the stored names of each trace that was zoomed in on, packed.

    Parameters
    ----------
    collection : bpy.types.Collection

    Returns
    -------
    dict
        Which of the view's traces -> text for :func:`.unpacked_names`.
    """
    found = {}
    for key in collection.keys():  # noqa: SIM118
        number = key.removeprefix(f"{_DETAIL} ")
        if key.startswith(_DETAIL) and number.isdigit() and isinstance(collection[key], str):
            found[int(number)] = collection[key]
    return found


def names_of(explained: Explanations, near: dict[int, str]) -> tuple[Labels, ...]:
    """Return the names of a drawing, those of functions replaced where the view has zoomed in.

    Parameters
    ----------
    explained : Explanations
    near : dict
        Of :func:`detail_names`.

    Returns
    -------
    tuple of Labels
    """
    own = tuple(g for g in explained.names if not (g.kind == "function" and g.source in near))
    return own + tuple(group for text in near.values() for group in unpacked_names(text))
