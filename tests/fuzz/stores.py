"""What is fuzzed of the store: hostile numbers with right checksums, and files with changed bytes."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import numpy as np

from tests.fuzz.damage import damaged
from tests.fuzz.readers import FINDS, ROOT, check, one_sentence
from tracevis3d import api
from tracevis3d.errors import TraceVisError
from tracevis3d.trace.storage import container, store


class Stores:
    """The reader of .tv3 files."""

    name = "tv3"

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return stored traces in both forms, and earlier finds."""
        kept = [*(ROOT / "tests" / "data" / "kept").glob("*.tv3"), *FINDS.glob("tv3_*")]
        return [(".tv3", path.read_bytes()) for path in sorted(kept)]

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return a stored trace with other numbers in its columns, or with other bytes."""
        if pick.random() < 0.3:
            return damaged(data, others, pick)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.tv3"
            path.write_bytes(data)
            try:
                found = container.read(path, "trace")
            except TraceVisError:
                return damaged(data, others, pick)
            facts = json.loads(json.dumps(found.facts))
            columns = {name: column.copy() for name, column in found.columns.items()}
            names = sorted(name for name in columns if len(columns[name]))
            for _ in range(pick.choice((1, 1, 2, 5))):
                _spoil(columns, pick.choice(names), pick)
            container.write(path, "trace", facts, columns)
            return path.read_bytes()

    def try_one(self, path: Path) -> None:
        """Load ``path``, and compute what looks at all of it."""
        try:
            trace = store.load(path)
        except TraceVisError as error:
            one_sentence(error)
            return
        assert store.find_wrong(trace) == ""
        check(trace)
        api.info(trace)
        try:
            api.view("icicle", trace).drawing()
        except TraceVisError as error:
            one_sentence(error)


def _spoil(columns: dict[str, np.ndarray], name: str, pick: random.Random) -> None:
    column = columns[name]
    if not len(column):
        return
    at = pick.randrange(len(column))
    if pick.random() < 0.1:
        columns[name] = column[: pick.randrange(len(column))]
    elif column.dtype.kind == "f":
        column[at] = pick.choice((np.nan, np.inf, -1.0, 1e308))
    else:
        low, high = int(np.iinfo(column.dtype).min), int(np.iinfo(column.dtype).max)
        value = pick.choice(
            (int(column[at]) + pick.randrange(-3, 4), low, high, pick.randrange(low, high + 1))
        )
        column[at] = min(max(value, low), high)
