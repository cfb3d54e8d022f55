"""The registry of formats, and the detection of a file's format: content decides before the name does."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, Unreadable, UsageError
from ..machine import memory as memory_limit
from ..machine.bounds import bounded, check_regular, too_large
from ..machine.collector import paused
from ..plugins import Registry
from ..progress import Progress, silent
from . import unpack

if TYPE_CHECKING:
    from ..trace.model import Trace

#: Name of a format -> module of this package that defines ``FORMAT``. A module does little when imported:
#: what a reader needs (Numba, msgspec, protobuf ...) is imported when it reads.
_OWN = {
    "chrome": ".chrome.format",
    "speedscope": ".speedscope.format",
    "v8": ".profiles.v8",
    "pprof": ".profiles.pprof",
    "perf_script": ".profiles.perf.script",
    "perf_data": ".profiles.perf.data",
    "simpleperf": ".profiles.perf.simpleperf",
    "firefox": ".profiles.firefox",
    "callgrind": ".profiles.callgrind",
    "austin": ".profiles.python.austin",
    "pyinstrument": ".profiles.python.pyinstrument",
    "cprofile": ".profiles.python.cprofile",
    "scalene": ".profiles.python.scalene",
    "stackprof": ".profiles.stackprof",
    "jfr": ".profiles.jfr.format",
    "otlp": ".spans.otlp",
    "art": ".art",
    "go": ".go.format",
    "kanata": ".lines.kanata",
    "jaeger": ".spans.jaeger",
    "bpftrace": ".lines.bpftrace",
    "collapsed": ".lines.collapsed",
    "enter_exit": ".lines.enter_exit",
    "uftrace": ".uftrace.format",
    "ctf": ".ctf.format",
    "ftrace": ".lines.ftrace",
    "perfetto": ".perfetto.format",
    "rsf": ".lines.rsf",
    "otf2": ".otf2.format",
    "heaptrack": ".heaptrack",
    "memray": ".memray.format",
    "memray_records": ".memray.records",
    "compact": ".compact_trace",
    "parquet": ".parquet.format",
    "tv3": ".tv3",
}

#: How sure ``Format.sniff`` is.
NO, MAYBE, LIKELY, SURE = 0.0, 0.3, 0.6, 1.0
#: Number of unpacked bytes given to ``sniff``.
HEAD = 1 << 16
#: Certainty that a matching suffix adds to a format that is possible by content.
_SUFFIX_BONUS = 0.05


@dataclass(frozen=True)
class Format:
    """A way in which traces are stored.

    Attributes
    ----------
    name : str
        The word on the command line.
    title : str
        For people.
    suffixes : tuple of str
        Of files in this format, the usual one first, with the dot, without those of packers (``.gz``).
    sniff : callable
        ``sniff(head, name) -> float``: how sure it is, from :data:`NO` to :data:`SURE`, that a file is in
        this format. ``head`` is the first :data:`HEAD` unpacked bytes at most, ``name`` the file's name
        without folder, in lower case, without packers' suffixes. For a folder, ``head`` is the names of
        its entries, sorted, one per line, and ``name`` ends in ``/``.
    read : callable or None
        ``read(path, progress) -> Trace``. It raises :class:`~tracevis3d.errors.InputError` if nothing can
        be read; what it repairs or leaves out goes to ``Trace.problems``. ``Trace.source`` is filled by
        :func:`open_trace`.
    write : callable or None
        ``write(trace, path, progress)``.
    holds : tuple of str
        The tables of a trace (:data:`tracevis3d.trace.model.TABLES`) beyond calls, functions and threads that
        are written; the caller gets a sentence for each of the others.
    is_folder : bool
        Whether traces in this format are folders; then ``sniff`` is asked about folders too.
    programs : str
        Which programs write it, for the docs.
    recipe : tuple of str
        How to record it: commands for a shell, and words behind ``#``.
    left_out : str
        What of it is not read, in a sentence; empty if all is.
    loses : str
        What of calls it can't hold, in the plural, such as ``times``; empty if it holds all.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes, str], float]
    read: Callable[[Path, Progress], Trace] | None
    write: Callable[..., None] | None = None
    holds: tuple[str, ...] = ()
    is_folder: bool = False
    programs: str = ""
    recipe: tuple[str, ...] = ()
    left_out: str = ""
    loses: str = ""


_formats = Registry("format", Format, __package__, _OWN, "FORMAT", "tracevis3d.formats")
names, find = _formats.names, _formats.find


def others() -> list[str]:
    """Return the names of those that plug-ins add."""
    return sorted(name for name in _formats.others if name not in _OWN)


def readable() -> list[Format]:
    """Return all formats that can be read; those of other packages that fail to load are left out."""
    return [f for f in _formats.loadable() if f.read is not None]


def writable() -> list[Format]:
    """Return all formats that can be written."""
    return [f for f in _formats.loadable() if f.write is not None]


def for_writing(path: str | os.PathLike[str]) -> Format:
    """Return the format to write ``path`` in, by its suffix.

    Parameters
    ----------
    path : path
        The file to be.

    Returns
    -------
    Format

    Raises
    ------
    UsageError
        If no format that can be written has this suffix.
    """
    name = unpack.bare_name(Path(path).name)
    fits = [(len(suffix), f) for f in writable() for suffix in f.suffixes if name.endswith(suffix)]
    if not fits:
        known = ", ".join(suffix for f in writable() for suffix in f.suffixes)
        raise UsageError(
            f"the name {str(path)!r} does not say which format to write: the known suffixes are {known}"
        )
    return max(fits, key=lambda fit: fit[0])[1]


def recognise(path: str | os.PathLike[str]) -> Format:
    """Return the format that the file or folder at ``path`` is in.

    Parameters
    ----------
    path : path
        A file or a folder.

    Returns
    -------
    Format

    Raises
    ------
    InputError
        If the path can't be read, is empty, or looks like no format that there is.
    """
    path = Path(path)
    head, name, damage = _look(path)
    if name.endswith(".py"):
        raise InputError(
            f"{path}: this is a program, not a trace: 'tracevis3d record -o run.json.gz -- {path}' records a "
            "run of it"
        )
    best, sure = None, NO
    for candidate in _formats.each():
        if candidate.read is None or (path.is_dir() and not candidate.is_folder):
            continue
        score = candidate.sniff(head, name)
        if score > NO and name.endswith(candidate.suffixes):
            score += _SUFFIX_BONUS
        if score > sure:
            best, sure = candidate, score
        if sure >= SURE + _SUFFIX_BONUS:
            break  # no other format can be more certain: later ones, and plug-ins, need not be imported
    if best is None:
        raise InputError(
            f"{path}: this is not a trace in a known format (it looks like {_likeness(head, name)}{damage}): "
            "'tracevis3d formats' lists them, and says how to record each"
        )
    return best


def open_trace(
    path: str | os.PathLike[str], progress: Progress = silent, form: Format | None = None
) -> Trace:
    """Read the trace at ``path``, in the format that its content shows, or in ``form``; nothing is cached.

    ``Trace.source`` has path, format and size; its hash is left empty for the caller that needs one.

    Parameters
    ----------
    path : path
        A file or a folder.
    progress : Progress
    form : Format, optional
        The format to read it in; None: by its content.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it can't be read: one sentence with the file, the place and the reason.
    UsageError
        If ``form`` can't be read.
    """
    path = Path(path)
    chosen = form or recognise(path)
    if chosen.read is None:
        raise UsageError(f"the format {chosen.name!r} can be written but not read")
    try:
        with paused():
            trace = chosen.read(path, bounded(path, progress))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from error
    except Unreadable as error:
        raise InputError(f"{error}: {_how_to_record(chosen)}") from error
    except RecursionError as error:
        said = f"{path}: is nested too deeply for a {chosen.title}"
        raise InputError(f"{said}: {_how_to_record(chosen)}") from error
    except MemoryError as error:
        raise too_large(path, memory_limit.limit()) from error
    source = replace(trace.source, path=str(path), format=chosen.name, size=unpack.size_on_disk(path))
    return replace(trace, source=source)


def _how_to_record(form: Format) -> str:
    says = "says how to record one" if form.recipe else "describes it"
    return f"'tracevis3d formats {form.name}' {says}"


def _look(path: Path) -> tuple[bytes, str, str]:
    """Return what a sniff gets to see of ``path``, and what to add of damage to it."""
    check_regular(path)
    try:
        if path.is_dir():
            entries = sorted(entry.name for entry in path.iterdir())
            if not entries:
                raise InputError(f"{path}: the folder is empty: record into it again, or name another")
            return "\n".join(entries)[:HEAD].encode("utf-8", "surrogateescape"), path.name.lower() + "/", ""
        head, damage = unpack.opening(path, HEAD)
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file{_meant(path)}") from error
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from error
    if not head and damage:
        raise InputError(f"{path}: nothing of it can be unpacked ({damage}): record or copy it again")
    if not head:
        raise InputError(f"{path}: the file is empty: record again, or wait until the recording has ended")
    return head, unpack.bare_name(path.name), f"; {damage}" if damage else ""


def _meant(path: Path) -> str:
    """Return a question with the file of the folder that has nearly this name; empty if none has."""
    from difflib import get_close_matches

    near: list[str] = []
    with contextlib.suppress(OSError):
        near = get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=1)
    return f": did you mean {str(path.with_name(near[0]))!r}?" if near else ": check its name and folder"


_MAGIC = (
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x1f\x8b", "a gzip file within a packed one: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file within a packed one: unpack it first"),
    (b"\xfd7zXZ\0", "an xz file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"),
    (b"SQLite format 3", "an SQLite database"),
    (b"BLENDER", "a Blender file"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
)


_NAMELESS = "which has no names: 'google-pprof --callgrind PROGRAM FILE > run.callgrind' adds them"
_HEAPTRACK = "which is not read: 'heaptrack PROGRAM' writes a recording that is"
#: What is not read itself, but in another form.
_OTHERS = (
    (
        re.compile(rb"\0{8}\x03\0{7}[\0\x01]\0{7}.{8}\0{8}|\0{4}\x03\0{3}[\0\x01]\0{3}.{4}\0{4}", re.DOTALL),
        f"gperftools' own CPU profile, {_NAMELESS}",
    ),
    (
        re.compile(rb"heap profile:|--- (?:heapz?|growthz?|contentionz?|threadz?) \d+ ---"),
        f"gperftools' own text, {_NAMELESS}",
    ),
    (
        re.compile(rb"\xc1\x1f\xfc\xc1|\xc1\xfc\x1f\xc1|\x57\x1d\xd1\x75|\x75\xd1\x1d\x57|\xc1\xf1\xdc\xc1"),
        "one file of a CTF trace: name the folder that holds its metadata",
    ),
    (
        re.compile(rb"v8-version,"),
        "the log of 'node --prof': 'node --cpu-prof' writes a profile that is read",
    ),
    (
        re.compile(rb'\s*\{\s*"snapshot"\s*:\s*\{\s*"meta"'),
        "a heap snapshot of V8: 'node --heap-prof' writes a profile that is read",
    ),
    (re.compile(rb"desc: [^\n]*\ncmd: "), f"massif's output, {_HEAPTRACK}"),
    (re.compile(rb'\s*\{\s*"dhatFileVersion"'), f"DHAT's output, {_HEAPTRACK}"),
    (re.compile(rb"gmon\x01"), "gprof's profile: 'perf record -g' writes one that is read"),
    (
        re.compile(rb"JAVA PROFILE 1\."),
        "a heap dump of Java: 'java -XX:StartFlightRecording' makes a recording that is read",
    ),
    (
        re.compile(rb"Nettrace"),
        "a recording of 'dotnet-trace': 'dotnet-trace convert --format Speedscope' makes a file that is read",
    ),
    (
        re.compile(rb" *(?:\d+ +)?(?:[\d:.]+ )?[a-z_][a-z_0-9]*\([^\n]*\) += (?:-?\d|\?)"),
        "what strace prints: 'trace-cmd record -e syscalls' and 'trace-cmd report' write text that is read",
    ),
)


def _likeness(head: bytes, name: str) -> str:
    """Say in a few words what the bytes look like."""
    if name.endswith("/"):
        count = head.count(b"\n") + 1
        return f"a folder of {count:,} entr{'y' if count == 1 else 'ies'}"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what
    for pattern, what in _OTHERS:
        if pattern.match(head):
            return what
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        return "white space"
    binary = sum(byte < 9 or 13 < byte < 32 for byte in head[:4096])
    if binary:
        return "binary data"
    if text[:1] in b"{[":
        return "JSON, but not of a trace"
    if text[:1] == b"<":
        return "XML or HTML"
    line = text.splitlines()[0][:40].decode("utf-8", "replace")
    return f"text that begins with {line!r}"
