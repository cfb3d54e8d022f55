"""Traces with waits and releases, from a few lines of text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tracevis3d.formats.names import split
from tracevis3d.trace.events import COMPLETE
from tracevis3d.trace.model import IO, RELEASE, WAIT, Source, Trace
from tracevis3d.trace.recording import Recording

KINDS = {"wait": WAIT, "release": RELEASE, "io": IO}


def trace_of(text: str) -> Trace:
    """Return the trace of lines ``thread start end name [kind objects [contended]]``.

    Each line is a call; with a kind it also is an operation, whose objects have commas between them (``-``:
    none). ``contended`` is 0, 1 or 2. A ``~`` is a blank.
    """
    recording = Recording()
    for line in filter(None, (line.split("#")[0].split() for line in text.splitlines())):
        thread = recording.thread(1, line[0])
        recording.name_thread(1, line[0], line[0])
        start, end, name = int(line[1]), int(line[2]), line[3].replace("~", " ")
        event = recording.add_events(
            thread=[thread], kind=[COMPLETE], function=[recording.function(name)], time=[start], end=[end]
        )
        if len(line) > 4:
            names = [] if line[5] == "-" else line[5].split(",")
            recording.add_sync(
                thread=[thread],
                kind=[KINDS[line[4]]],
                name=[recording.text("sync", name)],
                start=[start],
                end=[end],
                contended=[int(line[6])] if len(line) > 6 else None,
                event=[event],
                objects=[[recording.text("objects", name) for name in names]],
            )
    return recording.finish(Source(), split)


def with_lines(trace: Trace, recorded: Iterable[int]) -> Trace:
    """Return a trace whose operations have recorded lines; 0: unknown."""
    sync = replace(trace.sync, line=np.array([*recorded], np.int32))
    return replace(trace, sync=sync)


def lines(rows: Iterable[tuple[object, ...]]) -> str:
    """Return rows as text for :func:`trace_of`."""
    return "\n".join(" ".join(str(one).replace(" ", "~") for one in row) for row in rows)
