"""Problems of recordings, repaired or left out: counted by kind, with the first place of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..units import counted

#: What each kind of problem means, and what was done about it; shown by ``info``.
KINDS: dict[str, str] = {
    "out of order": "events were not in the order of their times and were sorted",
    "clock went back": "times that went back were read as the latest time before them",
    "unmatched begin": "calls that never ended were closed at the last time of their thread",
    "unmatched end": "ends without a begin were left out",
    "mismatched end": "an end named an outer call: the calls inside it were closed there",
    "overlap": "a call ended after the call that it started in: it was cut at the end of the outer call",
    "unmatched flow": "flow arrows with only one end were left out",
    "unmatched span": "asynchronous operations: ends without a begin were left out, others closed at the end",
    "no duration": "complete events without a duration were read with duration 0",
    "negative duration": "calls that ended before they started were read with duration 0",
    "bad time": "events whose time is missing, not a number or too large were left out",
    "no name": "events without a name were read under the name (unnamed)",
    "no thread": "events without a process id were read as process 0, without a thread id as its main thread",
    "bad value": "fields of the wrong type were left out",
    "no count": "stacks without a count or weight were read as one sample",
    "no time unit": "weights that are not times were laid along the time axis (1 µs a sample, 1 ns a byte)",
    "no times": "the format has no times: events were counted instead, 1 ns each",
    "cycles": "the format counts a processor's cycles: each is shown as 1 ns",
    "no paths": "the format records callers and callees, not call paths: call paths were estimated by weight",
    "sampled": "these calls were sampled, not recorded: how many there were and when they ended is estimated",
    "coarse times": "times are recorded only at intervals: the events between were spread evenly",
    "no addresses": (
        "the format has no addresses: each free was assigned to the youngest block of its call site and size"
    ),
    "no stacks": "wake-ups without stacks may be an interrupt's, not the thread's that it interrupted",
    "listed twice": "where something is described twice, the first description was used",
    "renamed": "threads that have more than one name are shown by the last",
    "unknown": "records that name something that the file doesn't describe were left out",
    "cut": "calls that were open at lost records were closed there",
    "broke off": "the recorded program was killed: its last events may be missing",
    "not recorded": "the recorder could not see these calls of the program",
    "lost": "the recorder lost records here",
    "joined late": "a viewer joined the feed late: of what came before, only what was still open is known",
    "broken off": "a feed stopped without an end message: what it published last is unknown",
    "malformed": "records that could not be understood were left out",
    "wrong checksum": "the packed file does not match its checksum: all of it was read, and may be wrong",
    "other data": "the file goes on behind its packed part: what follows was left out",
    "truncated": "the file is truncated: everything before the cut was read",
    "unsupported": "records of kinds that are not shown were left out",
}

#: Kinds that lose and change nothing: ``info`` counts them, a picture needs no warning.
LOSSLESS = frozenset(("out of order", "no thread", "no count", "no name", "listed twice"))

#: Kinds that say what times are, of a whole file; pictures say it in these words.
UNITS = {"no times": "times are events, counted", "cycles": "times are a processor's cycles, shown as ns"}


@dataclass
class Problem:
    """``count`` occurrences of a kind; ``first`` names the place of the first (line, byte, event …).

    Attributes
    ----------
    count : int
        How often.
    first : str
        The place of the first: line, byte, event …
    """

    count: int
    first: str


class Problems(Mapping[str, Problem]):
    """The problems of one trace, by kind."""

    def __init__(self) -> None:
        self._kinds: dict[str, Problem] = {}

    def add(self, kind: str, first: str, count: int = 1) -> None:
        """Count ``count`` more of ``kind`` (a key of :data:`KINDS`); ``first`` is kept if it is the first.

        Parameters
        ----------
        kind : str
            A key of :data:`KINDS`.
        first : str
            The place of the first of them.
        count : int
            How many; 0: nothing happens.

        Raises
        ------
        KeyError
            If there is no such kind.
        """
        if kind not in KINDS:
            raise KeyError(kind)
        if count <= 0:
            return
        if kind in self._kinds:
            self._kinds[kind].count += count
        else:
            self._kinds[kind] = Problem(count, first)

    def subtract(self, kind: str, count: int) -> None:
        """Count ``count`` fewer of ``kind``, which turned out to be none.

        Parameters
        ----------
        kind : str
            A key of :data:`KINDS`.
        count : int
            How many.
        """
        if count > 0 and kind in self._kinds:
            self._kinds[kind].count -= count
            if self._kinds[kind].count <= 0:
                del self._kinds[kind]

    def __getitem__(self, kind: str) -> Problem:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def as_dict(self) -> dict[str, dict[str, int | str]]:
        """Return ``{kind: {"count", "first"}}``, as reports hold it."""
        return {kind: {"count": p.count, "first": p.first} for kind, p in self.items()}

    def note(self) -> str:
        """Return how many records there were, of which kinds, and what times are, in a line for pictures.

        Returns
        -------
        str
            Empty if none was lost or changed.
        """
        known = LOSSLESS | UNITS.keys()
        lost = {kind: problem.count for kind, problem in self.items() if kind not in known}
        said = [UNITS[kind] for kind in self if kind in UNITS]
        if lost:
            many = sum(lost.values())
            were = "was" if many == 1 else "were"
            said.append(f"{counted(many, 'record')} {were} repaired or left out: {', '.join(lost)}")
        return "; ".join(said)

    def sentences(self) -> list[str]:
        """Return one line per kind for people."""
        return [f"{p.count:,} x {kind}: {KINDS[kind]} (first: {p.first})" for kind, p in self.items()]
