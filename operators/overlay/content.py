"""What explains the views of a scene, read from the .blend once and measured once."""

from dataclasses import dataclass

import bpy

from ...tracevis3d.drawing.explanations import Explanations
from ...tracevis3d.drawing.primitives import Labels
from ...tracevis3d.overlay.names import Prepared, prepare
from ...tracevis3d.scene import page
from .canvas import measure


@dataclass(frozen=True, eq=False)
class Content:
    """The explanations of a view, and its names: as they are, and measured."""

    explained: Explanations
    names: Prepared
    groups: tuple[Labels, ...]


class Contents:
    """The contents of views by their collections, as long as what is stored there stays the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[str, str], Content | None]] = {}

    def of(self, collection: bpy.types.Collection) -> Content | None:
        """Return what explains a view; None where nothing readable is stored."""
        stamps = page.stamps(collection)
        before = self._known.get(collection.name)
        if before is not None and before[0] == stamps:
            return before[1]
        last = before[1] if before is not None and before[0][0] == stamps[0] else None
        explained = last.explained if last is not None else page.stored(collection)
        content = None
        if explained is not None:
            names = page.names_of(explained, page.detail_names(collection))
            content = Content(explained, prepare(names, explained.palette, measure), names)
        self._known[collection.name] = stamps, content
        return content

    def forget(self) -> None:
        """Release everything."""
        self._known.clear()


contents = Contents()
