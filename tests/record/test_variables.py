"""The names of what a program makes: one's own for each, or none."""

from __future__ import annotations

import threading

import pytest

import tracevis3d as tv
from tests.record.test_waits import ENGINE
from tracevis3d.record.sources import Sources
from tracevis3d.record.variables import made_objects


def names_of(text):
    """Return what the calls in a text make, and what that is called, in the order of the text."""
    found = sorted(made_objects(text), key=lambda one: (one.line, one.end_line, one.end_column))
    return [(one.makes, one.name) for one in found]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, self.b = Lock(), RLock()", [("Lock", "a"), ("RLock", "b")]),
        ("a, (b, c) = Lock(), (Event(), Event())", [("Lock", "a"), ("Event", "b"), ("Event", "c")]),
        ("stop = Event(); never = Event()", [("Event", "stop"), ("Event", "never")]),
        ("a = b = Lock()", [("Lock", "a")]),
        ("a, b = make()", [("make", "")]),
        ("a, *b = Lock(), Lock(), Lock()", [("Lock", "")] * 3),
        ("done: Event = threading.Event()", [("Event", "done")]),
        ("locks = [Lock() for _ in range(3)]", [("Lock", "locks"), ("range", "")]),
        ("by_name = {'left': Lock(), 'right': Lock()}", [("Lock", "left"), ("Lock", "right")]),
        ("self.parts['left'] = Lock()", [("Lock", "left")]),
        ("locks.append(Lock())", [("Lock", "locks"), ("append", "")]),
        ("ready = Condition(Lock())", [("Lock", "ready"), ("Condition", "ready")]),
        ("t = Thread(target=f, args=(Lock(),))", [("Lock", "args"), ("Thread", "t")]),
        ("lock = lock or Lock()", [("Lock", "lock")]),
        ("if (lock := Lock()): pass", [("Lock", "lock")]),
        ("def f(lock=Lock(), *, e=Event()): pass", [("Lock", "lock"), ("Event", "e")]),
        ("setattr(self, 'lock', Lock())", [("Lock", "lock"), ("setattr", "")]),
        ("use(Lock())", [("Lock", ""), ("use", "")]),
        ("return_ = Lock().acquire()", [("Lock", ""), ("acquire", "return_")]),
        ("def f():\n    return Lock()", [("Lock", "")]),
        ("this is no Python", []),
    ],
)
def test_a_name_is_that_of_what_is_made(text, names):
    assert names_of(text) == names


def test_without_the_place_a_name_counts_where_the_line_makes_one_thing_alone(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("a, b = Lock(), Lock()\nc = Lock()\n")
    sources = Sources()
    assert sources.variable(str(path), 1, 1, 13, "Lock") == "a"
    assert sources.variable(str(path), 1, 1, 21, "Lock") == "b"
    assert sources.variable(str(path), 1, 0, 0, "Lock") == ""
    assert sources.variable(str(path), 2, 0, 0, "Lock") == "c"
    assert sources.variable(str(tmp_path / "none.py"), 1, 1, 13, "Lock") == ""


class Shared:
    def __init__(self) -> None:
        self.read_lock, self.write_lock = threading.Lock(), threading.Lock()
        for name in ("one", "other"):
            stop = threading.Event()
            setattr(self, name, stop)
        never = threading.Event()
        self.events = {"left": never, "right": threading.Semaphore(1)}


def test_what_is_recorded_has_the_names_of_the_program(tmp_path):
    path = str(tmp_path / "out.json")
    with tv.record(path, engine=ENGINE):
        shared = Shared()
        with shared.read_lock, shared.write_lock:
            pass
        shared.one.set()
        shared.events["left"].set()
        shared.events["right"].acquire()
        with shared.read_lock:  # a line of its own
            pass
    trace = tv.load(path, cache=False)
    names = [name.partition(" ")[2] for name in trace.sync.objects]
    assert {"read_lock", "write_lock", "stop", "never", "right"} <= set(names)
    sync = trace.sync
    of = {
        int(sync.line[i])
        for i in range(len(sync))
        if sync.objects[sync.object[sync.first[i]]].endswith("read_lock") and sync.line[i]
    }
    first = test_what_is_recorded_has_the_names_of_the_program.__code__.co_firstlineno
    assert of == {first + 4, first + 9}
