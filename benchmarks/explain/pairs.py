"""Pairs of recordings with one known change, of the programs in the folder ``programs``."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Kinds of findings that tell each kind of change.
TOLD = {
    "only": ("only", "alone", "unmatched"),
    "more": ("repetitions",),
    "order": ("order",),
    "moved": ("moved",),
    "slower": ("slower",),
    "faster": ("faster",),
    "stall": ("stall",),
    "renamed": ("renamed",),
    "wrapped": ("wrapped",),
    "noise": ("stall", "drift", "pace", "alike"),
}


class Pair(NamedTuple):
    """A program, and what differs between its two recordings; see ``pairs.toml`` and the files beside it.

    Attributes
    ----------
    name, change : str
        The kind of change, and the change as a sentence.
    program : str
        A file of the folder ``programs``.
    kinds : tuple of str
        Kinds of findings that tell the change.
    functions, follows : tuple of str
        Functions one of which such a finding names, and patterns of others that differ because of it.
    edits : tuple of (str, str)
        Texts of the program, and what takes their place in B.
    slow_start : bool
        Whether B has to compile all modules that it imports.
    """

    name: str
    change: str
    program: str
    kinds: tuple[str, ...]
    functions: tuple[str, ...]
    follows: tuple[str, ...]
    edits: tuple[tuple[str, str], ...]
    slow_start: bool

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of A's program and of B's."""
        text = edited = (HERE / "programs" / f"{self.program}.py").read_text()
        for old, new in self.edits:
            assert edited.count(old) == 1, f"{self.name}: {edited.count(old)} times: {old}"
            edited = edited.replace(old, new)
        return text, edited


def pairs(name: str = "pairs") -> list[Pair]:
    """Return the pairs of ``pairs.toml``, or of another file beside it."""
    rows = tomllib.loads((HERE / f"{name}.toml").read_text())["pair"]
    return [
        Pair(
            row["name"],
            row["change"],
            row["program"],
            tuple(kind for told in row["told"].split(" or ") for kind in TOLD[told]),
            tuple(row.get("functions", ())),
            tuple(row.get("follows", ())),
            tuple((edit["old"], edit["new"]) for edit in row.get("edit", ())),
            row.get("slow_start", False),
        )
        for row in rows
    ]


def record(pair: Pair, folder: Path) -> tuple[Path, Path]:
    """Record both programs of a pair into ``folder``; return the recordings."""
    found = []
    for side, text in zip("ab", pair.texts):
        place = folder / side
        place.mkdir(parents=True, exist_ok=True)
        script, output = place / f"{pair.program}.py", folder / f"{side}.json.gz"
        script.write_text(text)
        words = [sys.executable, "-m", "tracevis3d", "record", "-q", "-o", str(output), "--", str(script)]
        # The order of sets is a change of its own: in `email` it decides whether a pattern is compiled anew.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        if pair.slow_start and side == "b":
            environment["PYTHONPYCACHEPREFIX"] = str(place / "cache")
        subprocess.run(words, check=True, env=environment, cwd=folder, capture_output=True)
        found.append(output)
    return found[0], found[1]
