"""Findings as a film: all of it, then each finding where it is and from near, and all of it again."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import write_text
from ..drawing.output import check as check_output
from ..drawing.output import need_blender
from ..progress import Progress
from . import hands
from .story import Picture, Selection, Shot, Story

if TYPE_CHECKING:
    from ..trace.model import Trace

#: How many findings a film shows.
MOST = 3
#: Seconds of the shots before and after the findings; of showing where one is, and of going there.
_OPENING, _CLOSING = 6.5, 5.5
_SHOWING, _GOING = 3.0, 1.8
#: Seconds to read a caption: at least, at most, and characters a second beyond the first two seconds.
_LEAST, _LONGEST, _READ = 6.0, 11.0, 20.0
#: Most characters of a caption of several clauses: two lines.
_CAPTION = 120
#: What takes more of the time is everywhere; how much of it is seen at least, so that its surroundings are.
_EVERYWHERE, _NEAREST = 0.6, 0.3
_DISSOLVE = 0.8
#: Parameters of the picture of a finding that is everywhere: all of the time, as in the picture of all.
ALL_TIME = (("start", "0ns"),)
_HEAD = "Change what you like, then: tracevis3d film {name} -o {film}"


@dataclass(frozen=True)
class FilmedFinding:
    """A finding as a film shows it.

    Attributes
    ----------
    headline : str
        Its point, while the camera goes there.
    sentence : str
        What is to be read beside its picture.
    picture : Picture
        Its own picture.
    place : Selection or None
        Where it is in the whole picture; None: everywhere.
    callout : int
        The number of its callout in the whole picture; 0: it has none.
    """

    headline: str
    sentence: str
    picture: Picture
    place: Selection | None
    callout: int = 0


def story_of_findings(opening: str, whole: Picture, found: Sequence[FilmedFinding], closing: str) -> Story:
    """Return the story of the first findings.

    Parameters
    ----------
    opening, closing : str
        What is said of the whole, before and after.
    whole : Picture
        It shows all.
    found : sequence of FilmedFinding
        The most important first.

    Returns
    -------
    Story
        30 to 60 seconds long with three findings.
    """
    shots = [Shot("establish", whole, _OPENING, opening)]
    for one in found[:MOST]:
        if one.place is not None:
            # Its callout shows where it is; what is seen next comes while the camera is on its way.
            shots.append(Shot("hold", whole, _SHOWING, one.headline, _DISSOLVE, callout=one.callout))
            shots.append(Shot("fly_to", whole, _GOING, one.headline, 0.0, one.place, _GOING))
        words = point_of(one.sentence)
        reading = min(max(len(words) / _READ + 2.0, _LEAST), _LONGEST)
        shots.append(Shot("hold", one.picture, round(reading, 1), words, _DISSOLVE))
    shots.append(Shot("hold", whole, _CLOSING, closing, _DISSOLVE))
    return Story(tuple(shots))


def point_of(text: str) -> str:
    """Return what can be read of a text beside a picture: its first sentence, without clauses that follow.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> point_of("It waits for 3 ms. Nobody knows why.")
    'It waits for 3 ms.'
    """
    first = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)[0]
    if len(first) <= _CAPTION or "; " not in first:
        return first
    return f"{first.split('; ')[0]}."


def place_of(start: int, end: int, span: int, trace: str = "") -> Selection | None:
    """Return where the camera goes for a finding: to its time, with some of what surrounds it.

    Parameters
    ----------
    start, end : int
        Nanoseconds of the finding.
    span : int
        Those of the whole trace.
    trace : str
        ``A``, ``B``, …; empty: there is only one.

    Returns
    -------
    Selection or None
        None: it is everywhere, or its time isn't known.

    Examples
    --------
    >>> place_of(10, 20, 1000).time
    (0, 300)
    """
    if not 0 < end - start < _EVERYWHERE * span:
        return None
    wide = max(end - start, round(_NEAREST * span))
    begin = min(max((start + end - wide) // 2, 0), span - wide)
    return Selection(trace, (begin, begin + wide))


def add(parser: argparse.ArgumentParser, size: bool = True) -> None:
    """Declare the arguments of a command that can make a film of its findings.

    Parameters
    ----------
    parser : ArgumentParser
    size : bool
        ``--size`` too: the command has none of its own.
    """
    parser.add_argument(
        "--film",
        metavar="OUT",
        help="make a film of the three most important findings (.mp4 .mkv), with its story (.yaml) and "
        "subtitles (.srt) beside it",
    )
    parser.add_argument(
        "--preview", action="store_true", help="of the film: 480 pixels high, 5 frames per second"
    )
    if size:
        parser.add_argument("--size", metavar="SIZE", help="of the film: 1280x720 (default)")
    hands.add(parser)


def check(args: argparse.Namespace) -> None:
    """Raise if the film that is asked for can't be made; nothing is read.

    Parameters
    ----------
    args : Namespace

    Raises
    ------
    UsageError, InputError, MissingDependency
    """
    if not args.film:
        return
    from . import film

    film.check_path(args.film)
    hands.given(args)
    need_blender("making a film")


def write(
    story: Story,
    traces: Mapping[str, Trace],
    args: argparse.Namespace,
    progress: Progress,
    **look: Any,
) -> dict[str, Any]:
    """Write a story as YAML and its film, as the command's arguments say.

    Parameters
    ----------
    story : Story
    traces : mapping of str to Trace
        Those of the story's files.
    args : Namespace
    progress : Progress
    **look : object
        ``style``, ``engine`` and ``size``, if they are said; None: the usual.

    Returns
    -------
    dict
        See :meth:`.film.Film.make`.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    from . import film
    from .read import as_text

    said = {name: value for name, value in {"size": args.size, **look}.items() if value is not None}
    story = Story(story.shots, {**story.settings, **said})
    output = film.output_of(story, args.preview)
    check_output(args.film, output)
    target = Path(args.film)
    beside = target.with_suffix(".yaml")
    head = _HEAD.format(name=beside.name, film=target.name)
    write_text(beside, as_text(story, target.parent, head))
    return film.make(story, traces, target, output, hands.given(args), progress)
