"""The messages of the live feed: what they hold, and what a message must be before a byte of it is used.

A message is a JSON header in a frame of its own, and for a batch one frame for each column, little-endian.
Nothing here knows ZeroMQ: it turns frames into checked messages and back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

VERSION = 1
#: Bytes of a header, and of the header of names; rows of a batch; names in a message; frames of a message.
MOST_HEADER, MOST_NAMES_HEADER = 1 << 16, 1 << 22
MOST_ROWS, MOST_NAMES, MOST_FRAMES = 1 << 22, 1 << 16, 16
#: Numbers of functions, objects, operations and series; of threads.
MOST_IDS, MOST_THREADS = 1 << 24, 1 << 16
#: Times stay within this many nanoseconds of the session's start: 146 years.
MOST_NS = 1 << 62
#: Characters of a name.
MOST_CHARACTERS = 10_000

#: What a viewer may suggest, and maximum length of the call site's name.
SUGGESTIONS, MOST_SITE = ("look", "free"), 300

BEGIN, END = 0, 1

#: Table of a batch -> its columns in order: name, little-endian dtype, least and most value (None: any).
TABLES: dict[str, tuple[tuple[str, str, int | None, int | None], ...]] = {
    "calls": (
        ("kind", "<u1", BEGIN, END),
        ("thread", "<u4", 0, MOST_THREADS - 1),
        ("function", "<u4", 0, MOST_IDS - 1),
        ("time", "<i8", -MOST_NS, MOST_NS),
    ),
    "sync": (
        ("kind", "<u1", 0, 2),
        ("thread", "<u4", 0, MOST_THREADS - 1),
        ("operation", "<u4", 0, MOST_IDS - 1),
        ("object", "<i4", -1, MOST_IDS - 1),
        ("start", "<i8", -MOST_NS, MOST_NS),
        ("end", "<i8", -MOST_NS, MOST_NS),
    ),
    "waiting": (
        ("thread", "<u4", 0, MOST_THREADS - 1),
        ("operation", "<u4", 0, MOST_IDS - 1),
        ("object", "<i4", -1, MOST_IDS - 1),
        ("start", "<i8", -MOST_NS, MOST_NS),
        ("holder", "<i4", -1, MOST_THREADS - 1),
        ("until", "<i8", -MOST_NS, MOST_NS),
    ),
    "memory": (
        ("kind", "<u1", 0, 2),
        ("thread", "<u4", 0, MOST_THREADS - 1),
        ("time", "<i8", -MOST_NS, MOST_NS),
        ("address", "<u8", None, None),
        ("size", "<i8", 0, MOST_NS),
        ("stack", "<i4", -1, MOST_IDS - 1),
    ),
    "counters": (
        ("series", "<u4", 0, MOST_IDS - 1),
        ("time", "<i8", -MOST_NS, MOST_NS),
        ("value", "<f8", None, None),
    ),
}
#: Counters that begin with this are about how much lives of what was allocated since the begin, by a sample;
#: of the one that has a frame's number behind it what was allocated there, of the other of everything.
SAMPLED = "memory by a sample (bytes)"
_OF_FRAME = re.compile(re.escape(SAMPLED) + r", frame (\d{1,8})\b")
#: Tables of names, announced before their numbers are used.
NAMES = ("functions", "threads", "objects", "operations", "counters", "frames")

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Welcome:
    """The publisher's answer to a hello.

    Attributes
    ----------
    session : str
        Another one whenever the publisher starts anew.
    program : str
    pid : int
    start : int
        Nanoseconds since 1970 of the session's time 0.
    suggestions : bool
        Whether the program takes suggestions.
    published : int
        Rows that it had published when this viewer joined; -1: it does not say so, or the viewer is still to
        be sent what is open.
    """

    session: str
    program: str
    pid: int
    start: int
    suggestions: bool = False
    published: int = -1


@dataclass(frozen=True)
class Names:
    """Names of the numbers from ``first`` on.

    Attributes
    ----------
    table : str
        One of :data:`NAMES`.
    first : int
    names : tuple of str, or of (process, thread id, name) for threads, (function, parent, line) for frames
    """

    table: str
    first: int
    names: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a table.

    Attributes
    ----------
    table : str
        A key of :data:`TABLES`.
    sequence : int
        Batches are numbered from 0 in a session; a gap is a loss.
    dropped : int
        Rows before this batch that this viewer has not received since its last hello.
    now : int
        The session's time when it was sent, in nanoseconds.
    columns : dict of str to array (n,)
        With the names and dtypes of :data:`TABLES`.
    again : bool
        Whether it reports open calls and live blocks, for viewers that join late or have lost rows. What
        was open before is then void.
    published : int
        Rows that the session has published before it, whether they were sent or dropped; -1: unknown.
    """

    table: str
    sequence: int
    dropped: int
    now: int
    columns: Columns
    again: bool = False
    published: int = -1

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class Alive:
    """A sign of life without rows.

    Attributes
    ----------
    sequence : int
        The number of the next batch.
    dropped : int
        Rows so far that this viewer has not received since its last hello.
    now : int
        The session's time, in nanoseconds.
    published : int
        Rows that the session has published so far; -1: unknown.
    """

    sequence: int
    dropped: int
    now: int
    published: int = -1


@dataclass(frozen=True)
class Ended:
    """The program has ended; nothing follows.

    Attributes
    ----------
    sequence : int
        Number of batches of the session.
    dropped : int
        Rows that this viewer has not received since its last hello.
    published : int
        Rows that the session has published; -1: unknown.
    """

    sequence: int
    dropped: int
    published: int = -1


@dataclass(frozen=True)
class Refused:
    """The publisher refuses a viewer, or one of its messages.

    Attributes
    ----------
    why : str
        One sentence.
    """

    why: str


@dataclass(frozen=True)
class Hello:
    """A viewer's first message.

    Attributes
    ----------
    version : int
        Of the protocol: :data:`VERSION`.
    credit : int
        Number of batches that it can take at once.
    """

    version: int
    credit: int


@dataclass(frozen=True)
class Credit:
    """A viewer can take more batches.

    Attributes
    ----------
    count : int
        How many more; 0: only a sign of life.
    """

    count: int


@dataclass(frozen=True)
class Ask:
    """A viewer asks for all names again."""


@dataclass(frozen=True)
class Bye:
    """A viewer leaves."""


@dataclass(frozen=True)
class Suggest:
    """A viewer suggests something about a block of memory, or a call site; the program decides what to do.

    Attributes
    ----------
    number : int
        The viewer's own, for the answer.
    what : str
        One of :data:`SUGGESTIONS`.
    address, size : int
        Of the block, the size in bytes; -1: it is about the call site.
    site : str
        The call site; empty if unknown.
    """

    number: int
    what: str
    address: int = -1
    size: int = -1
    site: str = ""

    @property
    def sentence(self) -> str:
        """The suggestion as a sentence."""
        site = f" of {self.site}" if self.site else ""
        thing = (
            f"the block at 0x{self.address:x} ({self.size:,} bytes){site}"
            if self.address >= 0
            else (f"what {self.site} allocates")
        )
        return f"a viewer suggests to {'look at' if self.what == 'look' else 'free'} {thing}"


@dataclass(frozen=True)
class Answer:
    """The publisher's answer to a suggestion.

    Attributes
    ----------
    number : int
        The suggestion's.
    taken : bool
        Whether the program has received it.
    why : str
        Why not, as a sentence; empty if it has.
    """

    number: int
    taken: bool
    why: str = ""


FromPublisher = Welcome | Names | Batch | Alive | Ended | Refused | Answer
FromViewer = Hello | Credit | Ask | Bye | Suggest
Frames = list[Any]


def sampled_name(frame: int) -> str:
    """Return the name of the counter that says how much of what a frame has allocated lives, by a sample."""
    return f"{SAMPLED}, frame {frame}"


def sampled_frame(name: str) -> int:
    """Return the frame that a counter of :func:`sampled_name` is about; -1: it is another counter."""
    found = _OF_FRAME.match(name)
    return int(found[1]) if found is not None else -1


def encode(message: FromPublisher | FromViewer) -> Frames:
    """Return the frames of a message; columns are not copied."""
    match message:
        case Welcome():
            head = {"t": "welcome", "version": VERSION, **_said(message)}
        case Names():
            return [
                json.dumps({"t": "names", **vars(message)}, ensure_ascii=True, separators=(",", ":")).encode()
            ]
        case Batch():
            head = {
                "t": "batch", "table": message.table, "sequence": message.sequence,
                "dropped": message.dropped, "now": message.now, "rows": len(message),
            }  # fmt: skip
            if message.again:
                head["again"] = True
            if message.published >= 0:
                head["published"] = message.published
            columns = [
                np.ascontiguousarray(message.columns[name], dtype).data
                for name, dtype, _, _ in TABLES[message.table]
            ]
            return [json.dumps(head, separators=(",", ":")).encode(), *columns]
        case Alive():
            head = {"t": "alive", **_said(message)}
        case Ended():
            head = {"t": "end", **_said(message)}
        case Refused():
            head = {"t": "refused", "why": message.why}
        case Answer():
            head = {"t": "answer", **vars(message)}
        case Suggest():
            head = {"t": "suggest", **vars(message)}
        case Hello():
            head = {"t": "hello", **vars(message)}
        case Credit():
            head = {"t": "credit", "count": message.count}
        case Ask():
            head = {"t": "ask"}
        case Bye():
            head = {"t": "bye"}
    return [json.dumps(head, separators=(",", ":")).encode()]


def _said(message: Welcome | Alive | Ended) -> dict[str, Any]:
    """Return the fields of a message; what is not known is left out."""
    return {name: value for name, value in vars(message).items() if name != "published" or value >= 0}


def decode(frames: Sequence[Any]) -> FromPublisher:
    """Return the message that a publisher has sent, completely checked.

    Parameters
    ----------
    frames : sequence of buffer
        The header as JSON, and for a batch a frame for each column.

    Returns
    -------
    Welcome, Names, Batch, Alive, Ended, Refused or Answer
        Columns share their memory with the frames.

    Raises
    ------
    InputError
        One sentence with the field and what is wrong with it.
    """
    message = decode_unchecked(frames)
    if isinstance(message, Batch):
        check(message)
    return message


def decode_unchecked(frames: Sequence[Any]) -> FromPublisher:
    """Return the message that a publisher has sent; the values of a batch are left to :func:`check`.

    Parameters
    ----------
    frames : sequence of buffer
        As for :func:`decode`.

    Returns
    -------
    Welcome, Names, Batch, Alive, Ended, Refused or Answer
        The columns of a batch have the right lengths.

    Raises
    ------
    InputError
        One sentence with the field and what is wrong with it.
    """
    head, columns = _head(frames)
    kind = head.get("t")
    if kind == "batch":
        return _batch(head, columns)
    if columns:
        raise InputError(f"message {_short(kind)}: has {len(columns)} frames too many")
    if kind == "welcome":
        if _whole(head, "version", 0, 1000) != VERSION:
            raise InputError(f"message welcome: version {head['version']} is spoken, {VERSION} is known here")
        return Welcome(
            _text(head, "session", 200),
            _text(head, "program", 1000),
            _whole(head, "pid", 0, 1 << 40),
            _whole(head, "start", 0, 1 << 62),
            head.get("suggestions") is True,
            _published(head),
        )
    if kind == "names":
        return _names(head)
    if kind == "alive":
        return Alive(
            _whole(head, "sequence", 0, 1 << 62), _whole(head, "dropped", 0, 1 << 62),
            _whole(head, "now", -MOST_NS, MOST_NS), _published(head),
        )  # fmt: skip
    if kind == "end":
        return Ended(
            _whole(head, "sequence", 0, 1 << 62), _whole(head, "dropped", 0, 1 << 62), _published(head)
        )
    if kind == "refused":
        return Refused(_text(head, "why", 1000))
    if kind == "answer":
        return Answer(_whole(head, "number", 0, 1 << 53), head.get("taken") is True, _text(head, "why", 1000))
    raise InputError(f'field "t": {_short(kind)} is not a kind of message from a publisher')


def decode_from_viewer(frames: Sequence[Any]) -> FromViewer:
    """Return the message that a viewer has sent, completely checked.

    Parameters
    ----------
    frames : sequence of buffer
        The header as JSON, alone.

    Returns
    -------
    Hello, Credit, Ask, Bye or Suggest

    Raises
    ------
    InputError
        One sentence with the field and what is wrong with it.
    """
    head, more = _head(frames)
    kind = head.get("t")
    if more:
        raise InputError(f"message {_short(kind)}: has {len(more)} frames too many")
    if kind == "hello":
        return Hello(_whole(head, "version", 0, 1000), _whole(head, "credit", 0, 1_000_000))
    if kind == "credit":
        return Credit(_whole(head, "count", 0, 1_000_000))
    if kind == "ask":
        return Ask()
    if kind == "bye":
        return Bye()
    if kind == "suggest":
        return _suggest(head)
    raise InputError(f'field "t": {_short(kind)} is not a kind of message from a viewer')


def _suggest(head: dict[str, Any]) -> Suggest:
    what = head.get("what")
    if what not in SUGGESTIONS:
        raise InputError(
            f'message suggest, field "what": {_short(what)} is not one of {", ".join(SUGGESTIONS)}'
        )
    site = _text(head, "site", MOST_SITE)
    found = Suggest(
        _whole(head, "number", 0, 1 << 53), what, _whole(head, "address", -1, (1 << 64) - 1),
        _whole(head, "size", -1, MOST_NS),
        # It may be printed, so terminal control characters are not allowed.
        "".join(c if c.isprintable() else "?" for c in site),
    )  # fmt: skip
    if found.address < 0 and not found.site.strip():
        raise InputError("message suggest: it names neither a block nor a call site")
    return found


def _head(frames: Sequence[Any]) -> tuple[dict[str, Any], list[Any]]:
    if not 1 <= len(frames) <= MOST_FRAMES:
        raise InputError(f"a message has {len(frames)} frames: 1 to {MOST_FRAMES} are allowed")
    first = bytes(memoryview(frames[0])[: MOST_NAMES_HEADER + 1])
    most = MOST_NAMES_HEADER if first.startswith(b'{"t":"names"') else MOST_HEADER
    if len(first) > most:
        raise InputError(f"a header is longer than {most:,} bytes")
    try:
        head = json.loads(first, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InputError("a header is not JSON") from None
    if not isinstance(head, dict):
        raise InputError("a header is not a JSON object")
    return head, list(frames[1:])


def _no_constant(text: str) -> Any:
    raise ValueError(text)


def _batch(head: dict[str, Any], frames: list[Any]) -> Batch:
    table = head.get("table")
    if not isinstance(table, str) or table not in TABLES:
        raise InputError(f'message batch, field "table": {_short(table)} is not one of {", ".join(TABLES)}')
    rows = _whole(head, "rows", 1, MOST_ROWS)
    wanted = TABLES[table]
    if len(frames) != len(wanted):
        raise InputError(f"message batch: a batch of {table} has {len(wanted)} columns, not {len(frames)}")
    columns: dict[str, NDArray[Any]] = {}
    for (name, dtype, *_), frame in zip(wanted, frames, strict=True):
        data, size = memoryview(frame), np.dtype(dtype).itemsize
        if data.nbytes != rows * size:
            raise InputError(
                f"message batch, column {name} of {table}: has {data.nbytes:,} bytes, not {rows * size:,}"
            )
        columns[name] = np.frombuffer(data, dtype)
    again = head.get("again", False)
    if not isinstance(again, bool):
        raise InputError(f'message batch, field "again": {_short(again)} is neither true nor false')
    return Batch(
        table, _whole(head, "sequence", 0, 1 << 62), _whole(head, "dropped", 0, 1 << 62),
        _whole(head, "now", -MOST_NS, MOST_NS), columns, again, _published(head),
    )  # fmt: skip


def check(batch: Batch, low: int = 0, high: int | None = None) -> None:
    """Check the values of some rows of a batch.

    Parameters
    ----------
    batch : Batch
    low, high : int, optional
        The first row, and the one behind the last; all rows if left out.

    Raises
    ------
    InputError
        One sentence with the column and what is wrong with it.
    """
    table, part = batch.table, slice(low, high)
    for name, dtype, least, most in TABLES[table]:
        if least is None and dtype != "<f8":
            continue
        column = batch.columns[name][part]
        if least is not None:
            # Without a lower bound one comparison is enough.
            is_below = dtype[1] != "u" and int(column.min()) < least
            if is_below or int(column.max()) > (most or 0):
                raise InputError(
                    f"message batch, column {name} of {table}: a value is outside {least} to {most}"
                )
        elif not np.isfinite(column).all():
            raise InputError(f"message batch, column {name} of {table}: a value is not a number")
    columns = batch.columns
    if "end" in columns and (columns["end"][part] < columns["start"][part]).any():
        raise InputError(f"message batch, column end of {table}: something ends before it starts")


def _names(head: dict[str, Any]) -> Names:
    table, names = head.get("table"), head.get("names")
    if table not in NAMES:
        raise InputError(f'message names, field "table": {_short(table)} is not one of {", ".join(NAMES)}')
    most = MOST_THREADS if table == "threads" else MOST_IDS
    first = _whole(head, "first", 0, most - 1)
    if not isinstance(names, list) or len(names) > min(MOST_NAMES, most - first):
        raise InputError(f'message names, field "names": not a list of at most {MOST_NAMES:,} {table}')
    if table == "threads":
        return Names(table, first, tuple(_thread(entry) for entry in names))
    if table == "frames":
        return Names(table, first, tuple(_frame(entry, number) for number, entry in enumerate(names, first)))
    if not all(isinstance(name, str) and len(name) <= MOST_CHARACTERS for name in names):
        raise InputError(
            f'message names, field "names": a name is not a text of {MOST_CHARACTERS:,} characters'
        )
    return Names(str(table), first, tuple(map(_sound, names)))


def _thread(entry: Any) -> tuple[int | str, int | str, str]:
    if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], str):
        process, tid, name = entry
        if all(_is_id(x) for x in (process, tid)) and len(name) <= MOST_CHARACTERS:
            return _id(process), _id(tid), _sound(name)
    raise InputError('message names, field "names": a thread is not a list of process, thread id and name')


def _frame(entry: Any, number: int) -> tuple[int, int, int]:
    """Return function, parent and line of a frame; the parent comes before it."""
    if isinstance(entry, list) and len(entry) == 3 and all(type(x) is int for x in entry):
        function, parent, line = entry
        if 0 <= function < MOST_IDS and -1 <= parent < number and 0 <= line < 1 << 31:
            return function, parent, line
    raise InputError(
        'message names, field "names": a frame is not a list of function, earlier frame and line'
    )


def _is_id(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return (isinstance(value, int) and abs(value) < 1 << 62) or (isinstance(value, str) and len(value) < 200)


def _id(value: int | str) -> int | str:
    return _sound(value) if isinstance(value, str) else value


def _sound(text: str) -> str:
    """Return the text with lone surrogates, which no file takes, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _whole(head: dict[str, Any], name: str, least: int, most: int) -> int:
    value = head.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InputError(
            f'message {_short(head.get("t"))}, field "{name}": {_short(value)} is not a whole number from '
            f"{least} to {most}"
        )
    return value


def _published(head: dict[str, Any]) -> int:
    return _whole(head, "published", 0, 1 << 62) if "published" in head else -1


def _text(head: dict[str, Any], name: str, most: int) -> str:
    value = head.get(name)
    if not isinstance(value, str) or len(value) > most:
        raise InputError(
            f'message {_short(head.get("t"))}, field "{name}": not a text of at most {most:,} characters'
        )
    return _sound(value)


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
