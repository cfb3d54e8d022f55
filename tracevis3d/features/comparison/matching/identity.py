"""Which functions of two traces are the same (the identity F of TraceDiff, section III)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ....errors import InputError, MissingDependency, UsageError
from ....trace.model import Trace
from ....units import percentage
from ....views.everywhere.rewrite import substitute
from .defaults import IDENTITIES, IDENTITY

#: Names of identities.
KINDS = tuple(IDENTITIES)
#: ``auto`` takes full names if they share at least this fraction of the calls that plain names share.
EXACT_ENOUGH = 0.9
#: Score (0 to 100) from which two names may be those of one function that was renamed.
SIMILAR_ENOUGH = 80.0
#: Python's name for code outside of functions.
_MODULE = "<module>"
#: Maximum number of functions of each trace considered as renamed, those with the most calls first.
MOST_RENAMED = 4000
#: What a file of pairs looks like.
_WRITE = """write [{"a": "old name", "b": "new name"}]"""


@dataclass(frozen=True)
class Renamed:
    """Two names that represent one function.

    Attributes
    ----------
    a, b : str
        The function's key in either trace: as recorded, or without path and line where the identity is
        ``name``.
    score : float
        0 to 100: how similar the names are (rapidfuzz's ratio); 100 for a pair that was given.
    """

    a: str
    b: str
    score: float = 100.0


@dataclass(frozen=True, eq=False)
class Identity:
    """Common ids of the functions of two traces.

    Attributes
    ----------
    kind : str
        ``exact`` or ``name``.
    reason : str
        One sentence: why this kind, and what it shares.
    names : list of str
        Of each common id.
    a, b : int32 (functions of A,), (functions of B,)
        Common id of each function.
    shared_functions : int
        Common ids that both traces have.
    shared_calls : tuple of float
        For each trace: share of its calls whose function the other trace has too.
    renamed : list of Renamed
        The pairs that were taken for one function.
    asked : str
        The kind that was requested: ``auto``, ``exact`` or ``name``.
    rewrite : tuple of (str, str)
        Regular expressions and their replacements that were applied.
    given : tuple of Renamed
        Those of ``renamed`` that were given.
    fuzzy : float or None
        The score from which on names were paired.
    """

    kind: str
    reason: str
    names: list[str]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    shared_functions: int
    shared_calls: tuple[float, float]
    renamed: list[Renamed] = field(default_factory=list)
    asked: str = IDENTITY
    rewrite: tuple[tuple[str, str], ...] = ()
    given: tuple[Renamed, ...] = ()
    fuzzy: float | None = None

    def __len__(self) -> int:
        return len(self.names)


def without_place(name: str, file: str = "") -> str:
    """Return a recorded function name without the path and line at its end.

    Parameters
    ----------
    name : str
        Such as ``Parser.parse (/usr/lib/x.py:12)``.
    file : str
        The function's file, if known: then the line may be missing.

    Returns
    -------
    str
    """
    if not name.endswith(")"):
        return name
    start = name.find(f" ({file}") if file else -1
    if start > 0:
        rest = name[start + 2 + len(file) : -1]
        if not rest or (rest[0] == ":" and rest[1:].isdigit()):
            return name[:start]
    start = name.find(" (")
    while start > 0:
        place = name[start + 2 : -1]
        path, _, line = place.rpartition(":")
        if path and line.isdigit() and path.count("(") == path.count(")"):
            return name[:start]
        start = name.find(" (", start + 1)
    return name


def identify(
    a: Trace,
    b: Trace,
    kind: str = IDENTITY,
    *,
    rewrite: Iterable[Sequence[str]] = (),
    renamed: Iterable[Renamed] = (),
    fuzzy: float | None = None,
) -> Identity:
    """Give the functions of two traces common ids.

    Parameters
    ----------
    a, b : Trace
    kind : str
        ``exact``: the full recorded names are equal. ``name``: they are equal without path and line.
        ``auto``: ``exact`` if that shares at least nine tenths of the calls that ``name`` shares, in the
        trace where it shares less; else ``name``. With ``exact``, functions of one name in files of one
        name are the same too, though their folders or lines differ; and where lines are those that ran, as
        py-spy writes them, functions are the same whatever line ran.
    rewrite : pairs of str
        Regular expressions and their replacements, applied to the recorded names, in turn, before.
    renamed : Renamed
        Pairs of names that represent one function; they may come from :func:`similar_names`, edited.
    fuzzy : float, optional
        Also pair, by :func:`similar_names`, names that only one trace has, from this score on.

    Returns
    -------
    Identity

    Raises
    ------
    UsageError
        If ``kind``, a rule or a pair is off.
    MissingDependency
        If ``fuzzy`` is given and rapidfuzz is not installed.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no identity {kind!r}: choose one of {', '.join(KINDS)}")
    rules = list(rewrite)
    full = [_rewritten(trace, rules) for trace in (a, b)]
    given = tuple(renamed)
    calls = [np.bincount(t.calls.function, minlength=len(t.functions)).astype(np.int64) for t in (a, b)]
    plain = [_plain(trace, names) for trace, names in zip((a, b), full)]
    if kind == "auto" and not given and any(map(_has_lines_that_ran, (a, b), plain)):
        full = [list(map(_without_line, *names)) for names in zip(full, plain)]
    by_full, by_name = _shares(full, calls), _shares(plain, calls)
    if kind == "auto":
        chosen = "exact" if min(by_full) >= EXACT_ENOUGH * min(by_name) else "name"
        why = (
            f"{chosen}: full names are shared by {_percent(by_full)} of the calls, "
            f"names without path and line by {_percent(by_name)}"
        )
    else:
        chosen = kind
        why = (
            f"{kind}: as requested; shared by {_percent(by_full if kind == 'exact' else by_name)} of the "
            "calls"
        )
    keys = full if chosen == "exact" else plain
    pairs = list(given)
    _check_pairs(pairs, keys)
    if fuzzy is not None:
        pairs += _similar(keys, calls, pairs, fuzzy)
    target = {pair.a: pair.b for pair in pairs}
    moved: dict[str, str] = {}
    if kind == "auto" and chosen == "exact":
        moved = _moved_in_files(full, plain)
        target = {**moved, **target}
    keys = [[target.get(key, key) for key in keys[0]], keys[1]]
    ids: dict[str, int] = {}
    a_ids, b_ids = (np.array([ids.setdefault(key, len(ids)) for key in k], np.int32) for k in keys)
    return Identity(
        kind=chosen,
        reason=why
        + (f"; {len(moved):,} by name and file alone" if moved else "")
        + (f"; {len(pairs):,} treated as renamed" if pairs else ""),
        names=list(ids),
        a=a_ids,
        b=b_ids,
        shared_functions=len(set(keys[0]) & set(keys[1])),
        shared_calls=_shares(keys, calls),
        renamed=pairs,
        asked=kind,
        rewrite=tuple((pattern, replacement) for pattern, replacement in rules),
        given=given,
        fuzzy=fuzzy,
    )


def similar_names(a: Trace, b: Trace, kind: str = "name", *, least: float = SIMILAR_ENOUGH) -> list[Renamed]:
    """Return pairs of names that only one trace has each and that may be those of a renamed function.

    The most similar names are paired first, each name once. To be shown to a person, who edits the pairs
    and hands them to :func:`identify`.

    Parameters
    ----------
    a, b : Trace
    kind : str
        The identity whose names are compared.
    least : float
        Lowest score, 0 to 100.

    Returns
    -------
    list of Renamed
        The most similar first.
    """
    identity = identify(a, b, kind, fuzzy=least)
    return identity.renamed


def read_renamed(path: str | os.PathLike[str]) -> list[Renamed]:
    """Read pairs of names from a JSON file: a list of objects with the texts ``a`` and ``b``.

    Parameters
    ----------
    path : path
        The JSON file.

    Returns
    -------
    list of Renamed

    Raises
    ------
    InputError
        If it can't be read, or holds something else.
    """
    try:
        pairs = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}: {_WRITE}") from None
    if not isinstance(pairs, list):
        raise InputError(f"{path}: a list of pairs of names is expected: {_WRITE}")
    renamed = []
    for i, pair in enumerate(pairs):
        if not (isinstance(pair, dict) and isinstance(pair.get("a"), str) and isinstance(pair.get("b"), str)):
            raise InputError(f"{path}: pair {i + 1} is not an object with the texts 'a' and 'b': {_WRITE}")
        renamed.append(Renamed(pair["a"], pair["b"]))
    return renamed


def _rewritten(trace: Trace, rules: list[Sequence[str]]) -> list[str]:
    names = list(trace.functions.name)
    return substitute(names, rules) if rules else names


def _plain(trace: Trace, names: list[str]) -> list[str]:
    files = list(trace.files)
    of = trace.functions.file.tolist()
    return [without_place(name, files[file] if file >= 0 else "") for name, file in zip(names, of)]


def _has_lines_that_ran(trace: Trace, plain: list[str]) -> bool:
    """Return whether lines in names are those that ran: a file's own code begins in its first."""
    return any(name == _MODULE and line > 1 for name, line in zip(plain, trace.functions.line.tolist()))


def _without_line(name: str, plain: str) -> str:
    """Return a recorded name without the line at its end, with its file."""
    head, _, line = name.rpartition(":")
    return f"{head})" if len(name) > len(plain) and line[:-1].isdigit() else name


def _shares(keys: list[list[str]], calls: list[NDArray[np.int64]]) -> tuple[float, float]:
    """Return for each trace the share of its calls whose key the other has; 0 for a trace without calls."""
    both = set(keys[0]) & set(keys[1])
    shares = []
    for names, count in zip(keys, calls):
        shared = np.fromiter((name in both for name in names), np.bool_, len(names))
        shares.append(float(count[shared].sum() / max(int(count.sum()), 1)))
    return shares[0], shares[1]


def _percent(shares: tuple[float, float]) -> str:
    return " and ".join(percentage(share, 3) for share in shares)


def _moved_in_files(full: list[list[str]], plain: list[list[str]]) -> dict[str, str]:
    """Pair functions whose full names only one trace has, if just folder or line differ: in order of lines.

    Those of a name are paired if both traces have equally many of them in files of one name. A file's own
    code, which Python calls ``<module>`` in each, is paired where another function of its file is, or where
    the file's folder is called the same: ``venv/bin/pytest``.
    """
    known = [set(names) for names in full]
    sides: list[dict[tuple[str, str], list[tuple[str, int, str]]]] = []
    for s in range(2):
        of: dict[tuple[str, str], list[tuple[str, int, str]]] = {}
        for name, short in dict.fromkeys(zip(full[s], plain[s])):
            place = name[len(short) + 2 : -1]
            path, _, line = place.rpartition(":")
            if not (path and line.isdigit()):
                path, line = place, "0"
            if name not in known[1 - s] and path:
                file = path.replace("\\", "/").rpartition("/")[2]
                of.setdefault((short, file), []).append((path, int(line), name))
        sides.append(of)
    found = [
        (short, one, other)
        for (short, file), mine in sides[0].items()
        if len(mine) == len(sides[1].get((short, file), ()))
        for one, other in zip(sorted(mine), sorted(sides[1][short, file]))
    ]
    files = {(one[0], other[0]) for short, one, other in found if short != _MODULE}
    return {
        one[2]: other[2]
        for short, one, other in found
        if short != _MODULE or (one[0], other[0]) in files or _folder(one[0]) == _folder(other[0]) != ""
    }


def _folder(path: str) -> str:
    """Return the name of the folder that a file is in."""
    return path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]


def _check_pairs(pairs: list[Renamed], keys: list[list[str]]) -> None:
    for trace, known, names in (("first", set(keys[0]), [p.a for p in pairs]),
                                ("second", set(keys[1]), [p.b for p in pairs])):  # fmt: skip
        for name in names:
            if name not in known:
                raise UsageError(f"the {trace} trace has no function {name!r} that could be renamed")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"the function {twice!r} of the {trace} trace is renamed twice")


def _similar(
    keys: list[list[str]], calls: list[NDArray[np.int64]], given: list[Renamed], least: float
) -> list[Renamed]:
    """Pair the names that only one trace has, the most similar first, each once."""
    if not 0 < least <= 100:
        raise UsageError(f"the score {least:g} of similar names is not between 0 and 100")
    try:
        from rapidfuzz import fuzz, process
    except ImportError as error:
        raise MissingDependency(
            f"rapidfuzz can't be imported ({error}): install it with 'pip install rapidfuzz' to pair names "
            "that are similar"
        ) from None
    taken = [{pair.a for pair in given}, {pair.b for pair in given}]
    only = [
        _most_called(keys[i], calls[i], set(keys[1 - i]) | taken[i]) for i in (0, 1)
    ]  # fmt: skip
    if not only[0] or not only[1]:
        return []
    scores = process.cdist(only[0], only[1], scorer=fuzz.ratio, score_cutoff=least, dtype=np.float32)
    rows, columns = np.nonzero(scores)
    order = np.lexsort((columns, rows, -scores[rows, columns]))
    free = [set(range(len(names))) for names in only]
    pairs = []
    for row, column in zip(rows[order].tolist(), columns[order].tolist()):
        if row in free[0] and column in free[1]:
            free[0].remove(row)
            free[1].remove(column)
            pairs.append(Renamed(only[0][row], only[1][column], round(float(scores[row, column]), 1)))
    return pairs


def _most_called(names: list[str], calls: NDArray[np.int64], left_out: set[str]) -> list[str]:
    """Return the names with the most calls, without those in ``left_out``."""
    counted: dict[str, int] = {}
    for name, count in zip(names, calls.tolist()):
        if name not in left_out:
            counted[name] = counted.get(name, 0) + count
    return sorted(counted, key=lambda name: (-counted[name], name))[:MOST_RENAMED]
