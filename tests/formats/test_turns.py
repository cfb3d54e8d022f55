"""Begins and ends of threads' turns, held against lists."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.formats.lay import threads as k
from tracevis3d.kernels.formats.lay.turns import find_who_runs


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), *[st.integers(-1, 2)] * 5, st.integers(0, 1)), max_size=14))
def test_who_runs_is_whom_the_last_switch_of_the_processor_began(rows):
    is_switch, comes, other, leaves, name, runs, cpu = np.array(rows, np.int64).reshape(-1, 7).T.copy()
    other = other + 1
    said = [column.copy() for column in (leaves, name, runs)]
    find_who_runs(is_switch.astype(bool), cpu, comes, other, *said, *np.full((2, 2), -1, np.int64))
    for row in range(len(rows)):
        last = max((k for k in range(row) if is_switch[k] and cpu[k] == cpu[row]), default=-1)
        running = comes[last] if last >= 0 else -1
        knows = is_switch[row] and leaves[row] < 0
        assert said[0][row] == (max(running, 0) if knows else leaves[row])
        assert said[1][row] == (other[last] if knows and last >= 0 else name[row])
        known = max(running, 0) if is_switch[row] else running
        assert said[2][row] == (known if runs[row] < 0 else runs[row])


def plainly_laid(rows, marks, lives):
    """Return the events of threads: each one's number, line, kind, function, time, and until when it sleeps.

    Calls are functions 10 and above, sleeping is 1, being off the core 2, a thread's life 20 and its number.
    """
    events, seen = [], {}

    def paired(some):
        """Return begins that are followed, of the same thread, directly by an end; and those."""
        for at, (who, is_begin, row) in enumerate(some):
            later = next((one for one in some[at + 1 :] if one[0] == who), None)
            if who > 0 and is_begin and later and not later[1]:
                yield who, row, later[2]

    switches = [row for row in rows if row[k.KIND] == k.SWITCH]
    turns = [(row[who], who == k.LEAVES, row) for row in switches for who in (k.LEAVES, k.COMES)]
    for who, begin, end in paired(turns):
        asleep = begin[k.ASLEEP] != 0
        until = end[k.TIME] if asleep else None
        events.append((who, begin[k.LINE], 0, k.BEGIN, 1 if asleep else 2, begin[k.TIME], until))
        events.append((who, end[k.LINE], 0.5, k.END, -1, end[k.TIME], None))
    called = [row for row in rows if row[k.KIND] in (k.ENTRY, k.EXIT)]
    # The call 1 is one that makes a thread.
    called = [
        row for row in called if not (row[k.KIND] == k.EXIT and row[k.RETURNS] == 0 and row[k.CALL] == 1)
    ]
    for who, begin, end in paired([(row[k.RUNS], row[k.KIND] == k.ENTRY, row) for row in called]):
        events.append((who, begin[k.LINE], 0, k.BEGIN, 10 + begin[k.CALL], begin[k.TIME], None))
        events.append((who, end[k.LINE], 0, k.END, -1, end[k.TIME], None))
    for line, time, who, kind, function in marks:
        if who > 0:
            events.append((who, line, 0, kind, function, time, None))
    mentions = [(row[k.RUNS], row[k.LINE], row[k.TIME]) for row in rows]
    mentions += [(row[k.COMES], row[k.LINE], row[k.TIME]) for row in switches]
    mentions += [(who, line, time) for line, time, who, *_ in marks]
    for who, line, time in sorted(mentions, key=lambda one: one[1]):
        seen.setdefault(who, []).append((line, time))
    for who, places in seen.items():
        if who > 0 and who in lives:
            events.append((who, places[0][0], -1, k.BEGIN, 20 + who, places[0][1], None))
            events.append((who, places[-1][0], 1, k.END, -1, places[-1][1], None))
    events.sort(key=lambda event: event[:3])
    return [(who, line, kind, function, time, until) for who, line, _, kind, function, time, until in events]


FEW = st.integers(-1, 3)
ROW = st.tuples(
    st.sampled_from([k.SWITCH] * 4 + [k.WAKING, k.ENTRY, k.ENTRY, k.EXIT, k.EXIT]),
    FEW, st.integers(0, 3), st.integers(0, 2), FEW,
)  # fmt: skip
MARK = st.tuples(FEW, st.sampled_from([k.BEGIN, k.END]))


@settings(max_examples=300, deadline=None)
@given(st.lists(ROW | MARK, max_size=24), st.sets(st.integers(1, 3)), st.booleans())
def test_events_of_threads_are_those_of_pairs_in_turn(said, lives, is_wide):
    rows, marks = [], []
    wide = 1 << 40 if is_wide else 1
    for line, one in enumerate(said):
        if len(one) == 2:
            who, kind = one
            marks.append((line, 3 * line, who * wide, kind, 7 if kind == k.BEGIN else -1))
            continue
        kind, leaves, comes, third, runs = one
        is_call = kind in (k.ENTRY, k.EXIT)
        rows.append(
            (line, 3 * line, 0, kind, leaves * wide, comes if is_call else comes * wide, third, runs * wide)
        )
    table, ids = np.full(64, -1, np.int32), np.empty(16, np.int64)
    threads = np.full((16, k.THREAD_COLUMNS), -1, np.int64)
    threads[:, k.EVENTS] = 0
    columns = np.array(rows, np.int64).reshape(-1, k.ROW_COLUMNS).T.copy()
    of_marks = np.array(marks, np.int64).reshape(-1, k.MARK_COLUMNS).T.copy()
    who, of_mark = np.empty((3, len(rows)), np.int32), np.empty(len(marks), np.int32)
    ends, clones = np.full(len(rows), -1, np.int64), np.array([False, True, False])
    none = np.empty(0, np.int64)
    short = k.survey_threads(
        columns, of_marks, clones, table.copy(), none, threads[:0].copy(), who, of_mark, ends.copy()
    )
    assert short == (-1 if said else 0)
    count = k.survey_threads(columns, of_marks, clones, table, ids, threads, who, of_mark, ends)
    ids, threads = ids[:count], threads[:count]
    life = np.array([20 + one // wide if one // wide in lives else -1 for one in ids.tolist()], np.int32)
    life[threads[:, k.FIRST] < 0] = -1
    many = threads[:, k.EVENTS] + 2 * (life >= 0)
    place, order = np.empty(count, np.int64), np.argsort(ids)
    place[order] = np.cumsum(many[order]) - many[order]
    n = int(many.sum())
    thread, function = np.full((2, n), -9, np.int32)
    line, time, until = np.full((3, n), -9, np.int64)
    kind, is_asleep = np.full(n, 9, np.uint8), np.zeros(n, np.bool_)
    k.lay_threads(
        columns, of_marks, who, of_mark, ends, threads, life, 1, 2, np.array([10, 11, 12], np.int32), place,
        np.zeros(count, np.bool_), thread, line, kind, function, time, is_asleep, until,
    )  # fmt: skip
    found = zip((ids[thread] // wide).tolist(), *(one.tolist() for one in (line, kind, function, time)),
                (end if asleep else None for end, asleep in zip(until.tolist(), is_asleep)))  # fmt: skip

    def narrow(row):
        row = list(row)
        row[k.LEAVES], row[k.RUNS] = row[k.LEAVES] // wide, row[k.RUNS] // wide
        if row[k.KIND] == k.SWITCH:
            row[k.COMES] //= wide
        return row

    plain = plainly_laid(
        [*map(narrow, rows)], [(at, ns, one // wide, *rest) for at, ns, one, *rest in marks], lives
    )
    assert [*found] == plain
