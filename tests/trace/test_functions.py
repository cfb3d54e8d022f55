"""The functions of a trace that is being read, against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.formats.names import split
from tracevis3d.trace.functions import FunctionTable
from tracevis3d.trace.model import CONTAINER_KINDS

NAMES = ("main (a.py:1)", "f", "b.C.m", "g (b.py)", "<module> (pkg/c.py:3)")
PATHS = ((), (("module", "m"),), (("package", "p"), ("module", "p.m")), (("package", "p"),))
FILES = ("", "a.py", "/x/b.py")
LINES = (0, 7, -3, 1 << 31, 1 << 40)

DETAILS = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(("", "f", "é")), st.sampled_from(PATHS),
    st.sampled_from(FILES), st.sampled_from(LINES),
)  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("name"), st.sampled_from(NAMES)),
        st.tuples(st.just("one"), DETAILS, st.booleans()),
        st.tuples(st.just("columns"), st.lists(DETAILS, max_size=6)),
    ),
    max_size=6,
)


def plain(steps, left_out):
    """Return a row for each function that stays, with its path of containers and its file as texts."""
    known = {}
    for step in steps:
        if step[0] == "name":
            known.setdefault(step[1], None)
            continue
        rows = [step[1]] if step[0] == "one" else step[1]
        for name, label, path, file, line in rows:
            line = line if 0 < line < 1 << 31 else 0
            label = None if step[0] == "one" and step[2] else label
            if step[0] == "columns" and not file:
                said = None
            else:
                said = (label, path, file, line) if label is not None or path or file or line else None
            known[name] = known.get(name) or said
    rows = []
    for number, (name, said) in enumerate(known.items()):
        if number not in left_out:
            label, path, file, line = said or (None, (), "", 0)
            if label is None or not path or not file:  # else the name is not asked
                own = split(name)
                label = own.label if label is None else label
                path, file, line = path or own.containers, file or own.file, line or own.line
            rows.append((name, label, path, file, line))
    return rows


def filled(steps):
    table = FunctionTable()
    for step in steps:
        before = [*table]
        if step[0] == "name":
            number = [table.add(step[1])]
            names = [step[1]]
        elif step[0] == "one":
            name, label, path, file, line = step[1]
            number = [table.add(name, None if step[2] else label, path, file, line)]
            names = [name]
        else:
            names, labels, paths, files, lines = ([row[k] for row in step[1]] for k in range(5))
            number = table.add_columns(
                names, labels, PATHS, np.array([*map(PATHS.index, paths)], np.int64),
                FILES, np.array([*map(FILES.index, files)], np.int64), np.array(lines, np.int64),
            ).tolist()  # fmt: skip
        assert [[*table][k] for k in number] == names
        assert [*table][: len(before)] == before
    return table


def path_of(containers, row):
    found = []
    while row >= 0:
        found.append((CONTAINER_KINDS[containers.kind[row]], containers.name[row]))
        row = int(containers.parent[row])
    return tuple(reversed(found))


@given(STEPS, st.sets(st.integers(0, 4), max_size=2))
def test_functions_are_those_of_the_plain_twin(steps, left_out):
    table = filled(steps)
    kept = np.array([-1 if number in left_out else 0 for number in range(len(table))], np.int64)
    functions, containers, files = table.tables(kept, split)
    rows = plain(steps, left_out)
    columns = (functions.name, functions.label, functions.container, functions.file, functions.line)
    told = [
        (name, label, path_of(containers, int(container)), files[file] if file >= 0 else "", int(line))
        for name, label, container, file, line in zip(*columns, strict=True)
    ]
    assert told == rows
    # Files and containers appear in the order in which functions name them, each once.
    assert [*files] == [*dict.fromkeys(row[3] for row in rows if row[3])]
    assert len({path_of(containers, row) for row in range(len(containers))}) == len(containers)


def test_known_functions_and_those_that_are_not():
    table = filled([("name", "f"), ("columns", [("g", "g", (), "a.py", 3)])])
    assert (table.known("f"), table.known("g"), table.known("h"), len(table)) == (0, 1, -1, 2)


@pytest.mark.parametrize("names", [["f"], ["f", "f"], ["f", "g", "h"]])
def test_columns_of_different_lengths_are_refused(names):
    two = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="of the same length"):
        FunctionTable().add_columns(names, ["f"], PATHS, two, FILES, two, two)
