"""Protobuf's wire format, held against a plain twin; damaged messages."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.formats.wire import Messages, Taken
from tracevis3d.kernels.formats.protobuf.fields import find_records
from tracevis3d.trace.problems import Problems


def varint(number):
    out = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def written(fields):
    """Bytes of fields: (number, int), (number, bytes), or (number, list of int) packed."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value if isinstance(value, bytes) else b"".join(map(varint, value))
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


numbers = st.integers(-(1 << 63), (1 << 63) - 1)
fields = st.lists(
    st.tuples(st.integers(1, 4), st.one_of(numbers, st.binary(max_size=6), st.lists(numbers, max_size=4))),
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(fields, max_size=4))
def test_fields_are_those_that_were_written(messages):
    problems = Problems()
    outer = Messages.of(written([(7, written(one)) for one in messages]), problems)
    inner, owner = outer.inner(7)
    assert owner.tolist() == [0] * len(messages)
    plain = [(i, number, value) for i, one in enumerate(messages) for number, value in one]
    assert inner.message.tolist() == [i for i, _, _ in plain]
    assert inner.number.tolist() == [number for _, number, _ in plain]
    for row, (_, _, value) in enumerate(plain):
        if isinstance(value, int):
            assert inner.value[row] == value
            assert inner.size[row] == -1
        else:
            data = value if isinstance(value, bytes) else b"".join(map(varint, value))
            at = inner.value[row]
            assert inner.data[at : at + inner.size[row]].tobytes() == data
    assert not problems
    for number in range(1, 5):
        whole = [one for one in messages if all(isinstance(v, bytes) is False for n, v in one if n == number)]
        if len(whole) == len(messages):
            value, message = inner.whole_numbers(number)
            expected = [
                (i, x) for i, n, v in plain if n == number for x in ([v] if isinstance(v, int) else v)
            ]
            assert list(zip(message.tolist(), value.tolist(), strict=True)) == expected


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_read_up_to_their_damage(data):
    problems = Problems()
    found = Messages.of(data, problems)
    ends = np.where(found.size >= 0, found.value + np.maximum(found.size, 0), 0)
    assert (ends <= len(data)).all()
    assert sum(p.count for p in problems.values()) <= 1
    again = Problems()
    Messages.of(data[:-1], again)


def test_a_cut_message_is_truncated_and_a_broken_one_malformed():
    problems = Problems()
    whole = written([(1, 5), (2, b"hello")])
    assert Messages.of(whole[:-2], problems).last(1).tolist() == [5]
    assert list(problems) == ["truncated"]
    problems = Problems()
    outer = Messages.of(written([(1, b"\x0f"), (1, written([(2, 3)]))]), problems)
    inner, _ = outer.inner(1)
    assert inner.last(2, 9).tolist() == [9, 3]
    assert list(problems) == ["malformed"]


def test_fields_of_the_wrong_kind_are_counted():
    problems = Problems()
    message = Messages.of(written([(1, 5), (1, b"x"), (2, b"\xff")]), problems)
    assert message.last(1).tolist() == [5]
    assert message.text(2, "none") == ["\ufffd"]
    assert message.text(3, "none") == ["none"]
    assert problems["bad value"].count == 1
    assert message.has(2).tolist() == [True]


def test_fixed_numbers():
    data = bytes([1 << 3 | 1]) + (258).to_bytes(8, "little") + bytes([2 << 3 | 5]) + b"abcd"
    message = Messages.of(data, Problems())
    assert message.fixed64(1).tolist() == [258]
    assert message.fixed64(3, 7).tolist() == [7]


eights = st.binary(min_size=8, max_size=8)


@settings(max_examples=100, deadline=None)
@given(st.lists(fields, max_size=4), eights)
def test_wanted_fields_are_those_that_all_fields_hold(messages, eight):
    eight = varint(5 << 3 | 1) + eight
    parts = [written(one) + eight * (k % 2) for k, one in enumerate(messages)]
    bounds = np.cumsum([0, *map(len, parts)])
    data = np.frombuffer(b"".join(parts) or b"\0", np.uint8)[: bounds[-1]]
    problems, others = Problems(), Problems()
    taken = Taken(data, bounds[:-1], bounds[1:], problems, numbers=(1,), eights=(5,), places=(2,), lists=(3,))
    plain = Messages(data, bounds[:-1], bounds[1:], others)
    assert taken.number(1, 7).tolist() == plain.last(1, 7).tolist()
    assert taken.number(5, -1).tolist() == plain.fixed64(5, -1).tolist()
    first, stop = taken.place(2)
    assert [data[low:high].tobytes() for low, high in zip(first, stop)] == [
        next((bytes(data[v : v + s]) for v, s in rows[::-1]), b"")
        for rows in ([(v, s) for m, n, v, s in zip(plain.message, plain.number, plain.value, plain.size)
                      if m == k and n == 2 and s >= 0] for k in range(len(messages)))
    ]  # fmt: skip
    inside, owner = plain.inner(3)
    begin, end, of = taken.items(3)
    assert (begin.tolist(), end.tolist(), of.tolist()) == (
        inside.first.tolist(), inside.stop.tolist(), owner.tolist()
    )  # fmt: skip
    plain.rows(1, is_varint=True), plain.rows(2, is_varint=False)
    assert sum(one.count for one in problems.values()) == len(
        [1 for n, s in zip(plain.number, plain.size) if (n == 1 and s >= 0) or (n in (2, 3) and s < 0)]
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=5), max_size=5), st.booleans(), st.binary(max_size=6))
def test_records_behind_their_sizes(records, is_ended, rest):
    data = b"head" + b"".join(len(one).to_bytes(4, "little") + one for one in records)
    data += bytes(4 * is_ended) + rest
    found, at, ended = [], 4, False
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        if not size:
            ended = True
            break
        found.append(at)
        at += 4 + size
    places = np.empty(len(data) // 5 + 2, np.int64)
    count, stop, has_end = find_records(np.frombuffer(data, np.uint8), 4, places)
    assert (places[:count].tolist(), stop, has_end) == (found, at, ended)
