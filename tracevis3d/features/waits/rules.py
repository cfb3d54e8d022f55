"""Rules that say which names wait, which release and which transfer: the kinds of SyncTrace, section III-A.

The rules that come with the library are in ``rules/``: those of single programs, and ``default.toml``, which
says what a rule may hold. Rules of the user's own files go before them.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import translate
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...errors import InputError, UsageError
from ...machine.bounds import check_written
from ...trace.model import IO, RELEASE, WAIT
from ...units import read_time

#: What a rule may say that a name is; ``other`` is not one of the kinds of :data:`...trace.model.SYNC_KINDS`.
KINDS = {"wait": WAIT, "release": RELEASE, "io": IO, "other": -1}
#: What releases give and waits want by default.
GIFT = "object"
#: What a rule looks like.
_WRITE = """write [[rule]], names = ["MyPool::take*"], kind = "wait", as docs/threads.md shows"""
#: What a thread waits for: what another one holds, work to do, the signal or the result of another one, or
#: only for time to pass.
STATES = ("contention", "idle", "signal", "sleep")


@dataclass(frozen=True)
class Rule:
    """The meaning of operations of some names; the fields are those of ``rule_files/default.toml``.

    Attributes
    ----------
    names : tuple of str
        Patterns of functions' or operations' names.
    kind : str
        ``wait``, ``release``, ``io``, or ``other``.
    object : str
        The name of what calls act on that record no object, as a pattern; empty: it is not known.
    holds : bool
        Whether who has waited holds the object then.
    wants : str
        The gift that a wait is for.
    gives : str
        The gift that a release gives at its start, or a wait at its end; empty: none.
    all : bool
        Whether it waits for all of its objects, not for any.
    thread : str
        How the object names a thread whose end is waited for; empty: it names none.
    within : tuple of str
        Patterns of functions: only calls directly below these count.
    blocks : int
        Nanoseconds: waits that take less did not block, where that is not recorded.
    own : bool
        Whether it is one of the user's files.
    one : bool
        Whether what a release gives goes to one wait alone: an item, a place.
    state : str
        One of :data:`STATES`; empty: contention where it holds, else a signal.
    """

    names: tuple[str, ...]
    kind: str = "other"
    object: str = ""
    holds: bool = False
    wants: str = GIFT
    gives: str = ""
    all: bool = False
    thread: str = ""
    within: tuple[str, ...] = ()
    blocks: int = 5_000
    own: bool = False
    one: bool = False
    state: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The names, as one regular expression."""
        return _pattern(self.names)

    @cached_property
    def callers(self) -> re.Pattern[str] | None:
        """The functions directly below which calls count; None: any."""
        return _pattern(self.within) if self.within else None

    @property
    def waits_for(self) -> int:
        """What it waits for, an index into :data:`STATES`."""
        return STATES.index(self.state or ("contention" if self.holds else "signal"))

    @property
    def gift(self) -> str:
        """What it gives: releases give the object unless the rule says otherwise, waits nothing."""
        return self.gives or (GIFT if self.kind == "release" else "")


@dataclass(frozen=True)
class FlowRule:
    """Arrows of these names wake the thread that they come to.

    Attributes
    ----------
    names : tuple of str
        Patterns of arrows' names.
    object : str
        How the object is named.
    """

    names: tuple[str, ...]
    object: str = "tasks of {target}"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The names, as one regular expression."""
        return _pattern(self.names)


@dataclass(frozen=True)
class Rules:
    """Rules in the order in which they are tried.

    Attributes
    ----------
    rules : tuple of Rule
        Of calls and recorded operations.
    flows : tuple of FlowRule
        Of arrows.
    """

    rules: tuple[Rule, ...]
    flows: tuple[FlowRule, ...]

    def key(self) -> str:
        """Return a text that is the same for the same rules."""
        return repr((self.rules, self.flows))


def _pattern(names: Iterable[str]) -> re.Pattern[str]:
    # In fnmatch brackets are sets of characters; in names they are brackets.
    return re.compile("|".join(f"(?:{translate(name.replace('[', '[[]'))})" for name in names) or r"(?!)")


@lru_cache(maxsize=1)
def default_rules() -> Rules:
    """Return the rules that come with the library: those of single programs first."""
    folder = Path(__file__).parent / "rule_files"
    rules: list[Rule] = []
    flows: list[FlowRule] = []
    for path in sorted(folder.glob("*.toml"), key=lambda path: (path.stem == "default", path.stem)):
        found = _parse(tomllib.loads(path.read_text(encoding="utf-8")), str(path), own=False)
        rules += found.rules
        flows += found.flows
    return Rules(tuple(rules), tuple(flows))


def read_rules(paths: Sequence[str | os.PathLike[str]] = ()) -> Rules:
    """Return the rules of the files at ``paths`` (TOML or JSON), in their order, then the library's own.

    Parameters
    ----------
    paths : sequence of path
        TOML or JSON.

    Returns
    -------
    Rules

    Raises
    ------
    InputError
        If a file can't be read, or says something that no rule says.
    """
    rules: list[Rule] = []
    flows: list[FlowRule] = []
    for path in paths:
        check_written(Path(path), "rules", _WRITE)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(f"{path}: the rules can't be read: {reason}") from error
        try:
            read = json.loads(text) if str(path).endswith(".json") else tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: the rules can't be understood: {error}: {_WRITE}") from error
        found = _parse(read, str(path), own=True)
        rules += found.rules
        flows += found.flows
    known = default_rules()
    return Rules((*rules, *known.rules), (*flows, *known.flows))


def _parse(read: Any, path: str, own: bool) -> Rules:
    if not isinstance(read, dict) or not set(read) <= {"rule", "flow"}:
        raise InputError(f"{path}: a rule file may only contain [[rule]] and [[flow]] tables: {_WRITE}")
    rules = [
        Rule(own=own, **_fields(entry, Rule, path, f"rule {i + 1}"))
        for i, entry in enumerate(_tables(read, "rule", path))
    ]
    flows = [
        FlowRule(**_fields(entry, FlowRule, path, f"flow {i + 1}"))
        for i, entry in enumerate(_tables(read, "flow", path))
    ]
    return Rules(tuple(rules), tuple(flows))


def _tables(read: Mapping[str, Any], name: str, path: str) -> list[Any]:
    tables = read.get(name, [])
    if not isinstance(tables, list):
        raise InputError(f"{path}: {name} is not a list of tables: write [[{name}]]")
    return tables


def _fields(entry: Any, made: type, path: str, place: str) -> dict[str, Any]:
    """Return the fields of a rule, checked."""
    if not isinstance(entry, dict):
        raise InputError(f"{path}: {place} is not a table: {_WRITE}")
    known = {field.name: field for field in fields(made) if field.name != "own"}
    given: dict[str, Any] = {}
    for name, value in entry.items():
        if name not in known:
            raise InputError(f"{path}: {place}: there is no field {name!r}, only {', '.join(known)}")
        if name in ("names", "within"):
            if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
                raise InputError(f'{path}: {place}: {name} is not a list of texts: write {name} = ["…"]')
            value = tuple(value)
        elif name == "blocks":
            value = _nanoseconds(value, path, place)
        elif not isinstance(value, bool if name in ("holds", "all", "one") else str):
            raise InputError(f"{path}: {place}: {name} = {value!r} is of the wrong type: {_WRITE}")
        given[name] = value
    if not given.get("names"):
        raise InputError(f"{path}: {place}: names are missing: {_WRITE}")
    if made is Rule and given.get("kind") not in KINDS:
        raise InputError(f"{path}: {place}: kind is not one of {', '.join(KINDS)}")
    if given.get("state") and given["state"] not in STATES:
        raise InputError(f"{path}: {place}: state is not one of {', '.join(STATES)}")
    return given


def _nanoseconds(value: Any, path: str, place: str) -> int:
    try:
        return max(read_time("blocks", str(value)), 0)
    except UsageError as error:
        raise InputError(f"{path}: {place}: {error}") from None
