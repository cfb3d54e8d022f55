"""Files of Python's own profiler, held against what pstats says of them; marshalled data."""

import contextlib
import cProfile
import marshal
import pstats
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.profile_facts import spans
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.names import split
from tracevis3d.formats.profiles.documents import add_function, add_functions
from tracevis3d.formats.profiles.marshal import load_python, load_ruby
from tracevis3d.formats.profiles.python import cprofile
from tracevis3d.trace import profile
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

DATA = ROOT / "tests" / "data" / "profiles"


def check(path):
    trace, said = registry.open_trace(path), pstats.Stats(str(path)).stats
    assert trace.source.format == "cprofile"
    own = {}
    for stack, weight, kind in zip(
        trace.samples.stack, trace.samples.weight, trace.samples.kind, strict=True
    ):
        function = int(trace.stacks.function[stack])
        own.setdefault(function, [0, 0])[kind] += int(weight)
    names = {tuple(values): trace.functions.name[function] for function, values in own.items()}
    expected = sorted((round(1e9 * own_time), calls) for _, calls, own_time, _, _ in said.values())
    assert sorted(tuple(values) for values in own.values()) == expected
    assert set(trace.problems) == {"no paths"}
    return trace, said, names


def test_own_times_and_counts_are_those_of_pstats():
    trace, said, _ = check(DATA / "words.prof")
    main = next(key for key in said if key[2] == "main")
    row = list(trace.functions.name).index(f"main ({main[0]}:{main[1]})")
    lasts = (trace.calls.end - trace.calls.start)[trace.calls.function == row].sum()
    assert abs(lasts - 1e9 * said[main][3]) < 0.02 * 1e9 * said[main][3]
    assert trace.functions.line[row] == main[1]
    assert any("builtins." in name for name in trace.functions.name)


@pytest.mark.parametrize("version", ["36", "313"])
def test_profiles_of_other_pythons_are_read(version):
    trace, said, _ = check(DATA / f"small{version}.prof")
    inner = next(key for key in said if key[2] == "total")
    assert f"total ({inner[0]}:{inner[1]})" in trace.functions.name


def test_samples_of_python_3_15_are_counted_and_no_calls():
    path = DATA / "words_315.pstats"
    trace, said = registry.open_trace(path), marshal.loads(path.read_bytes())
    assert said.pop(("__sampled__",))
    own = Counter()
    for (file, line, name), (count, _, seconds, _, _) in said.items():
        assert round(100 * seconds) == count
        own[name.strip("<>") if file == "~" else f"{name} ({file})", line] += count
    found = Counter()
    samples = trace.samples
    assert tuple(samples.kinds) == ("time (ns)", "samples")
    for stack, weight in zip(
        samples.stack[samples.kind == 1], samples.weight[samples.kind == 1], strict=True
    ):
        name = trace.functions.name[trace.stacks.function[stack]]
        found[name, int(trace.stacks.line[stack])] += int(weight)
    assert +found == +own
    assert profile.totals(trace) == {"time (ns)": 10_000_000 * own.total(), "samples": own.total()}
    # The calls are laid by what was sampled below each: both threads were in work all the time.
    lasts, parents = trace.calls.end - trace.calls.start, trace.calls.parent.tolist()
    assert lasts[np.array(parents) < 0].sum() == 10_000_000 * own.total()
    assert set(trace.problems) == {"no paths"}


def test_callers_that_are_only_counted_share_the_time(tmp_path):
    path = tmp_path / "a.prof"
    f, g, h = (("a.py", line, name) for line, name in enumerate("fgh", 1))
    said = {f: (1, 1, 1.0, 4.0, {}), g: (1, 1, 1.0, 2.0, {}), h: (4, 4, 4.0, 4.0, {f: 3, g: 1})}
    path.write_bytes(marshal.dumps(said))
    trace = registry.open_trace(path)
    assert set(trace.problems) == {"no paths"}
    lasts = Counter()
    for function, parent, start, end in zip(
        trace.calls.function, trace.calls.parent, trace.calls.start, trace.calls.end, strict=True
    ):
        caller = trace.functions.label[trace.calls.function[parent]] if parent >= 0 else ""
        lasts[caller, trace.functions.label[function]] += int(end - start)
    assert lasts == {("", "f"): 4e9, ("f", "h"): 3e9, ("", "g"): 2e9, ("g", "h"): 1e9}


def test_this_pythons_profiles_are_read(tmp_path):
    def leaf(n):
        return sum(range(n))

    def work():
        return [leaf(n) for n in range(200)] + [len(sorted("cab"))]

    path = tmp_path / "a.prof"
    measured = cProfile.Profile()
    measured.runcall(work)
    measured.dump_stats(path)
    trace, _, _ = check(path)
    assert profile.totals(trace)["calls"] > 200


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.tuples(inner, inner) | st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(plain, st.integers(2, 4))
def test_python_is_read_back(value, version):
    def tuples(value):
        if isinstance(value, list | tuple):
            return tuple(map(tuples, value))
        return {key: tuples(item) for key, item in value.items()} if isinstance(value, dict) else value

    assert load_python(marshal.dumps(value, version)) == tuples(value)


def _code(numbers, values, behind):
    """Return a code object as another version of Python writes it."""
    parts = [b"c", *(struct.pack("<i", k) for k in range(numbers))]
    parts += [marshal.dumps(value, 2) for value in values]
    return b"".join((*parts, struct.pack("<i", 7), *(marshal.dumps(value, 2) for value in behind)))


NONE = (None, 2.5, 3j, ..., b"x", frozenset((1,)), True, 1 << 70)
CODES = {
    "this": marshal.dumps(
        compile("def f(a, *b, c={1, 2}):\n  return [a, 2j, ...]\nx = 1 in {1, 2}", "s.py", "exec"), 2
    ),
    "3.11": _code(
        5, (b"code", NONE, ("a",), ("b",), b"kinds", "s.py", "<module>", "<module>"), (b"lines", b"")
    ),
    "3.8": _code(6, (b"code", NONE, ("a",), ("b",), (), (), "s.py", "<module>"), (b"lines",)),
    "3.7": _code(5, (b"code", NONE, ("a",), ("b",), (), (), "s.py", "<module>"), (b"lines",)),
}


@pytest.mark.parametrize("version", CODES)
def test_the_profiler_in_python_names_a_script_by_its_code(tmp_path, version):
    """``python -m profile`` does; each version of Python writes code in its own way."""

    def dump(value):
        return marshal.dumps(value, 2)  # without references, so that parts can be put together

    name = b"(\3\0\0\0" + dump("profile") + dump(0) + CODES[version]
    row = dump((2, 2, 0.5, 0.5))[5:] + b"{" + name + dump(2) + b"0"
    data = b"{" + name + dump((1, 1, 0.25, 0.75, {})) + dump(("s.py", 1, "f")) + b"(\5\0\0\0" + row + b"0"
    assert load_python(data) == {
        ("profile", 0, "<module>"): (1, 1, 0.25, 0.75, {}),
        ("s.py", 1, "f"): (2, 2, 0.5, 0.5, {("profile", 0, "<module>"): 2}),
    }
    path = tmp_path / "a.prof"
    path.write_bytes(data)
    trace = registry.open_trace(path)
    assert [(label, depth) for label, _, _, depth in spans(trace)] == [("<module>", 1), ("f", 2)]
    for size in range(1, len(data)):
        with contextlib.suppress(ValueError):
            load_python(data[:size])


def test_code_within_code_takes_no_more_time_than_it_is_long():
    """Each layout is tried for all of a file, not anew for each code in it."""
    data = b"\0"
    for _ in range(45):
        data = b"c" + bytes(20) + marshal.dumps(b"code", 2) + b"(\1\0\0\0" + data
    with pytest.raises(ValueError, match="marshalled"):
        load_python(data)


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"{", b"(", b"\xfb", b"\xa9\x03", b"\x04\x08{", b"\x04\x08["]),
)
def test_any_bytes_are_read_or_refused(data, head):
    for load in (load_python, load_ruby):
        with contextlib.suppress(ValueError):
            load(head + data)


def test_what_is_damaged_is_counted_or_refused(tmp_path):
    path = tmp_path / "a.prof"
    good = {
        ("a.py", 1, "f"): (1, 1, 0.5, 1.0, {}),
        ("a.py", 2, "g"): (1, 1, 0.5, 0.5, {("a.py", 1, "f"): (1, 1, 0.5, 0.5)}),
    }
    path.write_bytes(marshal.dumps(good | {("a.py", "x", 3): 1, ("a.py", 3, "h"): (1, 2)}))
    trace = registry.open_trace(path)
    assert trace.problems["malformed"].count == 2
    assert (trace.calls.end - trace.calls.start).tolist() == [10**9, 5 * 10**8]
    path.write_bytes(marshal.dumps(good)[:-4])
    with pytest.raises(InputError, match="damaged"):
        registry.open_trace(path)


texts = st.sampled_from(["a.py", "~", "f", "g", "ä" * 130, "<built-in method x>", ""])
keys = st.tuples(texts, st.sampled_from([0, 1, -7, 1 << 40]), texts)
amounts = st.one_of(
    st.integers(0, 9), st.floats(0, 9), st.sampled_from([-1, 1 << 70, float("nan"), True, "x"])
)
four = st.one_of(st.tuples(*[st.integers(0, 3)] * 2, *[st.floats(0, 9)] * 2), st.tuples(*[amounts] * 4))
callers = st.dictionaries(keys, four, max_size=3)
functions = st.dictionaries(keys, st.tuples(four, callers).map(lambda said: (*said[0], said[1])), max_size=4)


def written(found):
    """What a profile says, by keys."""
    places = zip(found.file.tolist(), found.line.tolist(), found.name.tolist())
    key = [(found.texts[file], line, found.texts[name]) for file, line, name in places]
    return (
        [(key[k], *row) for k, *row in zip(found.key.tolist(), found.calls.tolist(), found.own.tolist())],
        [
            (key[one], key[other], time)
            for one, other, time in zip(found.caller.tolist(), found.callee.tolist(), found.time.tolist())
        ],
    )


@settings(max_examples=100, deadline=None)
@given(functions, st.integers(2, 4), st.integers(0, 8))
def test_the_kernel_reads_what_a_plain_reader_does(said, version, cut):
    data = marshal.dumps(said, version)
    recording = Recording()
    plain = cprofile._plain(load_python(data), recording)
    scanned = cprofile._scanned(data)
    is_usual = not recording.problems and all(
        type(one) in (int, float) and abs(one) < 1 << 31
        for *own, by in said.values() for one in (*own, *(one for row in by.values() for one in row))
    ) and all(abs(key[1]) < 1 << 31 for row in said.items() for key in (row[0], *row[1][4]))  # fmt: skip
    if scanned is None:
        assert not is_usual
    else:
        assert written(scanned) == written(plain)
    if cut and cprofile._scanned(data[:-cut]) is not None:
        raise AssertionError("what is cut is refused")


@pytest.mark.parametrize("name", ["words.prof", "small36.prof", "small313.prof"])
def test_a_real_profile_is_read_by_the_kernel(name):
    data = (DATA / name).read_bytes()
    scanned = cprofile._scanned(data)
    assert written(scanned) == written(cprofile._plain(load_python(data), Recording()))


TEXTS = (
    "", "run", "<module>", "Shop.sell", "sell.<locals>.find", "f(x)", "g (y", "/a/shop.py", "/b/a(b.py",
    "lib/site-packages/pip/_vendor/rich.py", "<frozen os>", "~",
)  # fmt: skip
text_rows = st.sampled_from(range(len(TEXTS)))
added = st.lists(st.tuples(text_rows, text_rows, st.sampled_from([-1, 0, 1, 7, 1 << 31])), max_size=12)


def functions_of(recording, index):
    """Return what a trace in which all are called says of functions."""
    thread = recording.thread(0, "main")
    for function in index:
        time = [2 * function, 2 * function + 1]
        recording.add_events(kind=[0, 1], thread=[thread] * 2, function=[function] * 2, time=time)
    trace = recording.finish(Source(format="made", path=""), split=split)
    texts = (trace.functions.name, trace.functions.label, trace.files, trace.containers.name)
    columns = (getattr(trace.functions, name).tolist() for name in ("container", "file", "line"))
    return [*map(list, texts), *columns, trace.containers.parent.tolist(), trace.containers.kind.tolist()]


@given(added)
@example([(3, 7, 7), (1, 7, 7), (3, 7, 7)])
def test_functions_of_columns_are_those_added_in_turn(said) -> None:
    one, other = Recording(), Recording()
    wanted = [add_function(one, TEXTS[name], TEXTS[file], line) for name, file, line in said]
    name, file, line = (np.array([row[k] for row in said], np.int64) for k in range(3))
    assert add_functions(other, TEXTS, name, file, line).tolist() == wanted
    if said:
        assert functions_of(other, wanted) == functions_of(one, wanted)
