"""The recorder's sections made JSON, held together with a plain twin; damage and cuts."""

import contextlib
import json
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.errors import InputError, UsageError
from tracevis3d.record.memory.blocks import LivingBlocks
from tracevis3d.record.output import spool
from tracevis3d.record.output.encode import Encoder
from tracevis3d.record.output.reader import Reader
from tracevis3d.record.output.spool import HEADER, Spool, sections
from tracevis3d.record.output.writer import File
from tracevis3d.record.patches import Patches

NONE = 77
NAMES = {1: "main", 2: "a", 3: "b"}


def section(kind, number, value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return HEADER.pack(kind, number, len(data)) + data


def beginning(**more):
    begin = {
        "pid": 9,
        "microseconds": False,
        "start": 0,
        "argv": ["p.py"],
        "ours": "/ours/",
        "none": NONE,
        **more,
    }
    functions = {number: (name, "p.py", number) for number, name in NAMES.items()}
    functions[4] = ("wrapper", "/ours/x.py", 1)
    return (
        section(spool.BEGIN, 0, begin)
        + section(spool.THREAD, 1, {"tid": 901, "name": "one"})
        + section(spool.THREAD, 2, {"tid": 902, "name": "two"})
        + section(spool.FUNCTIONS, 0, functions)
        + section(
            spool.OBJECTS,
            0,
            {
                "operations": [("Lock.acquire", "wait"), ("Lock.release", "release"), ("open", "io")],
                "objects": {5: ("Lock-1", "", 0), 6: ("file:x", "", 0), 7: [5, 6]},
            },
        )
    )


def encoded(data):
    encoder = Encoder("/nowhere")
    lines = [line for kind, number, part, _ in sections(data) for line in encoder.lines(kind, number, part)]
    return [json.loads(line) for line in (*lines, *encoder.finish())]


@st.composite
def threads(draw):
    """One thread's steps: ("begin", code), ("end",) and ("wait", length), each at a later time."""
    steps, depth, time, found = draw(st.integers(0, 40)), 0, 0, []
    for _ in range(steps):
        time += draw(st.integers(1, 50))
        what = draw(st.sampled_from(["begin", "end", "wait"]))
        if what == "begin":
            found.append(("begin", draw(st.sampled_from([1, 2, 3, 4])), time))
            depth += 1
        elif what == "end":
            # Ends of calls that began before the recording come too.
            found.append(("end", 0, time))
            depth = max(depth - 1, 0)
        else:
            length = draw(st.integers(0, 30))
            found.append(("wait", length, time))
            time += length
    return found


def twin(steps, last):
    """Return (name, start, end) of all calls and waits, one step after the other."""
    stack, found = [], []
    for what, value, time in steps:
        if what == "begin":
            stack.append((value, time))
        elif what == "end":
            if stack:
                code, start = stack.pop()
                if code in NAMES:
                    found.append((f"{NAMES[code]} (p.py:{code})", start, time))
        else:
            found.append(("Lock.acquire", time, time + value))
    found += [(f"{NAMES[code]} (p.py:{code})", start, last) for code, start in stack if code in NAMES]
    return sorted(found)


def raw(number, steps):
    """Return the sections of some of a thread's steps."""
    calls = [(value if what == "begin" else NONE, time) for what, value, time in steps if what != "wait"]
    rows = [n for what, value, time in steps if what == "wait" for n in (0, 5, time, time + value, 1, 3)]
    data = b""
    if calls:
        codes, times = zip(*calls)
        data += section(spool.CALLS, number, array("Q", codes).tobytes() + array("q", times).tobytes())
    return data + (section(spool.ROWS, number, array("q", rows).tobytes()) if rows else b"")


@given(threads(), threads(), st.lists(st.integers(0, 1500), max_size=4), st.booleans())
@settings(max_examples=150, deadline=None)
def test_sections_give_what_the_program_did_in_order_of_its_ends(one, two, flushes, ended):
    data = beginning()
    low = {1: 0, 2: 0}
    last = max((s[2] + (s[1] if s[0] == "wait" else 0) for s in (*one, *two)), default=0)
    bounds = [*sorted(flushes), 10_000]
    for bound in bounds:
        for number, steps in ((1, one), (2, two)):
            ready = [s for s in steps[low[number] :] if s[2] + (s[1] if s[0] == "wait" else 0) <= bound]
            data += raw(number, steps[low[number] : low[number] + len(ready)])
            low[number] += len(ready)
        if bound < 10_000:
            data += section(spool.FLUSHED, 0, {"began": bound})
            last = max(last, bound)
    if ended:
        data += section(spool.END, 0, {"end": last})
    events = encoded(data)
    for tid, steps in ((901, one), (902, two)):
        mine = [e for e in events if e["ph"] == "X" and e["tid"] == tid]
        result = sorted((e["name"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in mine)
        assert result == twin(steps, last)
        ends = [round((e["ts"] + e["dur"]) * 1000) for e in mine]
        assert ends == sorted(ends)
        # They nest: two events lie one within the other, or apart.
        spans = [(round(e["ts"] * 1000), end) for e, end in zip(mine, ends, strict=True)]
        for i, (a, b) in enumerate(spans):
            for c, d in spans[i + 1 :]:
                assert b <= c or d <= a or (c <= a and b <= d) or (a <= c and d <= b)
    assert any(e["ph"] == "i" for e in events) is not ended


def test_rows_carry_kind_objects_and_who(tmp_path):
    rows = [1, 5, 10, 10, 0, 0, 0, 7, 20, 30, 3, 2, 2, 6, 40, 50, 2, 123, 0, 5, 60, 70, 5, 0]
    data = beginning() + section(spool.ROWS, 1, array("q", rows).tobytes())
    events = [e for e in encoded(data + section(spool.END, 0, {"end": 99})) if e["ph"] in "Xi"]
    head = {"pid": 9, "tid": 901, "cat": "sync"}
    lock = {"kind": "wait", "objects": ["Lock-1"], "contended": True}
    assert events == [
        {**head, "ph": "i", "s": "t", "ts": 0.01, "name": "Lock.release",
         "args": {"kind": "release", "objects": ["Lock-1"]}},
        {**head, "ph": "X", "ts": 0.02, "dur": 0.01, "name": "Lock.acquire (failed)",
         "args": {**lock, "objects": ["Lock-1", "file:x"], "holder": 902}},
        {**head, "ph": "X", "ts": 0.04, "dur": 0.01, "name": "open (failed)", "cat": "io",
         "args": {"kind": "io", "objects": ["file:x"], "bytes": 123}},
        {**head, "ph": "X", "ts": 0.06, "dur": 0.01, "name": "Lock.acquire (timed out)", "args": lock},
    ]  # fmt: skip


def test_what_is_open_lasts_until_the_end_and_says_so():
    data = beginning() + section(spool.CALLS, 1, array("Q", [1]).tobytes() + array("q", [5]).tobytes())
    data += section(spool.WAITING, 1, [[0, 5, 10, 2]])
    ended = [e for e in encoded(data + section(spool.END, 0, {"end": 1000})) if e["ph"] == "X"]
    assert [(e["name"], e["dur"], e["args"].get("unfinished")) for e in ended if "args" in e] == [
        ("Lock.acquire", 0.99, True)
    ]
    cut = encoded(data + section(spool.FLUSHED, 0, {"began": 2000}))
    assert [(e["name"], e["dur"], e["args"]["unfinished"]) for e in cut if e["ph"] == "X"] == [
        ("Lock.acquire", 1.99, True),
        ("main (p.py:1)", 1.995, True),
    ]
    assert [e["name"] for e in cut if e["ph"] == "i"] == ["the recording breaks off"]


def test_a_sleep_that_is_open_is_a_call_and_no_wait():
    data = beginning() + section(spool.CALLS, 1, array("Q", [1]).tobytes() + array("q", [5]).tobytes())
    more = {"operations": [("Lock.acquire", "wait"), ("time.sleep", "call")], "objects": {}}
    data += section(spool.OBJECTS, 0, more) + section(spool.WAITING, 1, [[1, 0, 10, 0]])
    ended = [e for e in encoded(data + section(spool.END, 0, {"end": 1000})) if e["ph"] == "X"]
    assert [(e["name"], e["cat"], e["dur"]) for e in ended] == [
        ("time.sleep", "call", 0.99),
        ("main (p.py:1)", "call", 0.995),
    ]
    assert not any("args" in e for e in ended)
    cut = encoded(data + section(spool.FLUSHED, 0, {"began": 2000}))
    assert [(e["name"], e["args"]) for e in cut if e["ph"] == "X"] == [
        ("time.sleep", {"unfinished": True}),
        ("main (p.py:1)", {"unfinished": True}),
    ]


def test_what_ended_behind_the_last_report_of_what_waits_is_not_open():
    waiting = section(spool.WAITING, 1, [[0, 5, 10, 2], [0, 6, 30, 2]])
    row = section(spool.ROWS, 1, array("q", [0, 5, 10, 20, 1, 2]).tobytes())
    ended = [e for e in encoded(beginning() + waiting + row) if e["ph"] == "X"]
    assert [(e["args"]["objects"], e["dur"], "unfinished" in e["args"]) for e in ended] == [
        (["Lock-1"], 0.01, False),
        (["file:x"], 0.0, True),
    ]


def test_viztracers_events_and_ours_are_merged_by_their_ends(tmp_path):
    line = '{"pid":9,"tid":901,"ts":%d.000,"ph":"X","cat":"fee","dur":%d.000,"name":"%s"},'
    body = line % (10, 5, "a (p.py:2)") + line % (16, 2, "w (/ours/x.py:1)") + line % (1, 29, "main (p.py:1)")
    names = '{"ph":"M","pid":9,"tid":901,"name":"thread_name","args":{"name":"one"}},'
    (tmp_path / "part-1").write_text(
        '{"traceEvents":[' + names + body.rstrip(",") + '], "viztracer_metadata": {"overflow":false}}'
    )
    rows = array("d", [0, 5, 20.0, 25.0, 1, 0]).tobytes()
    data = beginning(microseconds=True) + section(spool.ROWS, 1, rows) + section(spool.VIZTRACER, 1, b"")
    data += section(spool.END, 0, {"end": 40.0})
    encoder = Encoder(str(tmp_path))
    lines = [line for kind, number, part, _ in sections(data) for line in encoder.lines(kind, number, part)]
    events = [json.loads(line) for line in (*lines, *encoder.finish())]
    assert [e["name"] for e in events if e["ph"] == "X"] == ["a (p.py:2)", "Lock.acquire", "main (p.py:1)"]
    assert not (tmp_path / "part-1").exists()


@given(st.integers(0, 400))
def test_a_cut_spool_gives_its_whole_sections(cut):
    data = beginning() + raw(1, [("begin", 1, 5), ("end", 0, 9)])
    assert len(list(sections(data[:cut]))) <= len(list(sections(data)))
    assert all(len(part) >= 0 for _, _, part, _ in sections(data[:cut]))


@pytest.mark.parametrize("taken", [True, False])
def test_a_descriptor_that_the_program_has_taken_is_left_alone_and_nothing_lost(tmp_path, taken):
    import os

    writing = Spool(str(tmp_path))
    writing.add(b"E", 0, b"{}")
    other = os.open(tmp_path / "other", os.O_WRONLY | os.O_CREAT)
    number = writing._fd.number
    if taken:
        os.dup2(other, number)
    else:
        os.close(number)
    writing.add(b"E", 0, b"{}")
    if taken:
        writing.close()
        os.close(number)
    else:
        writing.end()
    assert (tmp_path / "other").read_bytes() == b""
    os.close(other)
    found = [kind for kind, *_ in sections((tmp_path / "spool-1").read_bytes())]
    assert found == ([b"E", b"E"] if taken else [b"E", b"E", spool.CLOSED])


def test_closing_all_descriptors_leaves_the_recorders(tmp_path, monkeypatch):
    import os

    from tracevis3d.record.output import descriptor
    from tracevis3d.record.output.descriptor import Descriptor, around_ours

    # Other tests in this process may have left theirs.
    monkeypatch.setattr(descriptor, "ours", [])
    asked = []
    leave_ours = around_ours(lambda low, high: asked.append((low, high)), contextlib.nullcontext)
    first, second = (Descriptor(os.open(tmp_path, os.O_RDONLY)) for _ in range(2))
    low, high = sorted((first.number, second.number))
    leave_ours(0, high)
    leave_ours(low + 1, high + 2)
    second.close()
    leave_ours(3, 1 << 16)
    first.close()
    leave_ours(3, 1 << 16)
    lone = first.number
    assert asked == [
        *[(0, low), (low + 1, high), (low + 1, high), (high + 1, high + 2)],
        *[(3, lone), (lone + 1, 1 << 16), (3, 1 << 16)],
    ]


def test_patches_put_back_what_was_there_and_what_was_inherited():
    class Base:
        def f(self):
            return 1

    class Derived(Base):
        pass

    patches = Patches()
    patches.wrap(Derived, "f", lambda original: lambda self: original(self) + 1)
    assert Derived().f() == 2
    assert Derived.f.__name__ == "f"
    patches.undo()
    assert "f" not in vars(Derived)
    assert Derived().f() == 1


def test_what_the_engine_can_not_do_is_said(tmp_path):
    with pytest.raises(UsageError, match="VizTracer"):
        tv.record(str(tmp_path / "x.json"), engine="profile", c_functions=True).__enter__()
    with pytest.raises(InputError, match="can't be recorded"):
        tv.record(str(tmp_path / "no" / "x.json"), engine="profile").__enter__()


def test_a_flush_is_one_write(tmp_path, monkeypatch):
    """Each write lets other threads run: where many compute, a flush of many writes would take seconds."""
    from tracevis3d.record import session as sessions
    from tracevis3d.record import state
    from tracevis3d.record.engines.engine import PythonEngine

    class Beside:
        endpoint = ""

        def __init__(self, *_):
            self.folder, self.spool, self.written = str(tmp_path), Spool(str(tmp_path)), []
            append = self.spool._append
            self.spool._append = lambda data: self.written.append(len(data)) or append(data)

        def part(self, number):
            return ""

        def finish(self):
            return ""

    monkeypatch.setattr(sessions, "Helper", Beside)
    monkeypatch.setattr(PythonEngine, "flushes", (60, 60))
    session = sessions.Session(sessions.Options("x", threads=True, engine="profile"))
    session.start()
    (lambda: None)()
    session._helper.written.clear()
    session.flush()
    assert len(session._helper.written) == 1
    session.stop()
    assert not state.recording
    found = [kind for kind, *_ in sections((tmp_path / "spool-1").read_bytes())]
    assert found[0] == spool.BEGIN
    assert {spool.THREAD, spool.CALLS, spool.FUNCTIONS, spool.END} <= set(found)
    assert found[-2:] == [spool.FLUSHED, spool.CLOSED]


def test_what_a_crashing_program_wrote_over_is_left_out_and_told(tmp_path):
    """One section of four is no JSON, one no numbers: the rest is written."""
    output = tmp_path / "out.json"
    calls = array("q", [1, NONE, 10, 20]).tobytes()
    parts = [(kind, number, data) for kind, number, data, _ in sections(beginning())]
    file = File("/nowhere", str(output))
    file.take(
        "/nowhere",
        [
            *parts,
            (spool.COUNTERS, 0, b'{"time":'),
            (spool.CALLS, 1, calls[:-3]),
            (spool.CALLS, 2, calls),
            (spool.FLUSHED, 0, b'{"began":30}'),
        ],
    )
    file.take("/nowhere", None)
    file.close()
    trace = tv.load(str(output), cache=False)
    assert len(trace) == 1
    assert trace.problems["malformed"].count == 2
    assert trace.problems["malformed"].first == "JSONDecodeError in what the program handed on"


def test_more_blocks_than_there_can_be_are_refused():
    data = array("I", [1]).tobytes() + array("q", [16, 1 << 40]).tobytes()
    with pytest.raises(ValueError, match="no blocks"):
        LivingBlocks().take(data)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"[1]", b'{"began":"x"}', b'{"began":1e999}', b"\xff"])
def test_a_damaged_flush_is_passed_on(tmp_path, data):
    (tmp_path / "spool-1").write_bytes(spool.HEADER.pack(spool.FLUSHED, 0, len(data)) + data)
    reader = Reader(str(tmp_path))
    assert list(reader.read()) == [[(spool.FLUSHED, 0, data)]]
    reader.close()
