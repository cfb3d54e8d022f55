"""Problems that the recorder itself has noted (:mod:`tracevis3d.record`)."""

from __future__ import annotations

from collections.abc import Iterable

from ...trace.problems import KINDS
from ...trace.recording import Recording
from .checked import Metadata


def add_problems(metadata: Iterable[Metadata], recording: Recording) -> None:
    """Count what the metadata records ``recorder_problem`` say.

    Parameters
    ----------
    metadata : iterable of Metadata
        The file's metadata records.
    recording : Recording
        Its problems are added to.
    """
    for said in metadata:
        if said.what != "recorder_problem":
            continue
        kind, place, count = (said.arguments.get(name) for name in ("kind", "place", "count"))
        if (
            isinstance(kind, str)
            and kind in KINDS
            and isinstance(place, str)
            and isinstance(count, int | float)
        ):
            recording.problems.add(kind, place, int(min(max(count, 0), 1e15)))
        else:
            recording.problems.add("bad value", "problems that the recorder noted")
