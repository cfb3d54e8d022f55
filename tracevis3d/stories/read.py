"""Stories in files: read as plain values, each mistake with the place in one sentence; and written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..figures import settings_file
from ..units import read_time
from .story import KINDS, OF_ALL, PICTURE, SELECTION, Picture, Selection, Shot, Side, Story

#: What a story says of the whole film.
OF_FILM = ("style", "engine", "size", "fps")
#: Limits of a shot's seconds.
_SHORTEST, _LONGEST = 0.1, 600.0
#: Seconds in which a picture turns into another.
_DISSOLVE = 0.8
#: Share of a flight's seconds that the camera is on its way, and its greatest number of seconds.
_TRAVEL, _LONGEST_TRAVEL = 0.6, 3.0
_DEGREES = 30.0
#: Limits of how many times as fast as others a thread plays.
_SLOWEST, _FASTEST = 0.01, 100.0
_SPAN = 0.2
_SIDES = ("left", "right")
#: What YAML takes for something else than a text, and what is taken for one as it stands.
_NO_TEXT = re.compile(r"(?i)(y|n|yes|no|on|off|true|false|null|none)")
_PLAIN = re.compile(r"[A-Za-z_][\w./-]*( [\w./-]+)*")


def read(path: str | os.PathLike[str]) -> Story:
    """Return the story in a file.

    Parameters
    ----------
    path : path
        .yaml, .toml or .json; traces are named by where they lie from it.

    Returns
    -------
    Story

    Raises
    ------
    InputError
        If it can't be read.
    UsageError
        If something in it is unknown or missing: one sentence that names the place.
    """
    return from_words(settings_file.read(path), str(path), Path(path).parent)


def from_words(words: Mapping[str, Any], where: str, folder: str | os.PathLike[str] = "") -> Story:
    """Return the story that plain values describe.

    Parameters
    ----------
    words : mapping
        As a file holds them.
    where : str
        Begins the sentences of errors.
    folder : path
        From where traces are named.

    Returns
    -------
    Story

    Raises
    ------
    UsageError
        If something in it is unknown or missing.
    """
    _known(words, (*OF_FILM, *PICTURE, "shots"), where)
    listed = words.get("shots")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{where}: a list 'shots' is expected, such as '- shot: establish'")
    picture = _picture(words, None, where, Path(folder))
    shots: list[Shot] = []
    for i, row in enumerate(listed):
        row = {"shot": row} if isinstance(row, str) else row
        place = f"{where}: shot {i + 1}"
        if not isinstance(row, dict) or not isinstance(row.get("shot"), str):
            raise UsageError(f"{place}: 'shot' is expected, one of {', '.join(KINDS)}")
        shot = _shot(row, picture, shots[-1] if shots else None, place, Path(folder))
        picture = shot.picture if shot.kind != "split" else picture
        shots.append(shot)
    return Story(tuple(shots), {name: words[name] for name in OF_FILM if name in words})


def _shot(row: dict[str, Any], before: Picture | None, last: Shot | None, where: str, folder: Path) -> Shot:
    name = row["shot"].strip().replace(" ", "_")
    if name not in KINDS:
        raise UsageError(f"{where}: {row['shot']!r} is no shot: one of {', '.join(KINDS)} is expected")
    kind = KINDS[name]
    own = () if name == "split" else PICTURE
    _known(row, (*OF_ALL, *own, *kind.words), f"{where} ({name})")
    where = f"{where} ({name})"
    for word in kind.needs:
        if not row.get(word):
            raise UsageError(f"{where}: {word!r} is missing")
    seconds = _number(row, "seconds", kind.seconds, where, _SHORTEST, _LONGEST)
    sides: tuple[Side, ...] = ()
    if name == "split":
        sides = tuple(_side(row[side], before, PICTURE, f"{where}, {side}", folder) for side in _SIDES)
        picture: Picture | None = sides[0].picture
    else:
        picture = _picture(row, before, where, folder)
    if picture is None:
        raise UsageError(f"{where}: no view is named; such as 'view: icicle' and 'traces: run.json.gz'")
    if name == "compare":
        sides = tuple(_side(row[side], picture, (), f"{where}, {side}", folder) for side in _SIDES)
    divided = bool(sides) or (last is not None and bool(last.sides))
    # Callouts come gently too.
    changed = last is not None and (divided or picture != last.picture or name in ("hold", "play"))
    # What has played in part is not whole yet.
    changed |= last is not None and last.kind == "play" and last.selection.time is not None
    usual = min(_TRAVEL * seconds, _LONGEST_TRAVEL)
    morph = _number(row, "morph", 0.0, where, 0.0, seconds)
    if morph and (last is None or divided):
        raise UsageError(f"{where}: morph: a whole picture has to be before it, and after it")
    if morph and row.get("dissolve"):
        raise UsageError(f"{where}: only one of 'morph' and 'dissolve' can be given")
    usually = min(_DISSOLVE, seconds / 2) if changed and not morph else 0.0
    paces = _paces(row, where)
    return Shot(
        name,
        picture,
        seconds,
        _text(row, "caption", where) or _said(paces),
        _number(row, "dissolve", usually, where, 0.0, seconds),
        _selection(row, where) if "time" in kind.words else Selection(),
        _number(row, "travel", usual, where, 0.0, seconds) if "travel" in kind.words else 0.0,
        _number(row, "degrees", _DEGREES, where, -360.0, 360.0) if "degrees" in kind.words else 0.0,
        _share(row, where),
        _range(row, "slow", where),
        sides,
        morph,
        paces,
        _callout(row, where),
    )


def _callout(row: Mapping[str, Any], where: str) -> int | None:
    given = row.get("callout")
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given >= 0):
        return given
    raise UsageError(f"{where}: callout: {given!r}: the number of a callout is expected; 0: none is shown")


def _paces(row: Mapping[str, Any], where: str) -> tuple[tuple[str, float], ...]:
    given = row.get("paces") or {}
    if not isinstance(given, dict):
        raise UsageError(f"{where}: 'paces' holds threads and factors, such as {{main: 1, worker*: 4}}")
    where = f"{where}: paces"
    return tuple((str(name), _number(given, name, 1.0, where, _SLOWEST, _FASTEST)) for name in given)


def _said(paces: Sequence[tuple[str, float]]) -> str:
    """Return the caption of threads that play at paces of their own: what is seen at once was not at once."""
    if not paces:
        return ""
    return "Threads play at their own paces: {}".format(
        ", ".join(f"{name} × {pace:g}" for name, pace in paces)
    )


def _side(row: Any, picture: Picture | None, own: Sequence[str], where: str, folder: Path) -> Side:
    if not isinstance(row, dict):
        raise UsageError(f"{where}: words are expected, such as {{function: parse}}")
    _known(row, (*own, *SELECTION), where)
    drawn = _picture(row, picture, where, folder) if own else picture
    if drawn is None:
        raise UsageError(f"{where}: no view is named; such as 'view: icicle' and 'traces: run.json.gz'")
    return Side(drawn, _selection(row, where))


def _picture(row: Mapping[str, Any], before: Picture | None, where: str, folder: Path) -> Picture | None:
    """Return what is drawn from here on: what is said, and where it names no view, what was said before."""
    if not any(word in row for word in PICTURE):
        return before
    view = _text(row, "view", where) or (before.view if before else "")
    traces = row.get("traces")
    if traces is None:
        found = before.traces if before else ()
    else:
        traces = [traces] if isinstance(traces, str) else traces
        if not isinstance(traces, list) or not all(isinstance(trace, str) for trace in traces):
            raise UsageError(f"{where}: 'traces' is a file or a list of files")
        found = tuple(str(folder / trace) for trace in traces)
    given = row.get("set") or {}
    if not isinstance(given, dict):
        raise UsageError(f"{where}: 'set' holds parameters and their values, such as {{opening: 90}}")
    same = before is not None and "view" not in row
    settings = {**(dict(before.settings) if before is not None and same else {}),
                **{str(name): _plain(value) for name, value in given.items()}}  # fmt: skip
    if not view or not found:
        # Each shot may name its own.
        return None
    return Picture(
        view,
        found,
        tuple(settings.items()),
        _text(row, "filters", where) if "filters" in row else before.filters if before and same else "",
        _text(row, "title", where) if "title" in row else before.title if before and same else "",
    )


def _selection(row: Mapping[str, Any], where: str) -> Selection:
    trace = _text(row, "trace", where).upper()
    if trace and (len(trace) > 1 or not "A" <= trace <= "Z"):
        raise UsageError(f"{where}: trace: {row['trace']} is no letter of a trace, such as A or B")
    time = _range(row, "time", where)
    call = _text(row, "call", where)
    if call and not call.isdigit():
        raise UsageError(f"{where}: call: {call}: the number of a call is expected")
    return Selection(trace, time, _text(row, "function", where), call, _text(row, "thread", where))


def _range(row: Mapping[str, Any], name: str, where: str) -> tuple[int, int] | None:
    if not row.get(name):
        return None
    ends = str(row[name]).split("..")
    if len(ends) != 2:
        raise UsageError(f"{where}: {name}: {row[name]}: FROM..TO is expected, such as 1.2s..1.5s")
    low, high = (read_time(f"{where}: {name}", end.strip()) for end in ends)
    if high <= low:
        raise UsageError(f"{where}: {name}: {row[name]}: its end is not behind its start")
    return low, high


def _share(row: Mapping[str, Any], where: str) -> float:
    """Return the share of the time that a ride sees at once."""
    if isinstance(row.get("span"), str) and row["span"].strip().endswith("%"):
        row = {"span": _percent(row["span"], where)}
    return _number(row, "span", _SPAN, where, 0.01, 1.0)


def _percent(text: str, where: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / 100
    except ValueError:
        raise UsageError(f"{where}: span: {text} is no share, such as 20%") from None


def _number(row: Mapping[str, Any], name: str, usual: float, where: str, least: float, most: float) -> float:
    given = row.get(name, usual)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise UsageError(f"{where}: {name}: {given!r} is not a number")
    if not least <= given <= most:
        raise UsageError(f"{where}: {name}: {given:g}: {least:g} to {most:g} is expected")
    return float(given)


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    given = row.get(name)
    if given is None:
        return ""
    if isinstance(given, (dict, list)):
        raise UsageError(f"{where}: {name}: a text is expected")
    return _plain(given)


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _known(row: Mapping[str, Any], words: Sequence[str], where: str) -> None:
    for name in row:
        if name not in words:
            raise UsageError(f"{where}: {name!r} is not one of {', '.join(words)}")


def as_words(story: Story, folder: str | os.PathLike[str] = "") -> dict[str, Any]:
    """Return a story as plain values that :func:`from_words` takes.

    Parameters
    ----------
    story : Story
    folder : path
        Traces are named from there; empty: as the story names them.

    Returns
    -------
    dict
    """
    rows: list[dict[str, Any]] = []
    before: Picture | None = None
    for shot in story.shots:
        row: dict[str, Any] = {"shot": shot.kind, "seconds": shot.seconds}
        if shot.caption:
            row["caption"] = shot.caption
        if shot.kind != "split":
            if shot.picture != before:
                row |= _words_of(shot.picture, before, folder)
            before = shot.picture
        row |= _words_of_selection(shot.selection)
        ways = {"travel": shot.travel, "degrees": shot.degrees, "span": shot.span}
        row |= {name: value for name, value in ways.items() if name in KINDS[shot.kind].words}
        if shot.callout is not None:
            row["callout"] = shot.callout
        if shot.paces:
            row["paces"] = dict(shot.paces)
        if shot.slow:
            row["slow"] = "{}ns..{}ns".format(*shot.slow)
        for name, side in zip(_SIDES, shot.sides):
            drawn = _words_of(side.picture, None, folder) if shot.kind == "split" else {}
            row[name] = {**drawn, **_words_of_selection(side.selection)}
        rows.append({**row, **({"morph": shot.morph} if shot.morph else {"dissolve": shot.dissolve})})
    return {**story.settings, "shots": rows}


def as_text(story: Story, folder: str | os.PathLike[str] = "", head: str = "") -> str:
    """Return a story as YAML that :func:`read` takes, for people to edit.

    Parameters
    ----------
    story : Story
    folder : path
        Where it will lie: traces are named from there.
    head : str
        A comment above it.

    Returns
    -------
    str

    Examples
    --------
    >>> story = from_words({"view": "icicle", "traces": "a.tsv", "shots": ["establish"]}, "a.yaml")
    >>> print(as_text(story), end="")
    shots:
      - shot: establish
        seconds: 5
        view: icicle
        traces:
          - a.tsv
        dissolve: 0
    """
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    words = as_words(story, folder)
    lines += [f"{name}: {_scalar(value)}" for name, value in words.items() if name != "shots"]
    lines.append("shots:")
    for row in words["shots"]:
        inner = [line for name, value in row.items() for line in _lines(name, value, "    ")]
        lines += [f"  - {inner[0].strip()}", *inner[1:]]
    return "\n".join(lines) + "\n"


def _words_of(picture: Picture, before: Picture | None, folder: str | os.PathLike[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"view": picture.view}
    if before is None or picture.traces != before.traces:
        row["traces"] = [_from(folder, trace) for trace in picture.traces]
    if picture.settings:
        row["set"] = dict(picture.settings)
    if picture.filters:
        row["filters"] = picture.filters
    if picture.title:
        row["title"] = picture.title
    return row


def _words_of_selection(selection: Selection) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(selection, name) for name in SELECTION if getattr(selection, name)}
    if selection.time:
        row["time"] = "{}ns..{}ns".format(*selection.time)
    return row


def _from(folder: str | os.PathLike[str], trace: str) -> str:
    if not str(folder):
        return trace
    try:
        return Path(os.path.relpath(trace, folder)).as_posix()
    except ValueError:  # another drive
        return trace


def _lines(name: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, dict):
        return [
            f"{indent}{_scalar(name)}:",
            *(line for n, v in value.items() for line in _lines(n, v, f"{indent}  ")),
        ]
    if isinstance(value, list):
        return [f"{indent}{_scalar(name)}:", *(f"{indent}  - {_scalar(item)}" for item in value)]
    return [f"{indent}{_scalar(name)}: {_scalar(value)}"]


def _scalar(value: Any) -> str:
    """Return a value as YAML: in double quotes, which are those of JSON, unless it is a plain word."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:g}"
    text = str(value)
    is_plain = _PLAIN.fullmatch(text) and not _NO_TEXT.fullmatch(text)
    if is_plain:
        return text
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(text, ensure_ascii=False))
