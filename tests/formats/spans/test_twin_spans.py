"""Spans on lanes, and those of OpenTelemetry's protobuf, held against plain twins."""

import gzip
from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.formats.profiles.test_wire import varint, written
from tracevis3d.formats.spans import otlp
from tracevis3d.formats.spans.lanes import Span, add_columns, add_spans
from tracevis3d.trace.problems import Problems

DATA = ROOT / "tests" / "data" / "spans"
SHOP = (DATA / "shop.otlp.pb").read_bytes()
LATEST = 1 << 62


class Facts:
    """Stands in for a recording: keeps what is added, by name."""

    def __init__(self):
        self.problems = Problems()
        self.lists, self.names, self.added = {}, {}, {}

    def number(self, table, key):
        return self.lists.setdefault(table, {}).setdefault(key, len(self.lists[table]))

    def name_process(self, process, name):
        self.names[process] = name

    def name_thread(self, process, tid, name):
        self.names[process, tid] = name

    def thread(self, process, tid):
        return self.number("thread", (process, tid))

    def function(self, name, label, containers):
        return self.number("function", (name, label, containers))

    def text(self, table, text):
        return self.number(table, text)

    def add(self, table, **columns):
        assert len({len(column) for column in columns.values()}) == 1
        rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
        self.added.setdefault(table, []).extend(rows)

    def add_events(self, **columns):
        self.add("events", **columns)

    def add_flows(self, **columns):
        self.add("flows", **columns)

    def add_instants(self, **columns):
        self.add("instants", **columns)

    def all(self):
        """All that was added; events of each thread in their order."""
        by_thread = {}
        for row in self.added.get("events", ()):
            by_thread.setdefault(row[0], []).append(row)
        return (
            by_thread, self.lists, self.names, self.added.get("flows"), self.added.get("instants"),
            {kind: (one.count, one.first) for kind, one in self.problems.items()},
        )  # fmt: skip


def plain_depth(parent, row, known):
    """How many ancestors a span has; a circle ends where it was entered."""
    path = []
    while row >= 0 and row not in known:
        known[row] = 0
        path.append(row)
        row = parent[row]
    above = known[row] if row >= 0 and path and row != path[-1] else -1
    for one in reversed(path):
        above += 1
        known[one] = above


def plain_spans(spans, facts):
    """Look at all lanes in turn, and at one span after the other."""
    good = []
    for number, span in enumerate(spans, 1):
        if not (0 <= span.start < LATEST and 0 <= span.end < LATEST):
            facts.problems.add("bad time", f"span {number:,}")
            continue
        if span.end < span.start:
            facts.problems.add("negative duration", f"span {number:,}")
            span.end = span.start
        good.append(span)
    if not good:
        raise ValueError("it has no spans with times")
    known = {}
    for row, span in enumerate(good):
        if known.setdefault((span.trace, span.key), row) != row:
            facts.problems.add("listed twice", f"span {span.key}")
    above = [known.get((span.trace, span.parent), -1) if span.parent else -1 for span in good]
    depth = {}
    for row in range(len(good)):
        plain_depth(above, row, depth)
    order = sorted(range(len(good)), key=lambda row: (good[row].start, depth[row], -good[row].end))
    lanes, events, place, arrows = {}, [], {}, []

    def end(stack, now):
        while stack and not (
            good[stack[-1]].end > now or good[stack[-1]].start == good[stack[-1]].end == now
        ):
            events.append((stack.pop(), 1))

    for row in order:
        span, outer = good[row], above[row]
        stacks = lanes.setdefault(span.service, [])
        lane = None
        if outer in place and good[outer].service == span.service and span.end <= good[outer].end:
            end(stacks[place[outer][1]], span.start)
            if stacks[place[outer][1]][-1:] == [outer]:
                lane = place[outer][1]
        if lane is None:
            for stack in stacks:
                end(stack, span.start)
            lane = next((number for number, stack in enumerate(stacks) if not stack), len(stacks))
            stacks.extend([[]] if lane == len(stacks) else [])
            if outer >= 0 and outer != row:
                arrows.append(("begins", outer, row))
            elif span.parent:
                facts.problems.add("unknown", f"the parent of span {span.key}")
        facts.name_process(span.service, span.service)
        facts.name_thread(span.service, lane + 1, f"{span.service} {lane + 1}" if lane else span.service)
        thread = facts.thread(span.service, lane + 1)
        facts.function(f"{span.service}: {span.name}", span.name, (("category", span.service),))
        place[row] = thread, lane
        stacks[lane].append(row)
        events.append((row, 0))
    for stacks in lanes.values():
        for stack in stacks:
            events += [(row, 1) for row in reversed(stack)]
    functions = [
        facts.function(f"{span.service}: {span.name}", span.name, (("category", span.service),))
        for span in good
    ]
    facts.add(
        "events",
        thread=[place[row][0] for row, _ in events],
        kind=[kind for _, kind in events],
        function=[functions[row] for row, _ in events],
        time=[good[row].end if kind else good[row].start for row, kind in events],
    )
    for row, span in enumerate(good):
        for link in span.links:
            if link in known:
                arrows.append(("link", known[link], row))
            else:
                facts.problems.add("unmatched flow", f"a link of span {span.key}")
    for kind, source, target in arrows:
        start = min(max(good[target].start, good[source].start), good[source].end)
        ends = {"target_thread": [place[target][0]], "end": [good[target].start]}
        facts.add("flows", name=[facts.text("flows", kind)], source=[place[source][0]], start=[start], **ends)
    moments = [(place[row][0], time, text) for row, span in enumerate(good) for time, text in span.moments]
    for thread, time, text in moments:
        if 0 <= time < LATEST:
            facts.add("instants", name=[facts.text("instants", text)], thread=[thread], time=[time])
        else:
            facts.problems.add("bad time", f"the moment {text}")


def same(add, plain):
    """Whether both say the same, or refuse in the same words."""
    said = []
    for one in (add, plain):
        facts = Facts()
        try:
            one(facts)
            said.append(facts.all())
        except ValueError as error:
            said.append(str(error))
    assert said[0] == said[1]


ids = st.sampled_from(["1", "2", "3", "4", "5", ""])
moments = st.lists(st.tuples(st.integers(-1, 9), st.sampled_from("xy")), max_size=2)
rows = st.builds(
    Span, st.sampled_from("tu"), ids, ids, st.sampled_from("ab"), st.sampled_from("fg"),
    st.integers(-1, 9), st.integers(-1, 12), st.lists(st.tuples(st.just("t"), ids), max_size=2), moments,
)  # fmt: skip


def copies(spans):
    return [Span(*(getattr(one, name) for name in Span.__slots__)) for one in spans]


@settings(max_examples=100, deadline=None)
@given(st.lists(rows, min_size=1, max_size=16))
def test_spans_lie_where_a_search_in_turn_puts_them(spans):
    same(lambda facts: add_spans(copies(spans), facts), lambda facts: plain_spans(copies(spans), facts))


def plain_fields(data):
    """Fields of a message: number -> list of values; what is damaged ends it."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value & (1 << 64) - 1
            if shift > 63:
                raise IndexError

    try:
        while at < len(data):
            tag = number()
            kind, value = tag & 7, None
            if kind == 0:
                value = number()
            elif kind in (1, 2, 5):
                size = number() if kind == 2 else 8 if kind == 1 else 4
                value = data[at : at + size]
                if len(value) < size:
                    break
                at += size
            if value is None or not tag >> 3:
                break
            found.setdefault(tag >> 3, []).append(value)
    except IndexError:
        pass
    return found


def inner(fields, number):
    """The messages of a field."""
    return [plain_fields(one) for one in fields.get(number, ()) if isinstance(one, bytes)]


def last(fields, number, kind=bytes, other=b""):
    return next((one for one in reversed(fields.get(number, ())) if isinstance(one, kind)), other)


def text(fields, number, other=""):
    return last(fields, number).decode("utf-8", "replace") or other


def fixed(fields, number):
    said = [one for one in fields.get(number, ()) if isinstance(one, bytes) and len(one) == 8]
    return int.from_bytes(said[-1], "little", signed=True) if said else -1


def plain_otlp(data):
    """Spans of OpenTelemetry's protobuf, one after the other."""
    spans = []
    for group in inner(plain_fields(data), 1):
        service = "unknown service"
        for resource in inner(group, 1):
            for attribute in inner(resource, 1):
                if text(attribute, 1) == "service.name":
                    service = text(plain_fields(last(attribute, 2)), 1, "unknown service")
        for scope in inner(group, 2):
            for said in inner(scope, 2):
                trace, key, parent = (last(said, number).hex() for number in (1, 2, 4))
                start, end = fixed(said, 7), fixed(said, 8)
                span = Span(trace, key, parent, service, text(said, 5, "(unnamed)"), start, end)
                for event in inner(said, 11):
                    time = fixed(event, 1)
                    span.moments.append((time if time >= 0 else start, text(event, 2, "(unnamed)")))
                span.links = [(last(link, 1).hex(), last(link, 2).hex()) for link in inner(said, 13)]
                for status in inner(said, 15):
                    if last(status, 3, int, 0) == 2:
                        message = text(status, 2)
                        error = f"error: {message}" if message else "error"
                        span.moments.append((max(start, end, 0), error))
                spans.append(span)
    return spans


def same_bytes(data):
    def ours(facts):
        add_columns(otlp._wire_spans(memoryview(data), Problems()), facts)

    same(ours, lambda facts: plain_spans(plain_otlp(data), facts))


# By OpenTelemetry's SDK of Python, and of JavaScript.
@pytest.mark.parametrize("name", ["shop", "shop_js"])
def test_what_opentelemetry_wrote_is_read_as_a_plain_reader_does(name):
    data = (DATA / f"{name}.otlp.pb").read_bytes()
    same_bytes(data)
    said = msgspec.json.decode(gzip.decompress((DATA / f"{name}.otlp.json.gz").read_bytes()))
    plain = Counter(
        (one.trace, one.key, one.parent, one.name, one.start, one.end) for one in plain_otlp(data)
    )
    of_json = otlp._json_spans(said, Problems())
    assert of_json
    assert Counter((one.trace, one.key, one.parent, one.name, one.start, one.end) for one in of_json) == plain


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(SHOP) - 1), st.integers(0, 255)), max_size=6), st.integers(0, 99)
)
def test_damaged_bytes_are_read_as_a_plain_reader_does(changes, cut):
    data = bytearray(SHOP)
    for at, byte in changes:
        data[at] = byte
    same_bytes(bytes(data[: len(data) - cut]))


small = st.integers(0, 3)
word = st.integers(-2, 9).map(lambda value: (value & (1 << 64) - 1).to_bytes(8, "little"))


def eight(number, value):
    return varint(number << 3 | 1) + value


spans = st.builds(
    lambda trace, key, parent, name, start, end, more: written(
        [(1, bytes(trace)), (2, bytes(key)), (4, bytes(parent)), (5, name)]
    ) + eight(7, start) + eight(8, end) + b"".join(more),
    small, small, small, st.sampled_from([b"f", b"g", b"", b"\xff"]), word, word,
    st.lists(
        st.one_of(
            st.builds(lambda time: written([(11, eight(1, time) + written([(2, b"x")]))]), word),
            st.builds(lambda a, b: written([(13, written([(1, bytes(a)), (2, bytes(b))]))]), small, small),
            st.builds(lambda code: written([(15, written([(2, b"m"), (3, code)]))]), small),
        ),
        max_size=3,
    ),
)  # fmt: skip
groups = st.builds(
    lambda services, inside: written(
        [(1, written([(1, written([(1, b"service.name"), (2, written([(1, one)]))]))])) for one in services]
        + [(2, written([(2, one) for one in inside]))]
    ),
    st.lists(st.sampled_from([b"a", b"b", b""]), max_size=2), st.lists(spans, max_size=5),
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.lists(groups, min_size=1, max_size=3))
def test_any_spans_are_read_as_a_plain_reader_does(made):
    same_bytes(written([(1, one) for one in made]))
