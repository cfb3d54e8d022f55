"""Execution traces of Go: what ``runtime/trace`` and ``go test -trace`` write, from Go 1.11 on.

Source: ``internal/trace`` of Go. The format is Go's own and may change with each version; it did with 1.22.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError, Unreadable
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry
from ..unpack import whole
from .batches import read_batches
from .handover import hand_over
from .old import read_old

if TYPE_CHECKING:
    from ...trace.model import Trace

_HEADER = re.compile(rb"go 1\.(\d{1,3}) trace\0{2,3}")
_HEADER_BYTES = 16
#: Minor versions: the first that is read, the first of the form of today, and the last that was tried.
_FIRST, _TODAY = 7, 22


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are an execution trace.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    return registry.SURE if _HEADER.match(head) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read an execution trace: goroutines are threads, and what they wait for is a call below where they do.

    Each goroutine is a call of its function. Inside are system calls that took its processor away, what it
    waits for, the time in which it was ready to run, and regions; each wait says who ended it. Tasks are
    asynchronous operations.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError, Unreadable
        If it is of a version before Go 1.11, or has no events of goroutines.
    """
    recording = Recording()
    data = whole(path, recording.problems, part(progress, 0, 0.2))
    said = _HEADER.match(bytes(data[:_HEADER_BYTES]))
    if said is None:
        raise Unreadable(f"{path}: this is no execution trace of Go: it does not begin with its version")
    minor = int(said[1])
    if minor < _FIRST:
        raise InputError(
            f"{path}: this is a trace of Go 1.{minor}, and those of Go 1.{_FIRST} and later are read: record "
            "it again with a newer Go"
        )
    progress(0.2, "reading events")
    reads = read_old if minor < _TODAY else read_batches
    tables, changes = reads(data, _HEADER_BYTES, recording.problems)
    progress(0.5, "following goroutines")
    byte = hand_over(tables, changes, recording)
    if byte is None:
        raise Unreadable(f"{path}: no goroutine does anything in it")
    progress(0.7, "building calls")
    return recording.finish(Source(), names.split, lambda event: f"byte {byte(event):,}")


FORMAT = registry.Format(
    name="go",
    title="Go execution trace",
    suffixes=(".go.trace", ".trace", ".out"),
    sniff=sniff,
    read=read,
    programs="Go: `runtime/trace`, `go test -trace`, `net/http/pprof`",
    recipe=(
        "go test -trace run.go.trace .",
        "curl -o run.go.trace 'http://localhost:6060/debug/pprof/trace?seconds=5'",
    ),
    left_out="which processor a goroutine runs on, sweeping, and samples of the CPU profiler",
)
