"""Viewpoints: places of a scene that a talk shows, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from .primitives import Camera


@dataclass(frozen=True)
class Viewpoint:
    """A place to look from, and its caption.

    Attributes
    ----------
    name : str
        Of the camera and of the marker in the timeline; unique.
    caption : str
        A sentence or two in the picture.
    camera : Camera or None
        None: the drawing's own, with its title, legends and notes.
    shows : tuple of str
        Kinds of elements that are shown only at the viewpoints that name them. Kinds that no viewpoint names
        are always to be seen.
    """

    name: str
    caption: str
    camera: Camera | None = None
    shows: tuple[str, ...] = ()
