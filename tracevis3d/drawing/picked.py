"""An element of a drawing under the mouse, and its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .primitives import Vector


@dataclass(frozen=True)
class PickedElement:
    """An element of a drawing under the mouse, with its metadata from the drawing or the scene.

    Attributes
    ----------
    kind : str
        As :attr:`.primitives.Boxes.kind`.
    source : int
        Which of the view's traces its part of the drawing belongs to.
    id : int
        In the id space of its kind.
    calls : dict
        One of the view's traces -> the call of it that the element represents; none where it represents none.
    point : Vector
        Where it was met, in the drawing's coordinates.
    met : (float, float)
        The same as shares of its width (x) and its height (z).
    time : (float, float) or None
        Start and end as shares of ``window``.
    window : (int, int) or None
        Nanoseconds at the shares 0 and 1.
    facts : dict
        What is known of the call without its trace, where it represents one: ``function``, ``depth``,
        ``thread``, ``duration`` and ``own`` (nanoseconds of it, and of them in itself), ``count``, how many
        calls it represents, and ``same``, how many elements of its part have its function.
    facts_of : int
        The trace that ``facts`` are about.
    texts : tuple of (str, str)
        Its other texts: titles and texts.
    values : tuple of (str, float)
        Its other values: titles, which may end in a unit, and values; NaN: unknown.
    matched : dict
        One of the view's traces -> the call of it that the element's is matched with, the best that is drawn.
    """

    kind: str
    source: int = 0
    id: int = -1
    calls: Mapping[int, int] = field(default_factory=dict)
    point: Vector = (0.0, 0.0, 0.0)
    met: tuple[float, float] = (0.5, 0.5)
    time: tuple[float, float] | None = None
    window: tuple[int, int] | None = None
    facts: Mapping[str, float] = field(default_factory=dict)
    facts_of: int = 0
    texts: tuple[tuple[str, str], ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    matched: Mapping[int, int] = field(default_factory=dict)

    @property
    def span(self) -> tuple[int, int] | None:
        """From when to when it lasts as drawn, in nanoseconds; None if it has no time."""
        if self.window is None or self.time is None:
            return None
        low, high = self.window
        begin, end = (round(low + share * (high - low)) for share in self.time)
        return begin, end

    @property
    def moment(self) -> int | None:
        """The nanosecond at which it was met; None if it has no time."""
        span = self.span
        return None if span is None else round(span[0] + self.met[0] * (span[1] - span[0]))

    def as_call(self) -> PickedElement:
        """Return the call that it represents, as an element of its own."""
        return PickedElement("call", self.source, self.id, self.calls, facts=self.facts)


@dataclass(frozen=True)
class Subject:
    """What a suggestion to the running program is about: a block, or a call site.

    Attributes
    ----------
    address, size : int
        Of a block; -1: it is none.
    site : str
    """

    address: int = -1
    size: int = -1
    site: str = ""


@dataclass
class Description:
    """The description of an element, of a drawing or of a live view.

    Attributes
    ----------
    title : str
    where : str
        Module, file and line, in smaller type; may be empty.
    rows : list of (str, str)
        Labels and texts.
    subject : Subject or None
        What may be suggested to the running program is about this.
    """

    title: str
    where: str = ""
    rows: list[tuple[str, str]] = field(default_factory=list)
    subject: Subject | None = None

    def lines(self) -> list[str]:
        """Return everything as lines of text."""
        return [self.title, *filter(None, [self.where]), *(f"{label}  {text}" for label, text in self.rows)]
