"""Names come and go gradually: one that comes becomes opaque, one that goes becomes faint where it stood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..layout.sight.affine import Floats
from ..layout.sight.view_projection import ViewProjection
from .items import Color, Overlay, Rectangle, Text
from .names import Prepared

#: Which name: its group, and its row there.
Key = tuple[int, int]

#: Kind of the texts that go away: what moves may run over them meanwhile.
LEAVING = "leaving"
#: Seconds for which a name must have had its place before it is drawn: one that only flits by is never seen.
_SETTLES = 0.1
#: Seconds in which a name becomes opaque, and in which one that goes vanishes.
_COMES, _GOES = 0.2, 0.15
#: Level of a name whose place is new.
_FIRST = -_SETTLES / _COMES
#: Seconds for which no other name takes the place of one that was just shown; and a name is not shown that
#: would not stay so long if the view went on moving as it does.
_STAYS = 0.6
#: Two names of the same text are one if they are not farther apart, in heights of their lines.
_APART = 1.0


@dataclass
class _Name:
    """A name that is shown, or was a moment ago.

    Attributes
    ----------
    anchor : float64 (3,)
        In the drawing.
    level : float
        How far it has come: 1 is opaque, and at 0 or less it is not drawn.
    since : float
        Moment in which it was first drawn.
    placed : bool
        Whether it has a place now.
    text : Text
        As it was composed last.
    plate : (Rectangle, Color) or None
        What it lies on.
    look : (float, float, float, float)
        A moment before it was drawn; where it began then, and how many times it had the room that it needs.
    """

    anchor: Floats
    level: float
    since: float
    placed: bool
    text: Text
    plate: tuple[Rectangle, Color] | None
    look: tuple[float, float, float, float]

    def lasts(self, now: float, text: Text, fits: float, eye: ViewProjection) -> bool:
        """Return whether it will still be there in a while, if the view goes on moving as it does."""
        then, left, low, fitted = self.look
        if now <= then:
            return True
        ahead = _STAYS / (now - then)
        x, y = text.left + (text.left - left) * ahead, text.baseline + (text.baseline - low) * ahead
        wide = text.box[2] - text.box[0]
        inside = x > -wide and x < eye.width and 0 <= y <= eye.height
        return inside and (fits >= fitted or fits + (fits - fitted) * ahead >= 1.0)


class Fading:
    """The names of one drawing in one region, as opaque as they are at each moment.

    Attributes
    ----------
    is_moving : bool
        Whether anything still comes or goes.

    Examples
    --------
    >>> Fading().is_moving
    False
    """

    def __init__(self) -> None:
        self.is_moving = False
        self._known: dict[Key, _Name] = {}
        self._names: Prepared | None = None
        self._eye: ViewProjection | None = None
        self._made = Overlay()
        self._last = 0.0

    @property
    def opacities(self) -> dict[Key, float]:
        """How opaque each name is that is drawn."""
        return {key: _eased(one.level) for key, one in self._known.items() if one.level > 0.0}

    def before(self, names: Prepared, made: Overlay | None, now: float) -> Overlay:
        """Return what the next overlay has to know of the last one.

        Parameters
        ----------
        names : Prepared
            Of the next overlay.
        made : Overlay or None
            The last one, as it was composed; None: there is none.
        now : float
            Seconds of a clock.

        Returns
        -------
        Overlay
            ``made``, with the keys that its names have among ``names``, and with those that were shown so
            short a while ago that none may take their places.
        """
        if made is None:
            return Overlay()
        young = {key for key, one in self._known.items() if one.placed and now - one.since < _STAYS}
        shown: dict[Key, str] = made.names
        if self._names is not None and self._names is not names:
            keys = carried(self._names, names, shown.keys() | young)
            shown = {keys[key]: text for key, text in shown.items() if key in keys}
            young = {keys[key] for key in young if key in keys}
        return replace(made, names=shown, young=frozenset(young))

    def step(self, made: Overlay, names: Prepared, eye: ViewProjection, now: float) -> Overlay:
        """Return an overlay with its names as opaque as they are at a moment.

        Parameters
        ----------
        made : Overlay
            As :func:`.compose` returns it.
        names : Prepared
            Those that it was composed of.
        eye : ViewProjection
            That it was composed for.
        now : float
            Seconds of a clock.

        Returns
        -------
        Overlay
            ``made`` itself where nothing comes or goes. A name that would appear upon one that goes waits for
            it.
        """
        passed, self._last = max(now - self._last, 0.0), now
        if self._names is names and not self.is_moving and self._known.keys() == made.lettered.keys():
            self._eye, self._made = eye, made
            return made
        self._remember()
        if self._names is not None and self._names is not names:
            self._rename(names)
        going = self._go(made, eye, passed)
        leaving = self._moved(going, eye)
        boxes = [text.box for text, _ in leaving]
        texts: dict[int, float] = {}
        plates: dict[int, float] = {}
        self.is_moving = bool(going)
        for key, (text, plate, fits) in made.lettered.items():
            one = self._known.get(key)
            lettered, lies_on = made.texts[text], made.fills[plate] if plate >= 0 else None
            if one is None:
                anchor, look = names.anchor[names.rows[key]], (now, lettered.left, lettered.baseline, fits)
                one = self._known[key] = _Name(anchor, _FIRST, now, True, lettered, lies_on, look)
            elif one.placed and one.level < 1.0:
                risen = min(one.level + passed / _COMES, 1.0)
                if one.level <= 0.0 < risen:
                    if not one.lasts(now, lettered, fits, eye):
                        one.look, risen = (now, lettered.left, lettered.baseline, fits), _FIRST
                    elif any(_overlap(lettered.box, box) for box in boxes):
                        risen = 0.0
                one.level = risen
            if one.level <= 0.0:
                one.since = now
            one.placed = True
            if one.level < 1.0:
                self.is_moving = True
                texts[text] = _eased(one.level)
                if plate >= 0:
                    plates[plate] = texts[text]
        self._names, self._eye, self._made = names, eye, made
        if not texts and not leaving:
            return made
        return replace(
            made,
            texts=[*_dimmed_texts(made.texts, texts), *(text for text, _ in leaving)],
            fills=[*(plate for _, plate in leaving if plate), *_dimmed_fills(made.fills, plates)],
        )

    def _remember(self) -> None:
        """Take note of where the names were drawn last that had places then."""
        for key, (text, plate, _) in self._made.lettered.items():
            one = self._known.get(key)
            if one is not None and one.placed:
                one.text = self._made.texts[text]
                one.plate = self._made.fills[plate] if plate >= 0 else None

    def _rename(self, names: Prepared) -> None:
        """Give what is known the keys that it has among other names; what has none goes."""
        assert self._names is not None
        keys = carried(self._names, names, self._known)
        # A name that has gone keeps a key of its own: negative ones are no name's.
        self._known = {
            keys.get(key, (-1 - i, -1 - i)): one for i, (key, one) in enumerate(self._known.items())
        }

    def _go(self, made: Overlay, eye: ViewProjection, passed: float) -> list[_Name]:
        """Let names that have no place go; returns those that are still seen."""
        left = []
        for key in [key for key in self._known if key not in made.lettered]:
            one = self._known[key]
            if not one.placed:
                one.level -= passed / _GOES
            one.placed = False
            if one.level <= 0.0:
                del self._known[key]
            else:
                left.append(one)
        return left

    def _moved(
        self, going: list[_Name], eye: ViewProjection
    ) -> list[tuple[Text, tuple[Rectangle, Color] | None]]:
        """Return the names that go, with their plates, where their elements are seen now."""
        if not going or self._eye is None:
            return []
        anchors = [one.anchor for one in going]
        shift = np.nan_to_num(eye.pixels(anchors) - self._eye.pixels(anchors)).tolist()
        found = []
        for one, (x, y) in zip(going, shift):
            one.text = _text_at(one.text, x, y)
            if one.plate is not None:
                one.plate = _box_at(one.plate[0], x, y), one.plate[1]
            share = _eased(one.level)
            plate = (one.plate[0], _dimmed(one.plate[1], share)) if one.plate is not None else None
            found.append((one.text._replace(color=_dimmed(one.text.color, share), kind=LEAVING), plate))
        return found


def carried(before: Prepared, after: Prepared, keys: Iterable[Key]) -> dict[Key, Key]:
    """Return which names of a drawing are which after its names have been replaced, as by more detail.

    Parameters
    ----------
    before, after : Prepared
    keys : iterable of (int, int)
        Of names of ``before``.

    Returns
    -------
    dict
        Key before -> key after: that of the nearest name with the same text, if it is no farther away than a
        line is high. Names without one are left out.
    """
    rows = [(key, before.rows[key]) for key in keys if key in before.rows]
    wanted = {before.text[row] for _, row in rows}
    same: dict[str, list[int]] = {}
    for row, text in enumerate(after.text):
        if text in wanted:
            same.setdefault(text, []).append(row)
    found: dict[Key, Key] = {}
    for key, row in rows:
        others = same.get(before.text[row])
        if not others:
            continue
        far = np.linalg.norm(after.anchor[others] - before.anchor[row], axis=1)
        nearest = int(np.argmin(far))
        high = float(np.linalg.norm(before.top[row] - before.anchor[row]))
        if far[nearest] <= _APART * high:
            found[key] = after.keys[others[nearest]]
    return found


def _eased(level: float) -> float:
    """Return how opaque a name is at a level: it changes slowly at first and at last."""
    share = min(max(level, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def _dimmed(color: Color, share: float) -> Color:
    return (*color[:3], color[3] * share)


def _dimmed_texts(texts: list[Text], shares: dict[int, float]) -> list[Text]:
    """Return texts with the opacity of some; those that are not seen at all are left out."""
    return [
        text._replace(color=_dimmed(text.color, share)) if share < 1.0 else text
        for i, text in enumerate(texts)
        if (share := shares.get(i, 1.0)) > 0.0
    ]


def _dimmed_fills(
    fills: list[tuple[Rectangle, Color]], shares: dict[int, float]
) -> list[tuple[Rectangle, Color]]:
    return [
        (box, _dimmed(color, share) if share < 1.0 else color)
        for i, (box, color) in enumerate(fills)
        if (share := shares.get(i, 1.0)) > 0.0
    ]


def _text_at(text: Text, x: float, y: float) -> Text:
    """Return a text so many pixels farther to the right, and up."""
    return text._replace(left=text.left + x, baseline=text.baseline + y, box=_box_at(text.box, x, y))


def _box_at(box: Rectangle, x: float, y: float) -> Rectangle:
    return (box[0] + x, box[1] + y, box[2] + x, box[3] + y)


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
