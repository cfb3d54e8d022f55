"""speedscope files: recordings, all units, damaged ones, and what is written back."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.speedscope import format
from tracevis3d.progress import silent

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def read(path):
    return registry.open_trace(path)


def save(path, profiles, frames=("a", "b", "c"), **more):
    frames = [{"name": f} if isinstance(f, str) else f for f in frames]
    path.write_text(
        json.dumps({"$schema": SCHEMA, "shared": {"frames": frames}, "profiles": profiles, **more})
    )
    return path


def evented(*events, unit="nanoseconds", name="t"):
    rows = [{"type": kind, "frame": frame, "at": at} for kind, frame, at in events]
    return {"type": "evented", "name": name, "unit": unit, "startValue": 0, "endValue": 9, "events": rows}


def sampled(samples, weights, unit="nanoseconds", start=0, end=0):
    return {"type": "sampled", "name": "t", "unit": unit, "startValue": start, "endValue": end,
            "samples": samples, "weights": weights}  # fmt: skip


def rows(trace):
    names = list(trace.functions.name)
    calls = trace.calls
    return [
        (t, names[f], start + trace.origin_ns, end + trace.origin_ns, depth)
        for t, f, start, end, depth in zip(
            calls.thread.tolist(),
            calls.function.tolist(),
            calls.start.tolist(),
            calls.end.tolist(),
            calls.depth.tolist(),
            strict=True,
        )
    ]


def plain_calls(file):
    """Read sampled profiles in seconds; frames alike in name, file and line are one function."""
    keys = [
        f"{f['name']} ({f['file']}:{f['line']})" if f.get("file") else f["name"]
        for f in file["shared"]["frames"]
    ]
    calls = []
    for thread, profile in enumerate(file["profiles"]):
        now, open_calls = round(profile["startValue"] * 1e9), []
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
            frames = [keys[i] for i in sample]
            shared = 0
            while shared < min(len(frames), len(open_calls)) and frames[shared] == open_calls[shared][1]:
                shared += 1
            del open_calls[shared:]
            for frame in frames[shared:]:
                open_calls.append([thread, frame, now, now, len(open_calls) + 1])
                calls.append(open_calls[-1])
            now += round(weight * 1e9)
            for call in open_calls:
                call[3] = now
    return [tuple(call) for call in calls]


@pytest.mark.parametrize(
    ("name", "calls", "threads", "functions", "depth"),
    [
        ("pyspy_sphinx.speedscope.json.gz", 2726, 1, 823, 92),
        ("python_threads/pyspy.speedscope", 669, 3, 127, 19),
    ],
)
def test_recordings_are_read_whole(recorded, name, calls, threads, functions, depth):
    trace = read(recorded / name)
    assert trace.source.format == "speedscope"
    assert (len(trace.calls), len(trace.threads), len(trace.functions)) == (calls, threads, functions)
    assert trace.calls.depth.max() == depth
    data = (recorded / name).read_bytes()
    assert rows(trace) == plain_calls(json.loads(gzip.decompress(data) if name.endswith("gz") else data))
    assert not trace.problems


def test_threads_of_py_spy_have_their_ids_and_names(recorded):
    threads = read(recorded / "python_threads" / "pyspy.speedscope").threads
    assert threads.tid == (16028, 16031, 16032)
    assert threads.name == ("MainThread", "", "w1")


def test_the_first_version_of_the_format(public):
    trace = read(
        public / "jlfwong/speedscope/sample/profiles/speedscope/0.0.1/simple-no-pretty-print.speedscope.json"
    )
    us = 1000
    assert rows(trace) == [
        (0, "a", 0, 14 * us, 1),
        (0, "b", 0, 14 * us, 2),
        (0, "c", 0, 2 * us, 3),
        (0, "d", 2 * us, 6 * us, 3),
        (0, "c", 6 * us, 9 * us, 3),
    ]
    assert trace.problems.as_dict() == {
        "no time unit": {"count": 1, "first": "profile 1 has the unit 'none'"}
    }


@pytest.mark.parametrize(
    ("unit", "ns", "is_time"),
    [
        ("nanoseconds", 1, True),
        ("microseconds", 10**3, True),
        ("milliseconds", 10**6, True),
        ("seconds", 10**9, True),
        ("bytes", 1, False),
        ("none", 10**3, False),
    ],
)
def test_units(tmp_path, unit, ns, is_time):
    profiles = [
        evented(("O", 0, 3), ("C", 0, 8), unit=unit),
        sampled([[1], [1, 2]], [2, 3], unit=unit, start=1),
    ]
    trace = read(save(tmp_path / "a.json", profiles))
    assert rows(trace) == [
        (0, "a", 3 * ns, 8 * ns, 1),
        (1, "b", ns, 6 * ns, 1),
        (1, "c", 3 * ns, 6 * ns, 2),
    ]
    assert ("no time unit" in trace.problems) != is_time


def test_whole_nanoseconds_are_kept_exactly(tmp_path):
    late = 1_763_685_000_123_456_789
    profiles = [evented(("O", 0, late), ("C", 0, late + 1)), sampled([[0]], [1], start=late + 1)]
    trace = read(save(tmp_path / "a.json", profiles))
    assert rows(trace) == [(0, "a", late, late + 1, 1), (1, "a", late + 1, late + 2, 1)]


def test_what_is_wrong_is_counted_with_its_place(tmp_path):
    profiles = [
        evented(("O", 0, 1), ("X", 0, 2), ("O", 7, 3), ("C", 7, 4), ("O", 1, 1e300), ("C", 0, 9)),
        sampled([[0], [1], "no", [0]], [1, -2, 1], unit="furlongs"),
        {"type": "evented", "name": "empty"},
        evented(("O", "x", 1), ("O", 0, 2), ("C", 0, 3)),
        17,
    ]
    trace = read(save(tmp_path / "a.json", profiles, frames=["a", {"name": 3}, "c"]))
    assert rows(trace) == [
        (0, "a", 1, 9, 1),
        (0, "(unnamed frame 7)", 3, 4, 2),
        (1, "a", 0, 1000, 1),
        (1, "(unnamed frame 1)", 1000, 1000, 1),
        (1, "a", 2000, 3000, 1),
        (2, "a", 2, 3, 1),
    ]
    problems = {kind: (problem.count, problem.first) for kind, problem in trace.problems.items()}
    assert problems["malformed"] == (5, "profile 1, event 2 has a type that is neither O nor C")
    assert problems["bad time"] == (1, "profile 1, event 5 is outside of time")
    assert problems["negative duration"] == (1, "profile 2, sample 2")
    assert problems["no count"] == (1, "profile 2, sample 4")
    assert problems["no name"] == (2, "profile 1: there is no frame 7")
    assert problems["bad value"][0] == 2


def test_a_cut_file_is_read_up_to_its_last_whole_value(tmp_path):
    whole = save(
        tmp_path / "a.json", [evented(("O", 0, 1), ("O", 1, 2), ("C", 1, 3), ("C", 0, 4))]
    ).read_text()
    path = tmp_path / "cut.json"
    path.write_text(whole[: whole.rindex('{"type": "C"') + 8])
    trace = read(path)
    assert rows(trace) == [(0, "a", 1, 3, 1), (0, "b", 2, 3, 2)]
    assert trace.problems["truncated"].first.startswith("byte ")
    assert trace.problems["unmatched begin"].count == 1


def test_every_cut_of_a_recording_is_read_or_refused_in_a_sentence(recorded, tmp_path):
    data = (recorded / "python_threads" / "pyspy.speedscope").read_bytes()
    path = tmp_path / "a.speedscope"
    calls = []
    for size in range(100, len(data), 613):
        path.write_bytes(data[:size])
        try:
            trace = format.read(path, silent)
        except InputError:
            pass
        else:
            assert "truncated" in trace.problems
            calls.append(len(trace.calls))
    assert calls[-1] == 669
    assert len(calls) > 50


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"profiles": [], "shared": {"frames": []}}', "profiles can be read: there is none"),
        ('{"profiles": 3}', "this is not a speedscope file"),
        ("[1, 2]", "this is not a speedscope file"),
        ("{nonsense", "is not valid JSON"),
        ("[" * 100_000, "this is not a speedscope file"),
        ('{"profiles": [' + "[" * 100_000, "nested too deeply"),
        ('{"profiles": [' + "[" * 500, "none of its 1 profiles can be read"),
        (" ", "empty"),
    ],
)
def test_what_holds_no_profile_is_refused_in_one_sentence(tmp_path, text, reason):
    path = tmp_path / "a.speedscope.json"
    path.write_text(text)
    with pytest.raises(InputError, match=reason) as caught:
        format.read(path, silent)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_written_files_are_read_back(recorded, tmp_path):
    for name in (
        "weka_parallel_9t.tsv.gz",
        "pyspy_sphinx.speedscope.json.gz",
        "python_threads/thr_v311.pftrace",
    ):
        trace = read(recorded / name)
        path = tmp_path / "a.speedscope.json.gz"
        format.write(trace, path, silent)
        again = read(path)
        assert rows(again) == rows(trace)
        assert again.threads.tid == trace.threads.tid
        assert again.threads.name == trace.threads.name
        assert not again.problems
        file = json.loads(gzip.decompress(path.read_bytes()))
        assert file["$schema"] == SCHEMA
        for profile in file["profiles"]:
            assert profile["startValue"] == profile["events"][0]["at"]
            assert profile["endValue"] == profile["events"][-1]["at"]


def test_text_that_is_no_utf8_is_read(tmp_path):
    # Found by fuzzing: in a name, in a key, and where nothing decodes it at first.
    path = save(tmp_path / "a.json", [evented(("O", 0, 1), ("C", 0, 4))], frames=["name"], exporter="me")
    path.write_bytes(path.read_bytes().replace(b"name", b"na\xffe", 3).replace(b'"me"', b'"\xbb"'))
    path.write_bytes(path.read_bytes().replace(b'{"na\xffe": "na\xffe"', b'{"name": "na\xffe"'))
    trace = read(path)
    assert [row[1:] for row in rows(trace)] == [("na\ufffde", 1, 4, 1)]
    assert trace.problems["bad value"].first.startswith("the text is not UTF-8")


_number = st.one_of(
    st.integers(-3, 20),
    st.integers(0, 2**70),
    st.decimals(0, 10**6, places=3).map(float),
    st.sampled_from([1.5e-7, 2.5, 0.5, 1e300, -0.0, 1e5, True, None, "1"]),
)
_event = st.one_of(
    st.tuples(st.sampled_from("OC"), st.integers(-1, 4), st.integers(0, 50)),
    st.tuples(st.sampled_from(["O", "C", "X", "OO", "", 1, None]), _number, _number),
)


@settings(max_examples=200, deadline=None)
@example([("O", 0, 576_460_752_305), ("O", 0, 0.0)], "milliseconds", ["type", "frame", "at"], None, False)
@given(
    st.lists(_event, max_size=8),
    st.sampled_from(["nanoseconds", "microseconds", "milliseconds", "seconds", "none", "bytes"]),
    st.permutations(["type", "frame", "at"]),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_the_scanner_reads_events_as_the_decoder_does(
    tmp_path_factory, events, unit, keys, indent, is_strange
):
    rows_of = [
        {key: dict(zip(("type", "frame", "at"), event, strict=True))[key] for key in keys} for event in events
    ]
    if is_strange and rows_of:
        rows_of[-1]["more"] = {"at": [1]}
    profile = {"type": "evented", "name": "t", "unit": unit, "events": rows_of}
    text = json.dumps(
        {"shared": {"frames": [{"name": n} for n in "abc"]}, "profiles": [profile]}, indent=indent
    )
    path = tmp_path_factory.getbasetemp() / "events.json"
    path.write_text(text)

    def outcome():
        trace = format.read(path, silent)
        return rows(trace), trace.problems.as_dict()

    scanned = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(format, "_plain_events", lambda raw, scale: None)
        assert scanned == outcome()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(st.lists(st.integers(0, 4), max_size=4), st.lists(_number, max_size=3), _number), max_size=8
    ),
    st.lists(_number, max_size=8),
    st.sampled_from(["nanoseconds", "microseconds", "seconds"]),
    st.sampled_from([None, 1]),
)
def test_the_scanner_reads_samples_as_the_decoder_does(tmp_path_factory, samples, weights, unit, indent):
    profile = {"type": "sampled", "name": "t", "unit": unit, "samples": samples, "weights": weights}
    text = json.dumps(
        {"shared": {"frames": [{"name": n} for n in "abc"]}, "profiles": [profile]}, indent=indent
    )
    path = tmp_path_factory.getbasetemp() / "samples.json"
    path.write_text(text)

    def outcome():
        trace = format.read(path, silent)
        return rows(trace), trace.problems.as_dict()

    scanned = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(format, "_plain_samples", lambda raw: None)
        patch.setattr(format, "_plain_weights", lambda raw, scale: None)
        assert scanned == outcome()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 2), max_size=5), st.integers(0, 9)), min_size=1, max_size=20),
)
def test_samples_become_calls_as_a_plain_reader_makes_them(tmp_path_factory, stacks):
    profile = sampled([frames for frames, _ in stacks], [weight for _, weight in stacks], unit="seconds")
    file = {"shared": {"frames": [{"name": n} for n in "abc"]}, "profiles": [profile]}
    path = tmp_path_factory.getbasetemp() / "property.json"
    path.write_text(json.dumps({"$schema": SCHEMA, **file}))
    trace = read(path)
    assert len(trace.calls) == len(plain_calls(file))
    # Calls without duration at one moment may nest another way; those with one may not.
    expected = [call for call in plain_calls(file) if call[2] < call[3]]
    assert [call for call in rows(trace) if call[2] < call[3]] == expected
    assert np.all(trace.calls.end >= trace.calls.start)


def test_something_behind_the_document_is_not_a_cut(tmp_path):
    text = (
        '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"f"}]},'
        '"profiles":[{"type":"sampled","name":"m","unit":"seconds","startValue":0,"endValue":1,"samples":[[0]],'
        '"weights":[1]}]}'
    )
    (path := tmp_path / "a.speedscope.json").write_text(text * 2)
    trace = registry.open_trace(path)
    assert trace.problems.as_dict() == {
        "unsupported": {"count": 1, "first": f"byte {len(text) + 1:,}: something follows the JSON document"}
    }
    path.write_text(text[:-1])
    assert list(registry.open_trace(path).problems) == ["truncated"]
