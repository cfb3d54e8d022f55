"""Texts as triangles: cleaning, measuring, shortening, and setting many texts at once. NumPy only."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ELLIPSIS = "…"
#: Maximum number of characters of a text; longer names are cut before they are measured.
LONGEST = 400
#: A text that would keep fewer characters than this is left out instead of shortened.
FEWEST = 4


@dataclass(frozen=True, eq=False)
class Glyph:
    """The shape of one character at size 1, on a baseline at y = 0.

    Attributes
    ----------
    outline : float32 (v, 2)
    triangle : int32 (t, 3)
    advance : float
        How far the next character stands to the right.
    """

    outline: NDArray[np.float32]
    triangle: NDArray[np.int32]
    advance: float


class Typeface(ABC):
    """Glyphs by character, loaded when first requested.

    Examples
    --------
    >>> class Even(Typeface):
    ...     def load(self, characters):
    ...         shape = np.empty((0, 2), np.float32), np.empty((0, 3), np.int32)
    ...         return {character: Glyph(*shape, 0.5) for character in characters}
    >>> Even().width("word")
    2.0
    """

    #: Height of capitals at size 1.
    cap_height: float = 0.73
    #: Height of capitals in heights of the type, as points measure it.
    cap_share: float = 0.714
    #: Size of the type per line height.
    size_per_line: float = 0.8

    def __init__(self) -> None:
        self._glyphs: dict[str, Glyph] = {}

    @abstractmethod
    def load(self, characters: Sequence[str]) -> dict[str, Glyph]:
        """Return the glyphs of ``characters``; what the font lacks falls back to another shape."""

    def need(self, texts: Iterable[str]) -> None:
        """Load the glyphs of all characters in ``texts`` that are not there yet, at once."""
        missing = sorted(set().union(*map(set, texts)) - self._glyphs.keys()) if texts else []
        if missing:
            self._glyphs.update(self.load(missing))

    def glyph(self, character: str) -> Glyph:
        """Return one glyph."""
        if character not in self._glyphs:
            self.need([character])
        return self._glyphs[character]

    def advances(self, text: str) -> NDArray[np.float32]:
        """Return the advance of each character of ``text`` at size 1, float32."""
        self.need([text])
        return np.array([self.glyph(c).advance for c in text], np.float32)

    def line_of(self, size: float) -> float:
        """Return the height of lines whose type is ``size`` high, in the same unit."""
        return size * self.cap_share / (self.cap_height * self.size_per_line)

    def width(self, text: str) -> float:
        """Return the width of ``text`` at size 1."""
        self.need([text])
        return float(sum(self.glyph(c).advance for c in text))


def clean(text: str) -> str:
    r"""Return ``text`` on one line and safe to draw.

    White space of any kind becomes one blank, invisible formatting (also what turns the writing direction)
    is stripped, and other characters that can't be drawn are shown as U+FFFD.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        At most :data:`LONGEST` characters.

    Examples
    --------
    >>> clean("a\tfunction \n name")
    'a function name'
    """
    text = text[: 4 * LONGEST]
    if not text.isprintable():
        out = []
        for character in text:
            category = unicodedata.category(character)
            if character.isspace():
                out.append(" ")
            elif category == "Cf":
                continue
            elif category.startswith("C"):
                out.append("\ufffd")
            else:
                out.append(character)
        text = "".join(out)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + ELLIPSIS


def shorten(text: str, room: float, typeface: Typeface) -> str:
    """Return ``text``, or its start and an ellipsis, no wider than ``room``; empty if too little is left.

    Parameters
    ----------
    text : str
        Already cleaned.
    room : float
        Width at size 1; inf: no bound.
    typeface : Typeface

    Returns
    -------
    str

    Examples
    --------
    >>> class Monospaced(Typeface):
    ...     def load(self, characters):
    ...         none = np.empty((0, 2), np.float32), np.empty((0, 3), np.int32)
    ...         return {character: Glyph(*none, 1.0) for character in characters}
    >>> shorten("read_the_file", 8.0, Monospaced())
    'read_th…'
    >>> shorten("read", 8.0, Monospaced()), shorten("read_the_file", 3.0, Monospaced())
    ('read', '')
    """
    # No character that is drawn is narrower than this, so more of them can't fit.
    if not np.isinf(room):
        text = text[: max(0, int(room / 0.1) + 2)]
    ends = np.cumsum(typeface.advances(text))
    if not len(ends) or ends[-1] <= room:
        return text
    kept = int(np.searchsorted(ends, room - typeface.glyph(ELLIPSIS).advance, side="right"))
    return text[:kept].rstrip(" .:") + ELLIPSIS if kept >= FEWEST else ""


def whole_phrase(sentence: str, room: float, measure: Callable[[str], float]) -> str:
    """Return a sentence, or the longest start of it that ends with one of its phrases and fits into a room.

    What ends before a semicolon is whole as it stands; after others an ellipsis says that more follows.

    Parameters
    ----------
    sentence : str
        Already cleaned.
    room : float
    measure : callable
        Width of a text.

    Returns
    -------
    str
        Empty if what ends with a phrase would leave half of the room empty.

    Examples
    --------
    >>> said = "f (a.py:1) keeps 9 MiB in 3 blocks, more at 7 of 7 snapshots; others are unknown"
    >>> whole_phrase(said, 70, len)
    'f (a.py:1) keeps 9 MiB in 3 blocks, more at 7 of 7 snapshots'
    >>> whole_phrase(said, 50, len)
    'f (a.py:1) keeps 9 MiB in 3 blocks…'
    >>> whole_phrase("f (a.py:1) keeps 9 MiB", 20, len)
    ''
    """
    if measure(sentence) <= room:
        return sentence
    depth, starts = 0, []
    for i, character in enumerate(sentence):
        if depth == 0 and character in ";:," and sentence[i + 1 : i + 2] == " ":
            starts.append(sentence[:i] + (ELLIPSIS if character != ";" else ""))
        if depth == 0 and sentence[i : i + 2] == " (":
            starts.append(sentence[:i] + ELLIPSIS)
        depth = max(depth + (character in "([{") - (character in ")]}"), 0)
    fitting = (start for start in reversed(starts) if room / 2 <= measure(start) <= room)
    return next(fitting, "")


@dataclass(frozen=True, eq=False)
class Setting:
    """Many texts set as one triangle mesh.

    Attributes
    ----------
    position : float32 (v, 3)
    corner : int32 (3 t,)
    vertices : int64 (n,)
        Number of vertices of each text, in order.
    """

    position: NDArray[np.float32]
    corner: NDArray[np.int32]
    vertices: NDArray[np.int64]


def set_texts(
    texts: Sequence[str],
    start: NDArray[np.floating[Any]],
    right: NDArray[np.floating[Any]],
    up: NDArray[np.floating[Any]],
    size: NDArray[np.floating[Any]],
    typeface: Typeface,
) -> Setting:
    """Set texts, each on its own baseline.

    Parameters
    ----------
    texts : sequence of str (n)
    start : float (n, 3)
        Left end of each baseline.
    right, up : float (n, 3)
        Unit vectors of each text's plane.
    size : float (n,)
        Size of the type, in scene units.
    typeface : Typeface

    Returns
    -------
    Setting

    Examples
    --------
    >>> class Squares(Typeface):
    ...     def load(self, characters):
    ...         outline = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    ...         triangle = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    ...         return {character: Glyph(outline, triangle, 1.0) for character in characters}
    >>> start, right, up = np.zeros((1, 3)), np.array([[1.0, 0, 0]]), np.array([[0, 0, 1.0]])
    >>> setting = set_texts(["ab"], start, right, up, np.array([2.0]), Squares())
    >>> setting.position.shape, setting.vertices.tolist(), setting.position.max(axis=0).tolist()
    ((8, 3), [8], [4.0, 0.0, 2.0])
    """
    typeface.need(texts)
    alphabet = sorted(set().union(*map(set, texts))) if texts else []
    if not alphabet:
        none = np.zeros(len(texts), np.int64)
        return Setting(np.empty((0, 3), np.float32), np.empty(0, np.int32), none)
    glyphs = [typeface.glyph(c) for c in alphabet]
    v_count = np.array([len(g.outline) for g in glyphs])
    t_count = np.array([len(g.triangle) for g in glyphs])
    v_first, t_first = np.cumsum(v_count) - v_count, np.cumsum(t_count) - t_count
    outline = np.concatenate([g.outline for g in glyphs])
    triangle = np.concatenate([g.triangle for g in glyphs])
    advance = np.array([g.advance for g in glyphs])

    lengths = np.array([len(t) for t in texts])
    codepoints = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    code = np.searchsorted(np.array([ord(c) for c in alphabet], np.uint32), codepoints)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    pen = np.cumsum(advance[code]) - advance[code]
    first = np.cumsum(lengths) - lengths
    pen -= np.repeat(pen[np.minimum(first, max(len(pen) - 1, 0))], lengths)

    # One row per vertex: which character of the whole it belongs to, which outline point it is.
    char_of = np.repeat(np.arange(len(code)), v_count[code])
    begin = np.cumsum(v_count[code]) - v_count[code]
    point = outline[np.arange(len(char_of)) - begin[char_of] + v_first[code][char_of]]
    owner = text_of[char_of]
    scale = np.asarray(size, np.float64)[owner]
    x = (point[:, 0] + pen[char_of]) * scale
    y = point[:, 1] * scale
    position = (
        np.asarray(start)[owner] + np.asarray(right)[owner] * x[:, None] + np.asarray(up)[owner] * y[:, None]
    )

    face_char = np.repeat(np.arange(len(code)), t_count[code])
    face_begin = np.cumsum(t_count[code]) - t_count[code]
    faces = triangle[np.arange(len(face_char)) - face_begin[face_char] + t_first[code][face_char]]
    corner = (faces + begin[face_char][:, None]).reshape(-1)
    vertices = np.bincount(owner, minlength=len(texts)).astype(np.int64)
    return Setting(position.astype(np.float32), corner.astype(np.int32), vertices)
