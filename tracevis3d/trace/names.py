"""Displayed names of the functions and threads of a trace, and finding a thread by its name."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .model import Trace

#: Characters of a thread's title beside its lane.
LONGEST_TITLE = 36
#: Minimum number of characters kept of a process's name.
_LEAST_PROCESS = 8


@dataclass(frozen=True)
class FunctionWords:
    """The displayed name of a function.

    Attributes
    ----------
    label : str
    module : str
        The containers that it is in, outermost first; empty if unknown.
    file : str
        Empty if unknown.
    line : int
        0 if unknown.
    """

    label: str
    module: str = ""
    file: str = ""
    line: int = 0


def words_of(trace: Trace, function: int) -> FunctionWords:
    """Return the displayed name of a function of ``trace``.

    Parameters
    ----------
    trace : Trace
    function : int
        Its index.

    Returns
    -------
    FunctionWords
    """
    functions = trace.functions
    path: list[str] = []
    container = int(functions.container[function]) if len(functions.container) else -1
    while container >= 0:
        path.append(trace.containers.name[container])
        container = int(trace.containers.parent[container])
    # A package's name is often the beginning of its module's.
    path = [name for i, name in enumerate(path) if not i or not path[i - 1].startswith(name)]
    file = int(functions.file[function]) if len(functions.file) else -1
    return FunctionWords(
        functions.label[function],
        ".".join(reversed(path)),
        trace.files[file] if file >= 0 else "",
        int(functions.line[function]) if len(functions.line) else 0,
    )


def label_of_call(trace: Trace, call: int) -> str:
    """Return the short name of the function that a call is of.

    Parameters
    ----------
    trace : Trace
    call : int
        Its index.

    Returns
    -------
    str
    """
    return trace.functions.label[int(trace.calls.function[call])]


def place_of(words: FunctionWords) -> str:
    """Return file and line of a function, the file with its last folder: enough to know it by."""
    parts = words.file.replace("\\", "/").split("/")
    file = words.file if len(parts) <= 3 else "…/" + "/".join(parts[-2:])
    return file + (f":{words.line}" if words.file and words.line else "")


def call_site(trace: Trace, function: int, line: int) -> str:
    """Return what the place of a call in the source is called: the caller with its file and the line.

    Parameters
    ----------
    trace : Trace
    function : int
        The caller; -1 if unknown.
    line : int
        0 if unknown.

    Returns
    -------
    str
        For example ``parse (core.py:12)``.
    """
    if function < 0:
        return "(call site unknown)"
    label = trace.functions.label[function]
    file = int(trace.functions.file[function])
    base = trace.files[file].replace("\\", "/").rpartition("/")[2] if file >= 0 else ""
    if base:
        return f"{label} ({base}:{line})" if line else f"{label} ({base})"
    return f"{label}:{line}" if line else label


def named_threads(trace: Trace, text: str, parameter: str = "threads") -> NDArray[np.int64]:
    """Return the threads that ``text`` names, in its order; ``parameter`` is what it was given for.

    Parameters
    ----------
    trace : Trace
    text : str
        Names, titles and ids with commas between them; ``*`` represents anything.
    parameter : str
        For the message.

    Returns
    -------
    int64 (k,)
        Their numbers, each once.

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    threads = trace.threads
    names = _words(trace)
    chosen: dict[int, None] = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        hits = [t for t, words in enumerate(names) if word in words]
        hits = hits or [t for t, words in enumerate(names) if any(fnmatchcase(w, word) for w in words)]
        if not hits:
            some = ", ".join(threads.title(t) for t in range(min(len(threads), 8)))
            more = ", …" if len(threads) > 8 else ""
            raise UsageError(f"{parameter}={text}: no thread is called {word!r}; there are {some}{more}")
        chosen.update(dict.fromkeys(hits))
    if not chosen:
        raise UsageError(f"{parameter}={text}: names and ids of threads are expected")
    return np.array(list(chosen), np.int64)


def word_of_thread(trace: Trace, thread: int) -> str:
    """Return the text by which :func:`named_threads` finds just one thread: id, title, or process and id.

    Parameters
    ----------
    trace : Trace
    thread : int
        Its number.

    Returns
    -------
    str
    """
    words = _words(trace)
    _, tid, title, both = words[thread]
    for word in (tid, title, both):
        if [t for t, known in enumerate(words) if word in known] == [thread] and not set(word) & set(",*?[;"):
            return word
    return both


def _words(trace: Trace) -> list[tuple[str, str, str, str]]:
    """Return the texts by which each thread can be found."""
    threads = trace.threads
    return [
        (threads.name[t], str(threads.tid[t]), threads.title(t), f"{threads.process[t]}:{threads.tid[t]}")
        for t in range(len(threads))
    ]


def lane_title(trace: Trace, thread: int, longest: int = LONGEST_TITLE) -> str:
    """Return the text beside a lane: the thread's title, after its process if there are several.

    Titles longer than ``longest`` are shortened, their processes' names first.

    Parameters
    ----------
    trace : Trace
    thread : int
        Its number.
    longest : int
        Characters.

    Returns
    -------
    str
    """
    threads = trace.threads
    title, tid = threads.title(thread), f" ({threads.tid[thread]})"
    if len(set(threads.process)) > 1:
        process = str(threads.process_name[thread] or threads.process[thread])
        room = max(longest - len(title) - 3, _LEAST_PROCESS)
        title = f"{process if len(process) <= room else process[: room - 1] + '…'} · {title}"
    if len(title) <= longest:
        return title
    # The id is kept, because it distinguishes threads with one name.
    tail = tid if title.endswith(tid) else ""
    return f"{title[: longest - 1 - len(tail)]}…{tail}"


#: The name of the moment at which a viewer joined a running program late.
JOINED_LATE = "a viewer joined late"
#: The instant of a feed's end as far as a viewer knows, while the program goes on.
RUNS_ON = "the program goes on"


def known_from(trace: Trace) -> int:
    """Return the time from which a trace is complete: a viewer of a feed may have joined late.

    Of what was before it knows what was still open or lived when the viewer joined.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    int
        Nanoseconds; 0: it knows all.
    """
    return max(_instants(trace, JOINED_LATE), default=0)


def runs_on(trace: Trace) -> bool:
    """Return whether the program went on behind a trace's end: what had not ended then may have, later.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    bool
    """
    return bool(_instants(trace, RUNS_ON))


def _instants(trace: Trace, name: str) -> list[int]:
    """Return the times of the instants of a name."""
    instants = trace.instants
    if name not in instants.names:
        return []
    which = [known == name for known in instants.names]
    return [int(t) for n, t in zip(instants.name, instants.time, strict=True) if which[n]]
