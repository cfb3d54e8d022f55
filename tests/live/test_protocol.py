"""Messages: what is encoded is decoded, and whatever else comes is refused in one sentence."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.live import protocol as p

TEXT = st.text(max_size=20)
WHOLE = st.integers(0, 2**60)


def columns(table: str, n: int, seed: int) -> dict:
    rng = np.random.default_rng(seed)
    made = {}
    for name, dtype, least, most in p.TABLES[table]:
        if dtype == "<f8":
            made[name] = rng.normal(size=n)
        else:
            low, high = (0, 2**62) if least is None else (least, min(most, 2**62))
            made[name] = rng.integers(low, high, n, endpoint=True).astype(dtype)
    if "end" in made:
        made["end"] = np.maximum(made["end"], made["start"])
    return made


MESSAGES = st.one_of(
    st.builds(p.Welcome, TEXT, TEXT, st.integers(0, 2**30), WHOLE),
    st.builds(p.Names, st.sampled_from(["functions", "objects", "operations", "counters"]),
              st.integers(0, 1000), st.lists(TEXT, max_size=5).map(tuple)),
    st.builds(p.Names, st.just("threads"), st.integers(0, 100),
              st.lists(st.tuples(st.integers(0, 9) | TEXT, st.integers(0, 9), TEXT), max_size=4).map(tuple)),
    st.builds(p.Alive, WHOLE, WHOLE, WHOLE),
    st.builds(p.Ended, WHOLE, WHOLE),
    st.builds(p.Refused, TEXT),
)  # fmt: skip


@given(MESSAGES)
@settings(deadline=None)
def test_messages_come_back(message) -> None:
    assert p.decode(p.encode(message)) == message


@given(st.sampled_from((p.Hello(1, 5), p.Credit(7), p.Ask(), p.Bye())))
def test_viewers_messages_come_back(message) -> None:
    assert p.decode_from_viewer(p.encode(message)) == message


@given(st.sampled_from(sorted(p.TABLES)), st.integers(1, 50), st.integers(0, 2**32))
@settings(deadline=None)
def test_batches_come_back(table, n, seed) -> None:
    made = columns(table, n, seed)
    back = p.decode(p.encode(p.Batch(table, 3, 4, 5, made)))
    assert isinstance(back, p.Batch)
    assert (back.table, back.sequence, back.dropped, back.now, len(back)) == (table, 3, 4, 5, n)
    for name, column in made.items():
        assert np.array_equal(back.columns[name], column)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["t", "version", "session", "program", "pid", "start", "table", "first", "names", "rows", "sequence",
     "dropped", "now", "why", "credit", "count"]
)  # fmt: skip
VALUES = JSON | st.sampled_from(
    ["batch", "names", "welcome", "alive", "end", "calls", "sync", "functions", "threads"]
)


@given(
    st.binary(max_size=60)
    | st.dictionaries(FIELDS, VALUES, max_size=9).map(lambda d: json.dumps(d).encode()),
    st.lists(st.binary(max_size=40), max_size=18),
)
@settings(deadline=None, max_examples=600)
def test_nothing_else_gets_through(head, frames) -> None:
    for decode in (p.decode, p.decode_from_viewer):
        try:
            message = decode([head, *frames])
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            assert len(str(error)) < 400  # noqa: PT017
        else:
            assert not isinstance(message, p.Batch) or len(message) > 0


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ([], "a message has 0 frames"),
        ([b"x"] * 17, "a message has 17 frames"),
        ([b"[" * 100_000], "a header is longer than 65,536 bytes"),
        ([b"[" * 60_000], "a header is not JSON"),
        ([b'{"t":"welcome","version":2}'], "version 2 is spoken, 1 is known here"),
        ([b'{"t":"welcome","version":1,"session":7}'], 'field "session": not a text'),
        ([b'{"t":"alive","sequence":true}'], 'field "sequence": True is not a whole number'),
        ([b'{"t":"alive","sequence":1e3}'], "1000.0 is not a whole number"),
        ([b'{"t":"batch","table":"callz","rows":1}'], "'callz' is not one of calls"),
        ([b'{"t":"batch","table":"calls","rows":99999999}'], "not a whole number from 1"),
        ([b'{"t":"batch","table":"calls","rows":1}'], "has 4 columns, not 0"),
        ([b'{"t":"batch","table":"calls","rows":1}', b"\0", b"2", b"3", b"4"], "column thread of calls"),
        ([b'{"t":"batch","table":"calls","rows":1,"sequence":0,"dropped":0,"now":0}', b"\2", bytes(4),
          bytes(4), bytes(8)], "a value is outside 0 to 1"),
        ([b'{"t":"batch","table":"counters","rows":1,"again":1}', bytes(4), bytes(8), bytes(8)],
         'field "again": 1 is neither true nor false'),
        ([b'{"t":"names","table":"functions","first":-1,"names":[]}'], "not a whole number from 0"),
        ([b'{"t":"names","table":"threads","first":0,"names":[[1,2]]}'], "a thread is not a list"),
        ([b'{"t":"names","table":"frames","first":3,"names":[[0,3,1]]}'], "a frame is not a list"),
    ],
)  # fmt: skip
def test_the_sentence_names_the_place(message, reason) -> None:
    with pytest.raises(InputError) as caught:
        p.decode(message)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [("calls", "kind", 2), ("calls", "thread", 2**20), ("calls", "function", 2**31),
     ("calls", "time", 2**63 - 1),
     ("sync", "kind", 3), ("sync", "object", -2), ("memory", "size", -1), ("counters", "value", np.nan)],
)  # fmt: skip
def test_values_are_checked(table, name, value) -> None:
    made = columns(table, 5, 1)
    made[name] = made[name].copy()
    made[name][2] = value
    with pytest.raises(InputError, match=f"column {name} of {table}"):
        p.decode(p.encode(p.Batch(table, 0, 0, 0, made)))


def test_what_ends_before_it_starts() -> None:
    made = columns("sync", 3, 1)
    made["start"] = made["end"] + 1
    with pytest.raises(InputError, match="ends before it starts"):
        p.decode(p.encode(p.Batch("sync", 0, 0, 0, made)))


@given(
    MESSAGES
    | st.builds(
        lambda table, n, seed: p.Batch(table, 1, 2, 3, columns(table, n, seed)),
        st.sampled_from(sorted(p.TABLES)),
        st.integers(1, 9),
        st.integers(0, 99),
    ),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 300), st.integers(0, 255)), min_size=1, max_size=6),
)
@settings(deadline=None, max_examples=400)
def test_real_messages_with_bytes_changed(message, changes) -> None:
    frames = [bytearray(frame) for frame in p.encode(message)]
    for which, place, value in changes:
        frame = frames[which % len(frames)]
        if place < len(frame):
            frame[place] = value
        else:
            del frame[-1:]
    try:
        found = p.decode(frames)
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    if isinstance(found, p.Batch):
        for (name, _, least, most), column in zip(p.TABLES[found.table], found.columns.values(), strict=True):
            assert len(column) == len(found), name
            assert least is None or (column.min() >= least and column.max() <= most), name
