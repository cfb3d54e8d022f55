"""Python's own profiler: the files that ``python -m cProfile -o`` writes.

Source: CPython's ``Lib/pstats.py``. They say how often and how long each function was called by each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....kernels.formats.scan import marshalled as m
from ....kernels.intern import InternedNames
from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...distinct import numbered
from ...unpack import whole
from ..call_graph import lay_columns
from ..documents import add_functions, finish
from ..marshal import load_python
from ..samples import COUNTED

if TYPE_CHECKING:
    from ....trace.model import Trace

_NS = 10**9
#: Calls, and seconds.
_MOST = (1 << 60) / _NS
#: The key by which Python 3.15's sampling profiler says that calls are samples, and lines those that ran.
_SAMPLED = ("__sampled__",)

Ints = NDArray[np.int64]


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

    Own times are exact, call paths are estimated. Samples of Python 3.15's profiling.sampling are counted.

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
        lambda: _take(bytes(data), recording),
        recording,
        "cProfile file",
        progress,
    )


@dataclass(frozen=True)
class _Profile:
    """A profile as columns.

    Of keys, as they appear, file and name as rows of texts, and line; of functions their key's row, calls or
    own samples, and own time; of callers both keys' rows, and the time.
    """

    texts: Sequence[str]
    file: Ints
    line: Ints
    name: Ints
    key: Ints
    calls: Ints
    own: NDArray[np.float64]
    caller: Ints
    callee: Ints
    time: NDArray[np.float64]
    is_sampled: bool = False


def _take(data: bytes, recording: Recording) -> None:
    said = _scanned(data)
    if said is None:
        said = _plain(load_python(data), recording)
    if not len(said.key):
        raise ValueError("it has no functions")
    function = _functions(said, recording)
    rows, which = numbered(function[said.key])
    own = np.bincount(which, said.own).astype(np.float64)
    thread = recording.thread(0, "main")
    if said.is_sampled:
        # A row is a line of a function.
        line = np.where((said.line > 0) & (said.line < 1 << 31), said.line, 0)[said.key]
        first = recording.add_stacks(function=function[said.key], parent=np.full(len(line), -1), line=line)
        weights = {"time (ns)": np.rint(_NS * said.own).astype(np.int64), COUNTED: said.calls}
    else:
        calls = np.zeros(len(rows), np.int64)
        np.add.at(calls, which, said.calls)
        first = recording.add_stacks(function=rows, parent=np.full(len(rows), -1))
        weights = {"time (ns)": np.rint(_NS * own).astype(np.int64), "calls": calls}
    for kind, weight in weights.items():
        recording.add_samples(
            thread=np.full(len(weight), thread),
            kind=np.full(len(weight), recording.text("samples", kind)),
            weight=weight,
            stack=first + np.arange(len(weight)),
        )
    lay_columns(
        recording, thread, (rows, own), (function[said.caller], function[said.callee], said.time), _NS
    )


def _scanned(data: bytes) -> _Profile | None:
    """Return what a file holds that is all as Python writes it; None for others."""
    column = np.frombuffer(data, np.uint8)
    room = len(data) // 8 + 1
    # Memory that is not written is not taken.
    state, values = np.zeros(m.STATE_SIZE, np.int64), np.empty(len(data) + 1, np.int64)
    kinds, texts = np.empty(len(data) + 1, np.uint8), np.empty((2, len(data) // 2 + 1), np.int64)
    keys, function = np.empty((3, room), np.int64), np.empty(room, np.int64)
    callee, caller = np.empty((2, room), np.int64)
    numbers, is_real = np.empty((2, 4, room), np.int64), np.empty((2, 4, room), np.bool_)
    arrays: tuple[Any, ...] = (kinds, values, *texts, *keys, function, numbers[0], is_real[0])
    arrays = (*arrays, callee, caller, numbers[1], is_real[1])
    if not m.scan_profile(column, state, *arrays):
        return None
    n_functions, n_callers = int(state[m.FUNCTIONS]), int(state[m.CALLERS])
    of_function = _numbers(numbers[0, :, :n_functions], is_real[0, :, :n_functions])
    of_caller = _numbers(numbers[1, :, :n_callers], is_real[1, :, :n_callers])
    if not ((np.abs(of_function) < _MOST).all() and (np.abs(of_caller) < _MOST).all()):
        return None
    begin, size = texts[:, : state[m.TEXTS]]
    interned = InternedNames()
    text, count = interned.all_of(column, begin, begin + size)
    # A key that is not flagged is written again and again.
    file, line, name = keys[:, : state[m.KEYS]]
    _, pair = numbered(text[file] << 32 | text[name])
    _, key = numbered(pair.astype(np.int64) << 32 | (line & 0xFFFFFFFF))
    # Keys are numbered in the order of their appearance.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(key), prepend=-1))
    index = key.astype(np.int64)
    return _Profile(
        texts=interned.texts(column, count),
        file=text[file[first]],
        line=line[first],
        name=text[name[first]],
        key=index[function[:n_functions]],
        calls=of_function[1].astype(np.int64),
        own=of_function[2],
        caller=index[caller[:n_callers]],
        callee=index[callee[:n_callers]],
        time=of_caller[3],
    )


def _numbers(bits: Ints, is_real: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(is_real, np.ascontiguousarray(bits).view(np.float64), bits.astype(np.float64))


def _plain(value: Any, recording: Recording) -> _Profile:
    """Return what a file holds whose values are of any kind, one after the other; others are counted."""
    if not isinstance(value, dict):
        raise ValueError("it is not a table of functions")
    keys: dict[Any, int] = {}
    own: list[tuple[int, int, float]] = []
    edges: list[tuple[int, int, float]] = []
    is_sampled = value.pop(_SAMPLED, None) is True
    for key, said in value.items():
        row = _four(said[:4]) if isinstance(said, tuple) and len(said) == 5 else None
        if not _is_key(key) or row is None:
            recording.problems.add("malformed", f"the function {str(key)[:60]}")
            continue
        function = keys.setdefault(key, len(keys))
        own.append((function, int(row[0 if is_sampled else 1]), float(row[2])))
        callers = said[4] if isinstance(said[4], dict) else {}
        counted = sum(edge for edge in callers.values() if _is_count(edge))
        for caller, edge in callers.items():
            # Where calls or samples are counted, the time is shared by them.
            shared = (1.0, 1.0, 0.0, row[3] * edge / counted) if _is_count(edge) else None
            times = shared or _four(edge)
            if not _is_key(caller) or times is None:
                recording.problems.add("malformed", f"a caller of {str(key)[:60]}")
                continue
            edges.append((keys.setdefault(caller, len(keys)), function, float(times[3])))
    key, calls, time = ([row[k] for row in own] for k in range(3))
    caller, callee, lasted = ([row[k] for row in edges] for k in range(3))
    whole = (np.array(column, np.int64) for column in (key, calls, caller, callee))
    texts: dict[str, int] = {}
    file, name = (np.array([texts.setdefault(key[k], len(texts)) for key in keys], np.int64) for k in (0, 2))
    # Lines of any size are read.
    line = np.array([max(-1 << 31, min(key[1], 1 << 31)) for key in keys], np.int64)
    return _Profile(
        [*texts], file, line, name,
        next(whole), next(whole), np.array(time), next(whole), next(whole), np.array(lasted), is_sampled,
    )  # fmt: skip


def _is_count(said: Any) -> bool:
    return type(said) is int and 0 < said < _MOST


def _four(said: Any) -> tuple[float, ...] | None:
    """Return counts and times of a row; None if it is none."""
    if not (isinstance(said, tuple) and len(said) == 4):
        return None
    # NaN is not below the limit either.
    is_good = all(type(one) in (int, float) and abs(one) < _MOST for one in said)
    return said if is_good else None


def _is_key(key: Any) -> bool:
    """Return whether something is ``(file, line, name)``."""
    is_three = isinstance(key, tuple) and len(key) == 3
    return is_three and isinstance(key[0], str) and isinstance(key[1], int) and isinstance(key[2], str)


def _functions(said: _Profile, recording: Recording) -> Ints:
    """Return the function of each key."""
    texts = ["" if text == "~" else text for text in said.texts]
    has_file = np.array([*map(bool, texts)], np.bool_)[said.file]
    name = np.where(has_file, said.name, said.name + len(texts))
    line = np.zeros_like(said.line) if said.is_sampled else said.line
    return add_functions(recording, [*texts, *map(_built_in, said.texts)], name, said.file, line)


def _built_in(name: str) -> str:
    """Return what is called so that has no file."""
    is_quoted = name.startswith("<") and name.endswith(">")
    return name[1:-1].removeprefix("built-in method ") if is_quoted else name


FORMAT = registry.Format(
    name="cprofile",
    title="cProfile file",
    suffixes=(".prof", ".pstats", ".pstat", ".cprof"),
    sniff=sniff,
    read=read,
    programs="Python's cProfile, profile and profiling.sampling",
    recipe=(
        "python -m cProfile -o run.prof script.py",
        "python3.15 -m profiling.sampling run -a --pstats -o run.pstats script.py",
    ),
    left_out="paths of calls, which the format does not have, are estimated",
)
