"""A story: the shots of a film, what each shows, and from where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A kind of shot.

    Attributes
    ----------
    sentence : str
        What happens in it.
    seconds : float
        How long it takes if nothing is said.
    words : tuple of str
        What can be said of it, beyond what can be said of every shot.
    needs : tuple of str
        What has to be said of it.
    """

    sentence: str
    seconds: float
    words: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


#: What a selection is made of.
SELECTION = ("trace", "time", "function", "call", "thread")
#: What says what is drawn.
PICTURE = ("view", "traces", "set", "filters", "title")
#: The kinds of shots.
KINDS: dict[str, Kind] = {
    "establish": Kind("the whole picture; the camera comes slowly to its place", 5.0),
    "hold": Kind("the picture as it is, with its callouts; nothing moves", 6.0, ("callout",)),
    "overview": Kind("the camera goes back until all is in the picture", 4.0),
    "fly_to": Kind("the camera goes to a selection, and stays there", 5.0, (*SELECTION, "travel")),
    "orbit": Kind("the camera turns around what it looks at", 4.0, ("degrees",)),
    "flatten": Kind("the camera goes to the front, and its perspective becomes parallel", 4.0),
    "ride": Kind(
        "the camera goes along the time, and sees a part of it at once",
        8.0, (*SELECTION, "span", "slow"), ("time",),
    ),
    "follow_thread": Kind(
        "the camera goes along a thread, from its first call to its last",
        8.0, ("trace", "time", "thread", "span", "slow"), ("thread",),
    ),
    "play": Kind(
        "time runs: calls appear as they happen; the camera stays where it is",
        8.0, ("time", "slow", "paces"),
    ),
    "compare": Kind(
        "two selections of one picture beside each other", 6.0, ("left", "right"), ("left", "right")
    ),
    "split": Kind("two pictures beside each other", 6.0, ("left", "right"), ("left", "right")),
}  # fmt: skip
#: What can be said of every shot.
OF_ALL = ("shot", "seconds", "caption", "dissolve", "morph")


@dataclass(frozen=True)
class Picture:
    """What is drawn.

    Attributes
    ----------
    view : str
    traces : tuple of str
        Files, as they are found from the folder of the story.
    settings : tuple of (str, str)
        Parameters of the view.
    filters : str
    title : str
        In place of the drawing's own; empty: that.
    paces : tuple of (str, float)
        Threads whose calls appear faster or slower than those of the others, and how many times as fast.
    """

    view: str
    traces: tuple[str, ...]
    settings: tuple[tuple[str, str], ...] = ()
    filters: str = ""
    title: str = ""
    paces: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Selection:
    """A part of what is drawn: all that is said has to hold; empty texts say nothing.

    Attributes
    ----------
    trace : str
        ``A``, ``B``, ….
    time : (int, int) or None
        From which nanosecond to which.
    function : str
        A name; ``*`` represents anything.
    call : str
        The number of a call: it and those below it.
    thread : str
        Name or id.
    """

    trace: str = ""
    time: tuple[int, int] | None = None
    function: str = ""
    call: str = ""
    thread: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing, which is all."""
        return self == Selection()


@dataclass(frozen=True)
class Side:
    """One half of a divided picture.

    Attributes
    ----------
    picture : Picture
        What is drawn.
    selection : Selection
        Which part of it is seen; an empty one is all.
    """

    picture: Picture
    selection: Selection


@dataclass(frozen=True)
class Shot:
    """A shot.

    Attributes
    ----------
    kind : str
        A key of :data:`KINDS`.
    picture : Picture
    seconds : float
    caption : str
        At the foot of the picture; it is also a subtitle.
    dissolve : float
        For how many of its seconds the shot before is seen through it.
    selection : Selection
    travel : float
        Seconds on the way, of ``fly_to``.
    degrees : float
        How far an ``orbit`` turns.
    span : float
        How much of the time of a ride is seen at once, as a share.
    slow : (int, int) or None
        From which nanosecond to which a ride, or the time that plays, goes at a quarter of its speed.
    sides : tuple of Side
        The halves of ``compare`` and ``split``.
    morph : float
        For how many of its first seconds what the shot before shows, too, is on its way from there.
    paces : tuple of (str, float)
        Of ``play``: see :class:`Picture`.
    callout : int or None
        Of ``hold``: the number of the only callout that is shown; 0: none is; None: all are.
    """

    kind: str
    picture: Picture
    seconds: float
    caption: str = ""
    dissolve: float = 0.0
    selection: Selection = field(default_factory=Selection)
    travel: float = 0.0
    degrees: float = 0.0
    span: float = 0.2
    slow: tuple[int, int] | None = None
    sides: tuple[Side, ...] = ()
    morph: float = 0.0
    paces: tuple[tuple[str, float], ...] = ()
    callout: int | None = None


@dataclass(frozen=True)
class Story:
    """A film: its shots, one after the other, and how it looks.

    Attributes
    ----------
    shots : tuple of Shot
    settings : mapping of str to object
        ``style``, ``engine``, ``size`` and ``fps``, as far as they are said.
    """

    shots: tuple[Shot, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return sum(shot.seconds for shot in self.shots)

    def pictures(self, half: bool) -> tuple[Picture, ...]:
        """Return what is drawn, each once.

        Parameters
        ----------
        half : bool
            What takes half of a divided frame; else what takes all of it.

        Returns
        -------
        tuple of Picture
        """
        sides = [side.picture for shot in self.shots for side in shot.sides]
        return tuple(
            dict.fromkeys(sides if half else [shot.picture for shot in self.shots if not shot.sides])
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The traces of all shots, each once."""
        pictures = [*self.pictures(True), *(shot.picture for shot in self.shots)]
        return tuple(dict.fromkeys(trace for picture in pictures for trace in picture.traces))
