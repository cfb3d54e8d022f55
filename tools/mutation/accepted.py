"""Which changes are known to change nothing that matters, and which of these match no change any more."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

from .changes import mutants_at, places_of
from .subjects import LIBRARY, modules

ACCEPTED = Path(__file__).with_name("mutants.toml")


def accepted_of(name: str) -> set[tuple[str, str]]:
    """Return the changes of a module that are known to change nothing that matters: line, and its change.

    No change stands for any.
    """
    known = tomllib.loads(ACCEPTED.read_text())
    return {(one["line"], new) for one in known.get(name, []) for new in one.get("becomes", [""])}


def stale(source: str, accepted: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those accepted changes that none of the changes of a source is."""
    lines = {old for old, _ in accepted}
    numbers = {number for number, line in enumerate(source.splitlines(), 1) if line.strip() in lines}
    # One by one: of those that mean the same only the first would be made.
    made = [mutant for place in places_of(source, numbers) for mutant in mutants_at(source, [place])]
    return accepted - {(mutant.old, new) for mutant in made for new in (mutant.new, "")}


def print_stale(word: str) -> bool:
    """Print which accepted changes of the modules that a pattern stands for match none; whether any do."""
    found = False
    for name in filter(lambda name: fnmatch(name, word or "*"), tomllib.loads(ACCEPTED.read_text())):
        source = (LIBRARY / name).read_text() if name in modules() else ""
        for old, new in sorted(stale(source, accepted_of(name))):
            found = True
            print(f"{name}: no change is\n    {old}\n    {new or 'of any kind'}")
    return found
