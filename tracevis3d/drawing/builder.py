"""Builds a drawing piece by piece: colours, elements, texts, legends and notes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .links import Relation
from .palettes import Colors, Paint
from .primitives import Axis, Callout, Camera, Drawing, Element, Labels, Legend, Meaning


class DrawingBuilder:
    """A drawing that is being built. Empty parts and None are left out.

    Attributes
    ----------
    paint : Paint
        The palette.
    elements : list of Element
    labels : list of Labels
    axes : list of Axis
    legends : list of Legend
    callouts : list of Callout
    uncovered : list of str
        Kinds of elements.
    notes : list of str
    counts : dict of str to int
    meaning : dict of str to Meaning
    relations : list of Relation

    Examples
    --------
    >>> import numpy as np
    >>> from tracevis3d.drawing.palettes import OTHER
    >>> from tracevis3d.drawing.primitives import Boxes, Camera, Legend, LegendEntry
    >>> drawing = DrawingBuilder()
    >>> grey = drawing.color(OTHER)
    >>> low, size = np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)
    >>> drawing.add(Boxes("call", low, size, np.array([grey], np.int32), np.zeros(1, np.int64)))
    >>> drawing.explain(Legend("Calls", (LegendEntry("a call", grey),)), Legend("Empty"))
    >>> drawing.note("one call")
    >>> made = drawing.finish(Camera((0, -1, 0), (0, 0, 0), (1, 1, 1)), "One box", calls=1)
    >>> len(made.elements), len(made.legends), made.counts
    (1, 1, {'calls': 1})
    """

    def __init__(self) -> None:
        self.paint = Paint()
        self.elements: list[Element] = []
        self.labels: list[Labels] = []
        self.axes: list[Axis] = []
        self.legends: list[Legend] = []
        self.callouts: list[Callout] = []
        self.uncovered: list[str] = []
        self.notes: list[str] = []
        self.counts: dict[str, int] = {}
        self.meaning: dict[str, Meaning] = {}
        self.relations: list[Relation] = []

    def color(self, colors: Colors | NDArray[np.floating[Any]]) -> int:
        """Add colours to the palette.

        Parameters
        ----------
        colors : float (4,) or (n, 4)
            sRGB and alpha, 0 to 1.

        Returns
        -------
        int
            The palette index of the first.
        """
        return self.paint.add(np.asarray(colors, np.float32))

    def add(self, *elements: Element | None) -> None:
        """Add elements."""
        self.elements += [element for element in elements if element is not None and len(element)]

    def write(self, *labels: Labels | None) -> None:
        """Add texts in the scene."""
        self.labels += [group for group in labels if group is not None and len(group)]

    def measure(self, *axes: Axis | None) -> None:
        """Add rulers."""
        self.axes += [axis for axis in axes if axis is not None]

    def explain(self, *legends: Legend | None) -> None:
        """Add legends."""
        self.legends += [
            legend for legend in legends if legend is not None and (legend.entries or legend.ramp)
        ]

    def point_out(self, *callouts: Callout) -> None:
        """Add callouts, the most important first."""
        self.callouts += callouts

    def keep_uncovered(self, *kinds: str) -> None:
        """Keep printed callouts off elements of these kinds."""
        self.uncovered += kinds

    def note(self, *notes: str) -> None:
        """Add facts for the foot of the picture."""
        self.notes += [note for note in notes if note]

    def finish(self, camera: Camera, title: str, /, **counts: int) -> Drawing:
        """Return the drawing.

        Parameters
        ----------
        camera : Camera
        title : str
        **counts
            What the report says beyond the numbers of elements.

        Returns
        -------
        Drawing
        """
        return Drawing(
            palette=self.paint.palette,
            elements=tuple(self.elements),
            camera=camera,
            labels=tuple(self.labels),
            axes=tuple(self.axes),
            legends=tuple(self.legends),
            callouts=tuple(self.callouts),
            uncovered=tuple(self.uncovered),
            title=title,
            notes=tuple(self.notes),
            counts={**self.counts, **counts},
            meaning=self.meaning,
            relations=tuple(self.relations),
        )
