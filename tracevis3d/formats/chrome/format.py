"""Chrome Trace Event JSON, as VizTracer, Chromium, uftrace, PyTorch's Kineto, Clang and others write it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...progress import Progress
from ..registry import LIKELY, MAYBE, NO, SURE, Format

if TYPE_CHECKING:
    from ...trace.model import Trace

# Of objects, perhaps behind "null", which some programs write for an event that they leave out.
_ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*(?:null\s*,\s*)*(?:\{|\]|$)")
_PHASE = re.compile(rb'"ph"\s*:\s*"[A-Za-z(),]"')
_EVENTS = re.compile(rb'"traceEvents"\s*:\s*(?:\[|$)')


def sniff(head: bytes, name: str) -> float:
    """Return whether the first bytes are those of a Chrome trace: see :class:`..registry.Format`.

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
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"{":
        if _EVENTS.search(text):
            return SURE
        if b'"$schema"' in text and b"speedscope" in text:
            return NO
        # Records in lines, or an object whose events come late.
        return LIKELY if _PHASE.search(text) else (MAYBE / 2 if _looks_like_trace(name) else NO)
    if _ARRAY_OF_OBJECTS.match(text):
        if _PHASE.search(text):
            return SURE
        return MAYBE if len(text) < 64 and text.rstrip() in (b"[]", b"[", b"[{}]") else NO
    return NO


def _looks_like_trace(name: str) -> bool:
    return name.endswith(".json") and "trace" in name


def _read(path: Path, progress: Progress) -> Trace:
    from .read import read

    return read(path, progress)


def _write(trace: Trace, path: Path, progress: Progress) -> None:
    from .write import write

    write(trace, path, progress)


FORMAT = Format(
    name="chrome",
    title="Chrome Trace Event JSON",
    suffixes=(".json",),
    sniff=sniff,
    read=_read,
    write=_write,
    holds=("sync", "counters", "flows", "spans", "instants"),
    programs="VizTracer, Chromium, uftrace, PyTorch's Kineto, Clang's -ftime-trace, …",
    recipe=(
        "viztracer -o run.json -- script.py",
        (
            "chromium "
            "--trace-startup=-*,v8,devtools.timeline,disabled-by-default-v8.cpu_profiler "
            "--trace-startup-file=run.json --trace-startup-duration=5 PAGE"
        ),
        "uftrace record ./program; uftrace dump --chrome > run.json",
    ),
    left_out="stack frames of single records, object snapshots, and sections of other programs",
)
