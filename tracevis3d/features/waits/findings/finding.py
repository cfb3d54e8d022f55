"""A finding, its kinds, and words that several of them need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....trace.model import Trace
from ..outcomes import FOLLOWS, HOW, INFERRED

if TYPE_CHECKING:
    from ..waits import Waits

#: Kinds of findings; those that can end a program's work come first, the others by the time lost to them.
KINDS = {
    "deadlock": "threads that wait to their end, each for an object that another of them holds",
    "broken deadlock": "threads that waited for each other until one of them gave up",
    "lock order": "objects that threads acquire in different orders: they can deadlock",
    "never released": "a wait that no release ends before its thread ends",
    "held to the end": "an object that is acquired and never released",
    "convoy": "threads that queue all the time for an object, which passes from one to the next",
    "held over I/O": "an object that others wait for while its holder reads or writes",
    "held over sleep": "an object that others wait for while its holder sleeps",
    "held over a wait": "an object that others wait for while its holder waits for work or a signal",
    "held over work": "an object that others wait for while its holder works, or waits to run",
    "starvation": "a thread that waits for an object while others get it repeatedly",
    "readers first": "threads that write and wait while others read what they share again and again",
    "one goes first": "a thread that gets an object repeatedly while several others wait for it",
    "comes last": "a thread for which the others at a barrier wait",
    "leader and followers": "threads that take turns at waiting for work, by an object that they pass on",
    "farmer and workers": "one thread that ends most of the waits of several others",
    "polling": "waits that end by themselves again and again",
    "given up": "a long wait that its thread gave up, or that failed",
    "does nothing": "a thread that only waits once, and releases nothing",
    "mostly idle": "threads that do little but wait",
    "outlier": "a call that takes far longer than other calls of its function",
}
#: Findings that cost threads time; the others are reported after them.
COSTLY = (
    "convoy", "held over I/O", "held over sleep", "held over a wait", "held over work", "readers first",
    "starvation", "one goes first", "comes last", "given up",
)  # fmt: skip
#: True of nearly every program whose main thread waits for others: they come last.
USUAL = ("does nothing", "mostly idle")
#: Findings that can end a program's work.
GRAVE = ("deadlock", "broken deadlock", "lock order", "never released", "held to the end")


@dataclass(frozen=True)
class Finding:
    """A finding about waits.

    Attributes
    ----------
    kind : str
        A key of :data:`KINDS`.
    sentence : str
    score_ns : int
        By what findings of a kind are ranked: time lost to it.
    threads : tuple of int
    objects : tuple of str
    start, end : int
        Nanoseconds.
    count : int
        Waits, holds or calls that it is about.
    call : int
        A call; -1: none.
    how : str
        How it is known: of :data:`..outcomes.HOW`.
    causes : tuple of (int, int, int, int)
        Who caused it: thread, function (-1: unknown), line (0: unknown) and nanoseconds of delay, the largest
        first.
    headline : str
        The sentence's point, where its beginning is not it.
    signal : int
        The release that came before a wait in vain, a row of the operations; -1: none is told.
    """

    kind: str
    sentence: str
    score_ns: int
    threads: tuple[int, ...]
    objects: tuple[str, ...]
    start: int
    end: int
    count: int
    call: int = -1
    how: str = HOW[FOLLOWS]
    causes: tuple[tuple[int, int, int, int], ...] = ()
    headline: str = ""
    signal: int = -1

    @property
    def title(self) -> str:
        """The point of the sentence in a few words, as a picture's title."""
        if self.headline:
            return self.headline
        point = self.sentence.split("; ")[0]
        point = _shortened(point if len(point) <= _TITLE else point.split(": ")[0])
        return point[0].upper() + point[1:] if point.startswith(_NO_NAMES) else point

    @property
    def heading(self) -> str:
        """The title of a picture about it, which says if it is only inferred."""
        return f"Probably: {self.title}" if self.how == HOW[INFERRED] else self.title


#: Maximum length of a title.
_TITLE = 110
#: How sentences begin that do not begin with a name, which keeps its first letter.
_NO_NAMES = ("one of ", "up to ")


def _shortened(text: str) -> str:
    """Return a title's text, which ends with a whole word and outside brackets if it is too long."""
    if len(text) <= _TITLE:
        return text
    whole = text[:_TITLE].rpartition(" ")[0]
    while whole.count("(") > whole.count(")"):
        whole = whole.rpartition("(")[0].rstrip()
    return f"{whole}…" if whole else text[:_TITLE]


def some(names: list[str], most: int = 4) -> str:
    """Return the first few names, and how many more there are.

    Parameters
    ----------
    names : list of str
    most : int

    Returns
    -------
    str
    """
    more = len(names) - most
    others = f" and {more:,} other{'s' if more > 1 else ''}" if more > 0 else ""
    return ", ".join(names[:most]) + others


def several(names: list[str], most: int = 4) -> str:
    """Return names joined for a sentence: a, b and c.

    Parameters
    ----------
    names : list of str
    most : int

    Returns
    -------
    str
    """
    if len(names) > most or len(names) < 2:
        return some(names, most)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def place(trace: Trace, function: int, line: int) -> str:
    """Return where in the code something is: a function, with file and line where they are known.

    Parameters
    ----------
    trace : Trace
    function : int
        -1: unknown.
    line : int
        0: unknown.

    Returns
    -------
    str
        Empty where the function is unknown.
    """
    if function < 0:
        return ""
    functions = trace.functions
    label, file = functions.label[function], int(functions.file[function])
    if file < 0 or line <= 0:
        return label
    path = trace.files[file].replace("\\", "/")
    # Of a package's own file its folder says which it is.
    name = "/".join(path.rsplit("/", 2)[-2:]) if path.endswith("/__init__.py") else path.rpartition("/")[2]
    return f"{label} ({name}:{line})"


def titles(waits: Waits, threads: list[int]) -> list[str]:
    """Return the names of threads.

    Parameters
    ----------
    waits : Waits
    threads : list of int

    Returns
    -------
    list of str
    """
    return [waits.trace.threads.title(t) for t in threads]
