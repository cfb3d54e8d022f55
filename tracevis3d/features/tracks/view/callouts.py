"""What is to be seen first, with leader lines in the window."""

from __future__ import annotations

from ....drawing.primitives import Callout, Drawing, Marks
from ..findings import Finding
from .layout import Layout


def of(picture: Layout, found: tuple[Finding, ...], made: Drawing, color: int) -> tuple[Callout, ...]:
    """Return callouts of the findings that are marked in a drawing.

    Parameters
    ----------
    picture : Layout
    found : tuple of Finding
        Those that were to be marked.
    made : Drawing
    color : int
        Palette index of their marks.

    Returns
    -------
    tuple of Callout
        The most important first.
    """
    marks = next((e for e in made.elements if isinstance(e, Marks) and e.kind == "finding"), None)
    if marks is None:
        return ()
    inside = [one for one in found if picture.window[0] <= one.time <= picture.window[1]]
    return tuple(
        Callout(one.short, one.sentence, (float(x), float(y), float(z)), float(len(inside) - i), color)
        for i, (one, (x, y, z)) in enumerate(zip(inside, marks.point.tolist(), strict=True))
    )
