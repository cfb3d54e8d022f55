"""Allocations in a Chrome trace: rows of memory that ``tracevis3d record`` writes into metadata records."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...trace.model import ACCESS, ALLOC, RecordedId
from ...trace.recording import TIME_LIMIT, Recording
from .checked import Metadata

#: Name and dtype of the columns, which are Base64 (docs/record.md).
_COLUMNS = (
    ("kind", "<u1"), ("thread", "<u4"), ("time", "<i8"), ("address", "<u8"), ("size", "<i8"),
    ("stack", "<i4"),
)  # fmt: skip
_MOST = 1 << 31


def add_memory(metadata: Iterable[Metadata], recording: Recording) -> None:
    """Add the rows of memory and their call sites to a recording; what makes no sense is counted.

    Parameters
    ----------
    metadata : iterable of Metadata
        The file's metadata records.
    recording : Recording
        It is filled.
    """
    # Each process numbers its own.
    frames: dict[str | None, _Frames] = {}
    rows: list[tuple[str | None, RecordedId, dict[str, NDArray[Any]]]] = []
    sampled = coarse = 0
    for said in metadata:
        if said.what == "memory_frames":
            frames.setdefault(said.process, _Frames(recording)).add(said.arguments)
        elif said.what == "memory_lost" and isinstance(rows_lost := said.arguments.get("rows"), int | float):
            recording.problems.add("lost", "the rows of memory", int(min(max(rows_lost, 0), 1e15)))
        elif said.what == "memory" and "address" in said.arguments:
            columns = _columns(said.arguments)
            if columns is None:
                recording.problems.add("bad value", "rows of memory")
                continue
            sampled += said.arguments.get("sampled") is True
            coarse += said.arguments.get("coarse") is True
            process = said.process or "0"
            is_number = process.isascii() and process.isdecimal() and not said.quoted & 1
            rows.append((said.process, int(process) if is_number else process, columns))
    none = _Frames(recording).add_frames()
    frames_of = {process: of.add_frames() for process, of in frames.items()}
    for whose, of_process, columns in rows:
        frame_of = frames_of.get(whose, none)
        distinct, which = np.unique(columns["thread"], return_inverse=True)
        thread = np.array([recording.thread(of_process, tid) for tid in distinct.tolist()])[which.reshape(-1)]
        stack = np.clip(columns["stack"], -1, len(frame_of) - 1)
        recording.add_memory(
            thread=thread, kind=columns["kind"], time=columns["time"], address=columns["address"],
            size=columns["size"], stack=frame_of[stack],
        )  # fmt: skip
    if sampled or coarse:
        recording.problems.add("coarse times", "the first look at what lives", sampled + coarse)
    if sampled:
        recording.problems.add("no addresses", "the whole file", 1)


def _columns(said: dict[str, Any]) -> dict[str, NDArray[Any]] | None:
    columns: dict[str, NDArray[Any]] = {}
    for name, dtype in _COLUMNS:
        text = said.get(name)
        if not isinstance(text, str):
            return None
        try:
            data = base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            return None
        if len(data) % np.dtype(dtype).itemsize:
            return None
        columns[name] = np.frombuffer(data, dtype)
    if len({len(column) for column in columns.values()}) != 1:
        return None
    good = (columns["kind"] >= ALLOC) & (columns["kind"] <= ACCESS) & (columns["size"] >= 0)
    good &= np.abs(columns["time"] // 2) < TIME_LIMIT // 2
    return columns if good.all() else None


class _Frames:
    """Frames by the file's numbers: function, number of the caller's, line."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._known: dict[int, tuple[int, int, int]] = {}

    def add(self, said: dict[str, Any]) -> None:
        """Take a list of frames; a caller's number is smaller than the frame's own."""
        first, frames = said.get("first"), said.get("frames")
        number = int(first) if isinstance(first, int | float) and 0 <= first < _MOST else -1
        for entry in frames if isinstance(frames, list) and number >= 0 else ():
            match entry:
                case [str(name), int() | float() as parent, int() | float() as line] if (
                    -1 <= parent < number and 0 <= line < _MOST
                ):
                    self._known[number] = self._recording.function(name), int(parent), int(line)
                case _:
                    self._recording.problems.add("bad value", "frames of memory")
            number += 1

    def add_frames(self) -> NDArray[np.int64]:
        """Give the recording all frames; return their numbers there, the last one being -1 for none."""
        known = sorted(self._known)
        number = {one: at for at, one in enumerate(known)}
        columns = np.array(
            [(f, number.get(parent, -1), line) for f, parent, line in (self._known[one] for one in known)],
            np.int64,
        ).reshape(-1, 3)
        base = self._recording.add_stacks(function=[], parent=[])
        parent = np.where(columns[:, 1] >= 0, base + columns[:, 1], -1)
        self._recording.add_stacks(function=columns[:, 0], parent=parent, line=columns[:, 2])
        most = known[-1] + 2 if known and known[-1] < 1 << 26 else 1
        of = np.full(most, -1)
        if most > 1:
            of[known] = base + np.arange(len(known))
        return of


__all__ = ["add_memory"]
