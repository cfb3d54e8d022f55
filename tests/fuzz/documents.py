"""What is fuzzed of the files that people write: stories, panels, rules, pattern libraries and batches."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np

from tests.fuzz.damage import damaged
from tests.fuzz.readers import FINDS, ROOT, one_sentence
from tracevis3d.analysis import pattern_library
from tracevis3d.commands import batch as command
from tracevis3d.commands.pictures import panels
from tracevis3d.errors import TraceVisError
from tracevis3d.features.city import rule_file
from tracevis3d.features.waits import rules
from tracevis3d.stories import batch, cluster
from tracevis3d.stories import read as stories

#: Files that hold one of each kind; of a page of the documentation its blocks of YAML.
_SEEDS = {
    ".story.yaml": "docs/films.md",
    ".panels.yaml": "docs/figures.md",
    ".city.toml": "examples/city_rules.toml",
    ".waits.toml": "tracevis3d/features/waits/rule_files/*.toml",
    ".library.json": "tests/data/kept/patterns.json",
}
_BATCH = b"""# two runs
render compare old.json.gz new.json.gz -o 'the difference.png'  # as it is printed
tracevis3d info old.json.gz --json
"""


class Documents:
    """The readers of all of them; a file's name says in its last but one suffix what it is."""

    name = "documents"

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return a file of each kind, and earlier finds."""
        found = [(".batch.txt", _BATCH)]
        for suffix, pattern in _SEEDS.items():
            for path in sorted(ROOT.glob(pattern)):
                data = path.read_bytes()
                within = re.findall(rb"```yaml\n(.*?)```", data, re.DOTALL)
                found += [(suffix, one) for one in (within if path.suffix == ".md" else [data])]
        return found + [("".join(path.suffixes), path.read_bytes()) for path in FINDS.glob("documents_*")]

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return a file with damage."""
        return damaged(data, others, pick)

    def try_one(self, path: Path) -> None:
        """Read ``path``, and do what needs no trace."""
        kind = path.suffixes[-2]
        try:
            _TRY[kind](path)
        except TraceVisError as error:
            one_sentence(error)


def _story(path: Path) -> None:
    again = path.with_name("again.yaml")
    again.write_text(stories.as_text(stories.read(path)), "utf-8")
    try:
        stories.read(again)
    except TraceVisError as error:
        raise AssertionError(f"what is written is not read: {error}") from error


def _panels(path: Path) -> None:
    asked, words = panels._asked([str(path)])
    panels._frame(words, len(asked))


def _city(path: Path) -> None:
    for rule in rule_file.read_rules(str(path)).rules:
        rule.fits(["a.b.c", "", "List::take(int)"], lambda field: np.zeros(3))


def _waits(path: Path) -> None:
    found = rules.read_rules([path])
    for rule in (*found.rules, *found.flows):
        rule.pattern.match("Lock.acquire")


def _library(path: Path) -> None:
    known = pattern_library.load(path)
    again = path.with_name("again.json")
    pattern_library.save(known, again)
    assert pattern_library.load(again) == known


def _batch(path: Path) -> None:
    lines = batch.read(path)
    for line in lines:
        command._check(line, str(path))
    batch.check(lines, cluster.LOCAL)


_TRY = {
    ".story": _story,
    ".panels": _panels,
    ".city": _city,
    ".waits": _waits,
    ".library": _library,
    ".batch": _batch,
}
