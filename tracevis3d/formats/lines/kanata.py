"""Kanata logs: the instructions in a processor's pipeline, and their stages (RSD, Onikiri, Konata).

Source: https://github.com/shioyadan/Konata/blob/master/docs/kanata-log-format.md
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.formats.scan import kanata as kernels
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.problems import Problems
from ...trace.recording import Recording
from .. import names, registry
from ..text import count, read_text

if TYPE_CHECKING:
    from ...trace.model import Trace

Ints = NDArray[np.int64]

_FLUSHED = " (flushed)"
_UNNAMED = "(unnamed)"


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is a Kanata log.

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
    return registry.SURE if head.lstrip(b"\xef\xbb\xbf").startswith(b"Kanata\t") else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a Kanata log.

    Each instruction is an asynchronous operation named by its label, from its begin to its end; the stages of
    its first lane are operations inside it. Those that were flushed say so in their names. Dependencies are
    arrows. A cycle is read as one nanosecond.

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
    Unreadable
        If no line is an instruction.
    """
    recording = Recording()
    problems = recording.problems
    text, _ = read_text(path, problems, part(progress, 0, 0.4), whole_lines=True)
    rows = _Rows(text, problems)
    progress(0.6, "reading stages")
    if not (rows.kind == kernels.INSTRUCTION).any():
        raise Unreadable(
            f"{path}: no line is an instruction: lines look like 'I 0 0 0', 'S 0 0 F' and 'R 0 0 0', with "
            "tabs between their fields, after a line 'Kanata 0004'"
        )
    rows.add_to(recording)
    problems.add("cycles", "the whole file", 1)
    progress(0.8, "building operations")
    return recording.finish(Source(), names.split, str)


class _Rows:
    """The commands of a log, as columns."""

    def __init__(self, text: memoryview | bytes, problems: Problems) -> None:
        data = np.frombuffer(memoryview(text or b"\n").toreadonly(), np.uint8)
        room = count(data, b"\n") + 1
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        kind = np.empty(room, np.uint8)
        instruction, detail, time = np.empty((3, room), np.int64)
        name = np.empty(room, np.int32)
        table = InternedNames()
        columns = kind, instruction, detail, name, time
        while kernels.scan_kanata(data, state, *columns, *table.arrays) == kernels.NAMES_FULL:
            table.grow(int(state[kernels.NAMES]))
        used = int(state[kernels.ROWS])
        self.kind, self.name = kind[:used], name[:used]
        self.instruction, self.detail, self.time = instruction[:used], detail[:used], time[:used]
        self.texts = table.texts(data, int(state[kernels.NAMES]))
        self._problems = problems
        for slot, what in ((kernels.MALFORMED, "malformed"), (kernels.OTHER, "unsupported")):
            problems.add(what, f"line {state[slot + 1]:,}", int(state[slot]))

    def add_to(self, recording: Recording) -> None:
        """Add the instructions, their stages and their dependencies."""
        begins = np.flatnonzero(self.kind == kernels.INSTRUCTION)
        number, first = np.unique(self.instruction[begins], return_index=True)
        self._problems.add("listed twice", "an instruction", len(begins) - len(number))
        begins = begins[first]
        of = np.searchsorted(number, self.instruction)
        of[of == len(number)] = 0
        is_known = number[of] == self.instruction
        self._problems.add("unknown", "an instruction that did not begin", int((~is_known).sum()))
        thread_id, thread = np.unique(self.detail[begins], return_inverse=True)
        thread = np.array([recording.thread(0, tid) for tid in thread_id.tolist()], np.int32)[thread]
        # An instruction that does not retire ends with what is last said of it, tooltips apart.
        start, end = self.time[begins], self.time[begins].copy()
        np.maximum.at(end, of[is_known], self.time[is_known])
        retired = np.flatnonzero(is_known & (self.kind == kernels.RETIRE))
        end[of[retired]] = self.time[retired]
        flushed: NDArray[np.bool_] = np.zeros(len(number), np.bool_)
        flushed[of[retired]] = self.detail[retired] == 1
        label, texts = self._labels(of, is_known, len(number))
        used, which = np.unique(2 * label + flushed, return_inverse=True)
        name = [recording.text("spans", texts[n // 2] + _FLUSHED * (n % 2)) for n in used.tolist()]
        recording.add_spans(
            name=np.array(name, np.int32)[which],
            thread=thread,
            start=start,
            end=end,
            parent=np.full(len(number), -1),
        )
        self._add_stages(recording, of, is_known, thread, end)
        self._add_dependencies(recording, of, is_known, number, thread)

    def _labels(self, of: Ints, is_known: NDArray[np.bool_], n: int) -> tuple[Ints, list[str]]:
        """Return the number of each instruction's label, and the labels."""
        texts = [*self.texts, _UNNAMED]
        label: Ints = np.full(n, len(self.texts))
        rows = np.flatnonzero(is_known & (self.kind == kernels.LABEL))
        label[of[rows]] = self.name[rows]
        # Later labels go on where the one before ended.
        several = rows[np.bincount(of[rows], minlength=n)[of[rows]] > 1]
        several = several[np.argsort(of[several], kind="stable")]
        edges = np.flatnonzero(np.diff(of[several])) + 1
        for own in np.split(several, edges) if len(several) else ():
            texts.append("".join(self.texts[k] for k in self.name[own].tolist()))
            label[of[own[0]]] = len(texts) - 1
        return label, texts

    def _add_stages(
        self,
        recording: Recording,
        of: Ints,
        is_known: NDArray[np.bool_],
        thread: NDArray[np.int32],
        end: Ints,
    ) -> None:
        """Add the stages of the first lane: each ends where the next one of its instruction begins."""
        is_stage = (self.kind == kernels.STAGE) | (self.kind == kernels.STAGE_END)
        others = is_stage & (self.detail != 0) & (self.kind == kernels.STAGE)
        self._problems.add("unsupported", "a stage of a second lane", int(others.sum()))
        rows = np.flatnonzero(is_known & is_stage & (self.detail == 0))
        rows = rows[np.argsort(of[rows], kind="stable")]
        following = np.append(rows[1:], 0)
        is_last = np.append(of[rows[1:]] != of[rows[:-1]], True) if len(rows) else np.zeros(0, np.bool_)
        until = np.where(is_last, end[of[rows]], self.time[following])
        begins = self.kind[rows] == kernels.STAGE
        rows, until = rows[begins], np.maximum(until[begins], self.time[rows[begins]])
        used, which = np.unique(self.name[rows], return_inverse=True)
        name = np.array([recording.text("spans", self.texts[k]) for k in used.tolist()], np.int32)
        recording.add_spans(
            name=name[which],
            thread=thread[of[rows]],
            start=self.time[rows],
            end=np.minimum(until, np.maximum(end[of[rows]], self.time[rows])),
            parent=of[rows],
        )

    def _add_dependencies(
        self,
        recording: Recording,
        of: Ints,
        is_known: NDArray[np.bool_],
        number: Ints,
        thread: NDArray[np.int32],
    ) -> None:
        rows = np.flatnonzero(is_known & (self.kind == kernels.DEPENDENCY))
        producer = np.searchsorted(number, self.detail[rows])
        producer[producer == len(number)] = 0
        is_there = number[producer] == self.detail[rows]
        self._problems.add("unknown", "a dependency", int((~is_there).sum()))
        rows, producer = rows[is_there], producer[is_there]
        if len(rows):
            recording.add_flows(
                name=np.full(len(rows), recording.text("flows", "dependency"), np.int32),
                source_thread=thread[producer],
                start=self.time[rows],
                target_thread=thread[of[rows]],
                end=self.time[rows],
            )


FORMAT = registry.Format(
    name="kanata",
    title="Kanata pipeline log",
    suffixes=(".kanata", ".kanata.log", ".log"),
    sniff=sniff,
    read=read,
    programs="RSD, Onikiri, Konata",
    recipe=("make -f Makefile.verilator.mk kanata  # in Processor/Src of RSD: writes kanata.log",),
    left_out="stages beyond the first lane (counted), and texts of tooltips",
)
