"""JSON of profiles as plain values: what is damaged or of the wrong type is counted, never a traceback."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.formats.cut_json import find_cut
from ...kernels.formats.scan.profile import scan_numbers, scan_table
from ...machine.bounds import check_room
from ...progress import Progress
from ...trace.model import Source, Trace
from ...trace.problems import Problems
from ...trace.recording import Recording
from .. import names
from ..distinct import numbered
from ..text import count, utf8
from ..unpack import problem_of, unpack_file

_MAX_NESTING = 1024
#: Bytes of a value as a Python object, with its place in a list.
_VALUE_BYTES = 40

Ints = NDArray[np.int64]


def read_profile(
    path: Path,
    take: Callable[[Any, Recording], None],
    title: str,
    progress: Progress,
    decode: Callable[[bytes | memoryview], Any] | None = None,
) -> Trace:
    """Read a profile that is one JSON value.

    Parameters
    ----------
    path : Path
    take : callable
        ``take(value, recording)`` adds what it says. A :class:`ValueError` says in a few words why nothing
        can be read.
    title : str
        What such files are called, for messages.
    progress : Progress
    decode : callable, optional
        Decodes the text, as :func:`read_json` takes it.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it is not JSON, or nothing can be read.
    """
    recording = Recording()
    value = read_json(path, recording.problems, title, progress, decode)
    progress(0.5, "reading samples")
    return finish(path, lambda: take(value, recording), recording, title, progress)


def finish(
    path: Path, take: Callable[[], None], recording: Recording, title: str, progress: Progress
) -> Trace:
    """Let ``take`` fill the recording, and return its trace.

    Parameters
    ----------
    path : Path
        For messages.
    take : callable
        Raises :class:`ValueError` where nothing can be read.
    recording : Recording
    title : str
        What such files are called.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    Unreadable
        If nothing can be read.
    """
    try:
        take()
    except ValueError as error:
        raise Unreadable(f"{path}: nothing of this {title} can be read: {error}") from error
    progress(0.8, "building calls")
    trace = recording.finish(Source(), names.split)
    progress(1, "building calls")
    return trace


def read_json(
    path: Path,
    problems: Problems,
    title: str,
    progress: Progress,
    decode: Callable[[bytes | memoryview], Any] | None = None,
) -> Any:
    """Return the value of a JSON file; of a damaged one what comes before the damage.

    Parameters
    ----------
    path : Path
    problems : Problems
    title : str
        What such files are called.
    progress : Progress
    decode : callable, optional
        Decodes the text, such as :func:`with_columns`; errors are msgspec's. All becomes plain values if
        left out.

    Returns
    -------
    object
        Plain Python values.

    Raises
    ------
    Unreadable
        If nothing of it is JSON.
    """
    import msgspec

    unpacked = unpack_file(path, progress)
    text = utf8(unpacked.data)
    # This step can't be interrupted: it makes Python objects of the smallest values.
    check_room(path, _VALUE_BYTES * count(np.frombuffer(text, np.uint8), b","))
    damage = unpacked.damage
    decode = decode or msgspec.json.decode
    for _ in range(2):
        try:
            value = decode(text)
        except UnicodeDecodeError as error:
            problems.add("bad value", f"the text is not UTF-8 ({error.reason})")
            text = codecs.decode(text, "utf-8", "replace").encode()
            continue
        except msgspec.DecodeError as error:
            at = byte_of(error, len(text))
            value = None
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                value = decode(cut_json(text[:at]))
            if not value:
                raise Unreadable(f"{path}: byte {at:,}: this {title} is not valid JSON ({error})") from error
            problems.add(*why_cut(error, at, damage))
            damage = ""
        break
    else:
        raise Unreadable(f"{path}: this {title} is not text")
    if damage:
        problems.add(problem_of(damage), damage)
    return value


def with_columns(text: bytes | memoryview, lists: Collection[str]) -> Any:
    """Decode an object of which some fields are long lists of whole numbers: those become columns.

    Parameters
    ----------
    text : bytes-like
        JSON.
    lists : collection of str
        Names of such fields; one that holds anything else becomes plain values.

    Returns
    -------
    object
        Plain Python values, and int64 columns.

    Raises
    ------
    msgspec.DecodeError
        If it is not JSON.
    """
    import msgspec

    try:
        fields = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        return msgspec.json.decode(text)
    found: dict[str, Any] = {}
    for name, raw in fields.items():
        column = column_of(raw) if name in lists else None
        found[name] = msgspec.json.decode(raw) if column is None else column
    return found


def column_of(raw: Any) -> NDArray[np.int64] | None:
    """Return a JSON list of whole numbers; None for what is anything else.

    Parameters
    ----------
    raw : bytes-like
        Well-formed JSON.

    Returns
    -------
    int64 (n,) or None
    """
    data = np.frombuffer(memoryview(raw).toreadonly(), np.uint8)
    if not len(data) or data[0] != ord("[") or count(data, b"."):
        return None
    out = np.empty(count(data, b",") + 1, np.int64)
    rows = scan_numbers(data, 1, 0, out, np.empty(0, np.int64))
    return out[:rows] if rows >= 0 else None


def table_of(raw: Any, width: int) -> NDArray[np.float64] | None:
    """Return a JSON list of lists of numbers or null; None for what is anything else.

    Parameters
    ----------
    raw : bytes-like
        Well-formed JSON.
    width : int
        Numbers of a row at most.

    Returns
    -------
    float64 (rows, width) or None
        NaN where it is null, or a row is shorter.
    """
    data = np.frombuffer(memoryview(raw).toreadonly(), np.uint8)
    if len(data) < 4 or data[0] != ord("["):
        return None
    out = np.full((count(data, b"[") - 1, width), np.nan)
    rows = scan_table(data, out)
    return out[:rows] if rows >= 0 else None


def byte_of(error: Exception, size: int) -> int:
    """Return where a text stops being JSON, as the decoder's error says; its size if that says nothing.

    Parameters
    ----------
    error : Exception
        The decoder's.
    size : int
        Bytes of the text.

    Returns
    -------
    int
    """
    match = re.search(r"\(byte (\d+)\)", str(error))
    return int(match[1]) if match else size


def why_cut(error: Exception, at: int, damage: str) -> tuple[str, str]:
    """Return the problem of a text that is JSON up to a place: its kind and where.

    Parameters
    ----------
    error : Exception
        The decoder's.
    at : int
        The byte.
    damage : str
        What unpacking said, if anything.

    Returns
    -------
    (str, str)
    """
    if not damage and "trailing characters" in str(error):
        return "unsupported", f"byte {at:,}: something follows the JSON document"
    return "truncated", damage or f"byte {at:,} ({error})"


def cut_json(text: memoryview | bytes) -> bytes:
    """Return ``text`` up to its last whole value, with its open brackets closed.

    Parameters
    ----------
    text : memoryview or bytes
        JSON that breaks off.

    Returns
    -------
    bytes
    """
    stack = np.zeros(_MAX_NESTING, np.uint8)
    out = np.zeros(2, np.int64)
    if not find_cut(np.frombuffer(text, np.uint8), stack, out):
        return b""
    keep, depth = out.tolist()
    return bytes(text[:keep]) + stack[:depth][::-1].tobytes()


# -- values of any type ---------------------------------------------------------------------------


def fields_of(value: Any) -> dict[str, Any]:
    """Return an object; an empty one for a value of another type.

    Parameters
    ----------
    value : object

    Returns
    -------
    dict
    """
    return value if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """Return a list; an empty one for a value of another type.

    Parameters
    ----------
    value : object

    Returns
    -------
    list
    """
    return value if isinstance(value, list) else []


def text_of(value: Any, other: str = "") -> str:
    """Return a text; ``other`` for a value of another type, and for an empty text.

    Parameters
    ----------
    value : object
    other : str

    Returns
    -------
    str
    """
    return value if isinstance(value, str) and value else other


def whole_of(value: Any, other: int = 0) -> int:
    """Return a whole number within 63 bits; ``other`` for everything else.

    Parameters
    ----------
    value : object
    other : int

    Returns
    -------
    int
    """
    if isinstance(value, float) and abs(value) < 1 << 62:
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62
    return value if is_whole else other


def numbers_of(value: Any) -> NDArray[np.float64]:
    """Return a list of numbers; NaN for what is none.

    Parameters
    ----------
    value : object

    Returns
    -------
    float64 (n,)
    """
    if isinstance(value, np.ndarray):
        return value.astype(np.float64)
    rows = items_of(value)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        column = np.array(rows)
        if column.ndim == 1 and column.dtype.kind in "iuf":
            return column.astype(np.float64)
    plain = [
        float(x) if isinstance(x, int | float) and not isinstance(x, bool) and abs(x) < 1 << 63 else np.nan
        for x in rows
    ]
    return np.array(plain, np.float64)


def indices_of(value: Any, size: int) -> NDArray[np.int64]:
    """Return a list of whole numbers from 0 to below ``size``; -1 for what is none.

    Parameters
    ----------
    value : object
    size : int

    Returns
    -------
    int64 (n,)
    """
    numbers = numbers_of(value)
    good = (numbers >= 0) & (numbers < size)
    return np.where(good, np.where(good, numbers, 0), -1).astype(np.int64)


def add_function(recording: Recording, name: str, file: str, line: int = 0, column: int = 0) -> int:
    """Return the index of a function of which name and place are recorded.

    Parameters
    ----------
    recording : Recording
    name : str
    file : str
        May be empty.
    line, column : int
        Where it is defined, from 1; 0 if unknown.

    Returns
    -------
    int
    """
    line = line if 0 < line < 1 << 31 else 0
    full = place(name or "(unnamed)", file, line, column)
    if not file:
        return recording.function(full)
    said = names.in_file(name or "(unnamed)", file)
    return recording.function(full, label=said.label, containers=said.containers, file=file, line=line)


def add_functions(recording: Recording, texts: Sequence[str], name: Ints, file: Ints, line: Ints) -> Ints:
    """Return the indices of many functions, as :func:`add_function` does of each in turn.

    Parameters
    ----------
    recording : Recording
    texts : sequence of str
        Names and files; a file may be empty.
    name, file : int64 (n,)
        Rows of ``texts``.
    line : int64 (n,)
        Where each is defined, from 1; 0 if unknown.

    Returns
    -------
    int64 (n,)
    """
    named, of_name = numbered(name)
    filed, of_file = numbered(file)
    labels, files = ([texts[row] for row in rows.tolist()] for rows in (named, filed))
    labels = [label or "(unnamed)" for label in labels]
    modules = [names.plain_module_of(one) if one else () for one in files]
    has_file = np.array([*map(bool, files)], np.bool_)[of_file]
    is_plain = np.array([*map(names.is_plain, labels)], np.bool_)[of_name]
    is_plain &= np.array([module is not None for module in modules], np.bool_)[of_file]
    line = np.where(has_file & (line > 0) & (line < 1 << 31), line, 0)
    label = np.array(labels, object)[of_name].tolist()
    rows = zip(label, np.array(files, object)[of_file], line.tolist(), strict=True)
    full = [f"{one} ({at}:{here})" if here else place(one, at) for one, at, here in rows]
    path, paths = of_file.copy(), [module or () for module in modules]
    for row in np.flatnonzero(has_file & ~is_plain).tolist():
        said = names.in_file(label[row], files[of_file[row]])
        label[row], path[row] = said.label, len(paths)
        paths.append(said.containers)
    return recording.add_functions(
        full, labels=label, paths=paths, path=path, files=files, file=of_file, line=line
    ).astype(np.int64)


def place(name: str, file: str, line: int = 0, column: int = 0) -> str:
    """Return a function's name with its place: ``name (file:line:column)``.

    Parameters
    ----------
    name : str
    file : str
        May be empty.
    line, column : int
        From 1; 0 if unknown.

    Returns
    -------
    str
    """
    if not file:
        return name
    where = f"{file}:{line}:{column}" if line > 0 and column > 0 else f"{file}:{line}" if line > 0 else file
    return f"{name} ({where})"
