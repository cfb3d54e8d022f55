"""Parts of a drawing as linking sees them, without Blender."""

import numpy as np

from tracevis3d.views.element_metadata import metadata_of
from tracevis3d.views.linking.lit import Shown


class DrawnMesh:
    """What an object would show of a drawing's element."""

    def __init__(self, element, metadata):
        self.element, self.metadata = element, metadata
        self.kind, self.word, self.source = element.kind, type(element).__name__, element.source
        self.id = np.asarray(element.id, np.int64)
        self.calls = dict(metadata.calls)
        self.links = metadata.links
        self.window = getattr(element, "window", None)
        self.time = getattr(element, "time", np.empty((0, 2), np.float32))
        size = getattr(element, "size", np.empty((0, 3), np.float32))
        self.size = size if size.ndim == 2 else np.repeat(size[:, None], 3, axis=1)

    @property
    def is_boxes(self):
        return self.word == "Boxes"

    def __len__(self):
        return len(self.id)

    def fact(self, name):
        return getattr(self.metadata, name)


def shown_parts(drawing, traces, keys, view="view"):
    """Return the parts of a drawing that light up."""
    found = []
    for i, element in enumerate(drawing.elements):
        metadata = metadata_of(element, drawing, traces)
        if metadata is not None:
            mesh = DrawnMesh(element, metadata)
            found.append(Shown(f"{view} {i} {element.kind}", keys, mesh, view, drawing.relations))
    return found
