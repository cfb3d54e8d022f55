"""Every Chrome trace at hand is read; what was read is held against a plain json reader."""

import gzip
import json

import pytest

from tests.support.chrome_twin import load, read
from tracevis3d import api
from tracevis3d.errors import InputError
from tracevis3d.formats import registry, unpack
from tracevis3d.progress import silent

#: calls, threads with calls, functions, depth: as whoever recorded these counted them.
RECORDED = {
    # 49,951 calls of 411 functions were recorded, the others sampled.
    "chromium_docs_page.json.gz": (50000, 75, 426, 20),
    "sync_downloader_8w.json.gz": (54220, 40, 928, 67),
    "sync_pillow_8w.json.gz": (42118, 9, 721, 48),
    "uftrace_lua.json.gz": (173658, 1, 525, 59),
    # The list that came with it says depth 14; a stack in Python over the same events says 16.
    "uftrace_zstd_7t.json.gz": (3035, 7, 308, 16),
    "vt_black_cfuncs.json.gz": (206667, 2, 981, 49),
    "vt_black_multiproc.json.gz": (99840, 5, 915, 48),
    "vt_markdown_repeat1.json.gz": (19482, 1, 283, 25),
    "vt_markdown_repeat2.json.gz": (19482, 1, 283, 25),
    "vt_pylint_0.9M.json.gz": (902322, 1, 1971, 185),
    "vt_rst2html_docutils0.20.json.gz": (128262, 1, 640, 49),
    "vt_rst2html_docutils0.22.json.gz": (128385, 1, 667, 40),
    "vt_sphinxtext_C.json.gz": (195560, 1, 1313, 51),
    "vt_sphinxtext_E.json.gz": (88856, 1, 1060, 38),
    "vt_sphinxtext_F.json.gz": (63746, 1, 1077, 38),
    "vt_sphinxtext_G.json.gz": (164632, 1, 1268, 39),
    "lttng_mt/uft.json.gz": (64079, 5, 18, 4),
    "python_threads/thr_v311.json": (5365, 6, 162, 26),
    "python_threads/thr_v313.json": (5495, 6, 171, 27),
}
PROBLEMS = {
    "chromium_docs_page.json.gz": {"unmatched begin": 51, "sampled": 30, "unmatched span": 11},
    "uftrace_lua.json.gz": {"no thread": 347377, "unmatched end": 61},
    "uftrace_zstd_7t.json.gz": {"no thread": 3449, "unmatched end": 133},
    "lttng_mt/uft.json.gz": {"no thread": 35, "unmatched end": 33},
}
DAMAGED = {
    "blender_name_clash.json": (2000, {}),
    "bom.json": (2000, {}),
    "deep_10000_x.json": (10000, {}),
    "dup_tid_across_pids.json": (2000, {}),
    "empty_events.json": (0, {}),
    "gz_truncated.json.gz": (914, {"truncated": 1}),
    "missing_fields.json": (2000, {"no thread": 67}),
    "nan_ts.json": (197, {"bad time": 3}),
    "negative_duration.json": (2000, {"negative duration": 40}),
    "only_metadata.json": (0, {}),
    "path_traversal.json": (2000, {}),
    "truncated_array_form.json": (660, {"truncated": 1}),
    "truncated_mid_event.json": (994, {"truncated": 1}),
    "unmatched_B.json": (2000, {"unmatched begin": 1, "mismatched end": 88}),
    "x_end_order.json": (2000, {}),
    "x_out_of_order.json": (2000, {"out of order": 1989}),
    "zero_duration.json": (2000, {}),
}


def counted(trace):
    return {kind: problem.count for kind, problem in trace.problems.items()}


@pytest.mark.parametrize("name", RECORDED)
def test_recordings(recorded, name):
    trace = registry.open_trace(recorded / name)
    calls = trace.calls
    assert trace.source.format == "chrome"
    assert (
        len(calls),
        int((trace.threads.count > 0).sum()),
        len(trace.functions),
        int(calls.depth.max()),
    ) == RECORDED[name]
    assert counted(trace) == PROBLEMS.get(name, {})


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_recordings_are_read_as_far_as_they_go(recorded, name):
    trace = registry.open_trace(recorded / "damaged" / name)
    assert (len(trace), counted(trace)) == DAMAGED[name]


def test_what_is_no_trace_is_one_sentence(recorded):
    for name in ("empty_file.json", "not_json.json"):
        with pytest.raises(InputError) as caught:
            registry.open_trace(recorded / "damaged" / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


#: The public files are read in so many parts, so that processes can share them.
PARTS = 6


@pytest.mark.parametrize("part", range(PARTS))
def test_public_files_hold_what_a_plain_reader_finds(public, part):
    from tracevis3d.formats.chrome.format import FORMAT

    compared = 0
    files = [path for path in sorted(public.rglob("*")) if path.is_file() and path.suffix in (".json", ".gz")]
    ours = [
        p for p in files if FORMAT.sniff(unpack.head(p, registry.HEAD), p.name.lower()) >= registry.LIKELY
    ]
    for path in ours[part::PARTS]:
        packed = path.read_bytes()
        text = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
        trace = FORMAT.read(path, silent)
        try:
            document = load(text.decode("utf-8-sig", "replace"))
        except json.JSONDecodeError:
            assert "truncated" in trace.problems, path
            continue
        events = document["traceEvents"] if isinstance(document, dict) else document
        calls, marks, counters, sync, problems = read(events)
        compared += 1
        opened = sum(kind != 1 for _, kind, *_ in calls)
        # An end at the time of a begin of its name that is written later is a call as well.
        sampled = "sampled" in counted(trace)
        assert len(trace) == opened or (sampled and len(trace) > opened), path
        assert {(str(p), str(t)) for p, t in zip(trace.threads.process, trace.threads.tid)} >= {
            call[0] for call in calls
        }, path
        called = {trace.functions.name[f] for f in set(trace.calls.function.tolist())}
        recorded = {name for _, kind, name, *_ in calls if kind != 1}
        assert called == recorded or (sampled and called > recorded), path
        assert len(trace.instants) == len(marks), path
        assert len(trace.counters.time) == len(counters), path
        assert len(trace.sync) == len(sync), path
        sections = {"samples", "stackFrames", "systemTraceEvents"} & set(
            document if isinstance(document, dict) else ()
        )
        expected = problems.get("unsupported", 0) + len(sections)
        assert counted(trace).get("unsupported", 0) == expected, path
        for kind in ("no name", "no duration", "bad time", "bad value", "malformed"):
            assert counted(trace).get(kind, 0) == problems.get(kind, 0), (path, kind)
    assert compared * PARTS > 50


def test_waits_and_releases_of_recordings(recorded):
    for name, waits, releases, transfers in (
        ("sync_pillow_8w.json.gz", 1377, 1460, 1834),
        ("sync_downloader_8w.json.gz", 644, 709, 10422),
    ):
        sync = registry.open_trace(recorded / name).sync
        assert [int((sync.kind == kind).sum()) for kind in (0, 1, 2)] == [waits, releases, transfers]
        assert set(sync.call[sync.kind == 1].tolist()) == {-1}
        assert (sync.call[sync.kind != 1] >= 0).all()


def test_flows_of_chromium_join_calls(recorded):
    trace = registry.open_trace(recorded / "chromium_docs_page.json.gz")
    flows = trace.flows
    assert len(flows) == 18772
    hit = flows.target >= 0
    assert hit.mean() > 0.9
    calls = trace.calls
    assert (calls.thread[flows.target[hit]] == flows.target_thread[hit]).all()
    assert (calls.start[flows.target[hit]] <= flows.end[hit]).all()
    assert (calls.end[flows.target[hit]] >= flows.end[hit]).all()


def test_arguments_are_decoded_when_asked_for(recorded):
    path = recorded / "sync_pillow_8w.json.gz"
    trace = registry.open_trace(path)
    call = int(trace.sync.call[trace.sync.call >= 0][0])
    arguments = trace.arguments(call)
    assert arguments["kind"] in ("wait", "io")
    assert arguments["objects"]
    assert trace.arguments(int((trace.calls.record < 0).argmax())) == {}


def test_what_is_out_of_order_is_told_also_beside_waits_that_never_ended(tmp_path):
    """Such waits are written last by our recorder: that alone is nothing to repair, other calls are."""

    def call(name, start, lasts, **said):
        return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": lasts, "args": said}

    wait = call("Lock.acquire", 20, 80, kind="wait", objects=["L"], contended=True, unfinished=True)
    for late in (0, 1, 3):
        early = [call("g", 40 - i, 0.2) for i in range(late + 1)]
        path = tmp_path / f"{late}.json"
        path.write_text(json.dumps({"traceEvents": [call("main", 0, 100), *early, call("h", 60, 1), wait]}))
        problems = api.load(str(path), cache=False).problems
        assert [(kind, problems[kind].count) for kind in problems] == [("out of order", late)][: late > 0]
