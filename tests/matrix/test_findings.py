"""What a matrix says in its title and callouts, against plain twins."""

from __future__ import annotations

from statistics import median
from types import SimpleNamespace

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d import units
from tracevis3d.features.matrix.findings import findings


def made(cells, verb, within=0):
    """Return a table: of functions that call functions, of threads that wait for threads, or of rounds."""
    many, columns = len(cells), len(cells[0])
    words = {"calls": ("calling function", "called function"), "waits for": ("thread", "waker")}
    rows, across = words.get(verb, ("round", "thread" if verb == "on" else "stage"))
    names = [f"f{i}" for i in range(max(many, columns))]
    return SimpleNamespace(
        rows=SimpleNamespace(what=rows, names=names[:many], of="request"),
        columns=SimpleNamespace(what=across, names=names[:columns]), flat=np.array(cells, np.float64),
        verb=verb, of="calls" if verb == "calls" else "time", write=units.count, within=within,
    )  # fmt: skip


def plain_findings(cells, verb, within):
    """Return (sentence, row, column, ridge)."""
    many, columns = len(cells), len(cells[0])
    if verb in ("calls", "waits for"):
        found = [plain_largest(cells, verb, within), plain_hub(cells, verb)]
        words = ("calling function", "called function") if verb == "calls" else ("thread", "waker")
    else:
        found = [plain_slow_round(cells, verb), plain_slow_column(cells)]
        words = ("round", "thread" if verb == "on" else "stage")
    row, column = max(((r, c) for r in range(many) for c in range(columns)),
                      key=lambda at: (cells[at[0]][at[1]], -at[0], -at[1]))  # fmt: skip
    said = f"{units.counted(many, words[0])} and {units.counted(columns, words[1])}"
    return [one for one in found if one] or [(said, row, column, "")]


def plain_largest(cells, verb, within):
    every = {(r, c): value for r, row in enumerate(cells) for c, value in enumerate(row)}
    apart = {at: value for at, value in every.items() if at[0] != at[1]}
    left_out = verb == "calls" and sum(apart.values()) > 0
    of = apart if left_out else every
    whole = sum(of.values())
    if not whole:
        return None
    (r, c), value = max(of.items(), key=lambda one: (one[1], -one[0][0], -one[0][1]))
    share = units.percentage(value / whole)
    said = f"f{r} waits longest for f{c}: {units.count(value)}, {share} of all waiting"
    if verb == "calls":
        said = f"f{r} calls f{c} most: {units.count(value)} calls, {share} of all"
        said += " between different parts" * bool(within or whole < sum(every.values()))
    return said, r, c, ""


def plain_hub(cells, verb):
    used = [sum(row[c] > 0 for row in cells) for c in range(len(cells[0]))]
    top = used.index(max(used))
    if used[top] < 5 or 10 * used[top] < 6 * len(cells):
        return None
    verb, what = {"calls": ("is called by", "function"), "waits for": ("is waited for by", "thread")}[verb]
    most = max(range(len(cells)), key=lambda r: (cells[r][top], -r))
    return f"f{top} {verb} {used[top]} of {len(cells)} {what}s", most, top, ""


def plain_slow_round(cells, verb):
    takes = [max(row) if verb == "on" else sum(row) for row in cells]
    if not any(takes):
        return None
    usual, top = median(one for one in takes if one), takes.index(max(takes))
    if takes[top] < 2 * usual:
        return None
    most = cells[top].index(max(cells[top]))
    where, ridge = f" on f{most}" if verb == "on" else f", mostly in f{most}", ""
    ran = [value for value in cells[top] if value]
    slow = [value for value in ran if value >= 2 * usual]
    if verb == "on" and len(slow) > 1 and 2 * len(slow) >= len(ran):
        ridge, many = "row", f"{len(slow)} of {len(ran)}"
        if len(slow) == len(ran):
            many = "both" if len(ran) == 2 else f"all {len(ran)}"
        where = f"; it is slow on {many} threads"
    times = units.count(float(f"{takes[top] / usual:.2g}"))
    said = f"Round f{top} of request takes {units.count(takes[top])}, {times} times the median{where}"
    return said, top, most, ridge


def plain_slow_column(cells):
    columns, slowest = len(cells[0]), [row.index(max(row)) for row in cells if any(row)]
    if columns < 2 or not slowest:
        return None
    counts = [slowest.count(c) for c in range(columns)]
    top = counts.index(max(counts))
    if 2 * counts[top] * columns <= 3 * len(slowest):
        return None
    most = max(range(len(cells)), key=lambda r: (cells[r][top], -r))
    share = units.percentage(counts[top] / len(slowest))
    return f"f{top} takes longest in {share} of the rounds of request", most, top, "column"


@st.composite
def tables(draw):
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    values = draw(st.sampled_from([[0, 1], [0, 0, 1, 2, 3], [10, 10, 10, 20, 21, 5], [0, 7, 90]]))
    row = st.lists(st.sampled_from(values), min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


@given(tables(), st.sampled_from(["calls", "waits for", "on", "takes"]), st.sampled_from([0, 3]))
@example([[5, 0], [1, 4]], "calls", 0)
@example([[5, 0], [0, 4]], "calls", 3)
@example([[1, 0]] * 5, "calls", 0)
@example([[1, 0]] * 4, "calls", 0)
@example([[1, 0]] * 6 + [[0, 1]] * 4, "waits for", 0)
@example([[1, 0]] * 5 + [[0, 1]] * 4, "waits for", 0)
@example([[1, 1, 0], [1, 1, 0], [2, 2, 9], [0, 0, 0]], "on", 0)
@example([[1, 1], [1, 1], [2, 2]], "on", 0)
@example([[1, 1, 1, 1], [1, 1, 1, 1], [2, 2, 1, 1]], "on", 0)
@example([[1, 1, 1], [1, 1, 1], [2, 2, 2], [0, 0, 0], [0, 0, 0]], "on", 0)
@example([[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [2, 2, 1, 1, 1]], "on", 0)
@example([[0, 0], [0, 0]], "on", 0)
@example([[0, 0], [0, 0]], "calls", 0)
@example([[2, 1], [1, 2], [2, 1], [2, 1]], "takes", 0)
@example([[2, 1], [1, 2], [2, 1], [2, 1], [2, 1]], "takes", 0)
@settings(max_examples=250, deadline=None)
def test_what_is_said_is_that_of_the_plain_twin(cells, verb, within):
    found = [(one.sentence, one.row, one.column, one.ridge) for one in findings(made(cells, verb, within))]
    assert found == plain_findings(cells, verb, within)


def test_those_without_a_row_of_their_own_are_nobody():
    table = made([[9, 1, 90], [0, 9, 80], [95, 96, 97]], "calls", 3)
    assert "f2" in findings(table)[0].sentence
    table.rows.names[-1] = table.columns.names[-1] = "98 more"
    first = findings(table)[0]
    assert (first.row, first.column) == (0, 1)
    assert first.sentence.startswith("f0 calls f1 most: 1 calls")
    table.flat[1, 0] = 5
    assert findings(table)[0].sentence.startswith("f1 calls f0 most: 5 calls")
    # Where nobody else does anything, they are what there is.
    table.flat[:2, :2] = 0
    assert "98 more" in findings(table)[0].sentence


def test_what_stands_for_several_is_no_hub():
    cells = [[0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 1]]
    table = made(cells, "waits for")
    assert [one.column for one in findings(table)[1:]] == [2]
    table.columns.names[-1] = "98 more"
    assert [one.sentence for one in findings(table)[1:]] == ["f1 is waited for by 5 of 6 threads"]
