"""Python's own profiler: the files that ``python -m cProfile -o`` writes.

Source: CPython's ``Lib/pstats.py``. They say how often and how long each function was called by each other.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...unpack import whole
from ..call_graph import lay_call_graph
from ..documents import add_function, finish
from ..marshal import load_python

if TYPE_CHECKING:
    from ....trace.model import Trace

_NS = 10**9
_LONGEST = 1 << 60


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are a marshalled table whose first key is file, line and function.

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
    if len(head) < 16 or head[0] & 0x7F != ord("{"):
        return registry.NO
    is_key = (head[1] & 0x7F == ord(")") and head[2] == 3) or (
        head[1] & 0x7F == ord("(") and head[2:6] == b"\3\0\0\0"
    )
    return registry.SURE if is_key else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of Python's own profiler.

    Own times are exact, call paths are estimated.

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
    InputError
        If it is damaged, or holds no function.
    """
    recording = Recording()
    data = whole(path, recording.problems, part(progress, 0, 0.2))
    return finish(
        path,
        lambda: _take(load_python(bytes(data)), recording),
        recording,
        "cProfile file",
        progress,
    )


def _take(value: Any, recording: Recording) -> None:
    if not isinstance(value, dict):
        raise ValueError("it is not a table of functions")
    functions: dict[Any, int] = {}
    own: dict[int, float] = {}
    edges: dict[tuple[int, int], float] = {}
    calls: dict[int, int] = {}
    for key, said in value.items():
        function = _function(key, functions, recording)
        row = _four(said[:4]) if isinstance(said, tuple) and len(said) == 5 else None
        if function < 0 or row is None:
            recording.problems.add("malformed", f"the function {str(key)[:60]}")
            continue
        own[function] = own.get(function, 0.0) + float(row[2])
        calls[function] = calls.get(function, 0) + int(row[1])
        callers = said[4] if isinstance(said[4], dict) else {}
        for caller_key, edge in callers.items():
            caller = _function(caller_key, functions, recording)
            times = _four(edge)
            if caller < 0 or times is None:
                recording.problems.add("malformed", f"a caller of {str(key)[:60]}")
                continue
            edges[caller, function] = edges.get((caller, function), 0.0) + float(times[3])
    if not own:
        raise ValueError("it has no functions")
    thread = recording.thread(0, "main")
    rows = list(own)
    first = recording.add_stacks(function=rows, parent=np.full(len(rows), -1))
    stack = first + np.arange(len(rows))
    for kind, weight in (
        ("time (ns)", [round(_NS * own[f]) for f in rows]),
        ("calls", [calls[f] for f in rows]),
    ):
        number = np.full(len(rows), recording.text("samples", kind))
        recording.add_samples(thread=np.full(len(rows), thread), kind=number, weight=weight, stack=stack)
    lay_call_graph(recording, thread, own, edges, _NS)


def _four(said: Any) -> tuple[float, ...] | None:
    """Return counts and times of a row; None if it is none."""
    if not (isinstance(said, tuple) and len(said) == 4):
        return None
    # NaN is not below the limit either.
    is_good = all(type(one) in (int, float) and abs(one) < _LONGEST / _NS for one in said)
    return said if is_good else None


def _function(key: Any, functions: dict[Any, int], recording: Recording) -> int:
    """Return the function of ``(file, line, name)``; -1 for a key of another form."""
    if not (isinstance(key, tuple) and len(key) == 3):
        return -1
    file, line, name = key
    if not (isinstance(file, str) and isinstance(name, str) and isinstance(line, int)):
        return -1
    if key not in functions:
        file = "" if file == "~" else file
        line = line if file and 0 < line < 1 << 31 else 0
        if not file and name.startswith("<") and name.endswith(">"):
            name = name[1:-1].removeprefix("built-in method ")
        functions[key] = add_function(recording, name, file, line)
    return functions[key]


FORMAT = registry.Format(
    name="cprofile",
    title="cProfile file",
    suffixes=(".prof", ".pstats", ".pstat", ".cprof"),
    sniff=sniff,
    read=read,
    programs="Python's cProfile and profile",
    recipe=("python -m cProfile -o run.prof script.py",),
    left_out="paths of calls, which the format does not have, are estimated",
)
