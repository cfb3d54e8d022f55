"""Ruby's vernier writes Firefox's processed form, with weights that say how many samples a row stands for."""

import json

from tracevis3d.formats import registry
from tracevis3d.trace import profile


def test_a_profile_of_vernier_by_its_definition(tmp_path):
    strings = ["main", "a.rb", "work", "sleep", "THREAD_SUSPENDED", "GC_PAUSE"]
    thread = {
        "name": "script.rb", "isMainThread": True, "processStartupTime": 0, "processShutdownTime": None,
        "registerTime": 0, "unregisterTime": None, "pausedRanges": [], "pid": 42, "tid": 43,
        "frameTable": {
            "address": [0, 0, 0], "inlineDepth": [0, 0, 0], "category": [0, 0, 0], "subcategory": None,
            "func": [0, 1, 2], "nativeSymbol": [None] * 3, "innerWindowID": [None] * 3,
            "implementation": [None, None, None], "line": [9, 3, None], "column": [None] * 3, "length": 3,
        },
        "funcTable": {
            "name": [0, 2, 3], "isJS": [False] * 3, "relevantForJS": [False] * 3, "resource": [-1] * 3,
            "fileName": [1, 1, None], "lineNumber": [1, 2, None], "columnNumber": [None] * 3, "length": 3,
        },
        "stackTable": {
            "frame": [0, 1, 2], "category": [0, 0, 1], "subcategory": [0, 0, 0], "prefix": [None, 0, 0],
            "length": 3,
        },
        "samples": {
            "stack": [1, 2, 1], "time": [1.0, 3.0, 7.0], "weight": [2, 4, 1], "weightType": "samples",
            "length": 3,
        },
        "markers": {
            "data": [{"type": "THREAD_SUSPENDED"}, {"type": "GC_PAUSE"}], "name": [4, 5],
            "startTime": [3.0, 7.5], "endTime": [7.0, None], "phase": [1, 0], "category": [0, 0], "length": 2,
        },
        "resourceTable": {"length": 0, "lib": [], "name": [], "host": [], "type": []},
        "nativeSymbols": {}, "stringArray": strings,
    }  # fmt: skip
    meta = {
        "interval": 1, "startTime": 1_700_000_000_000.0, "processType": 0, "product": "Ruby/Vernier",
        "stackwalk": 1, "version": 28, "preprocessedProfileVersion": 48, "symbolicated": True,
        "markerSchema": [], "sampleUnits": {"time": "ms"}, "categories": [],
    }  # fmt: skip
    path = tmp_path / "run.vernier.json"
    path.write_text(json.dumps({"meta": meta, "libs": [], "threads": [thread]}))
    trace = registry.open_trace(path)
    assert trace.source.format == "firefox"
    assert not trace.problems
    assert profile.totals(trace) == {"samples": 7}
    assert (trace.threads.process, trace.threads.tid, trace.threads.name) == ((42,), (43,), ("script.rb",))
    calls = [
        (trace.functions.label[f], depth, round(start / 1e6, 3))
        for f, depth, start in zip(
            trace.calls.function.tolist(), trace.calls.depth.tolist(), trace.calls.start.tolist(), strict=True
        )
    ]
    assert [call[:2] for call in calls] == [("main", 1), ("work", 2), ("sleep", 2), ("work", 2)]
    assert [b - a for a, b in zip((calls[1][2], calls[2][2]), (calls[2][2], calls[3][2]), strict=True)] == [
        2,
        4,
    ]
    assert trace.spans.names[int(trace.spans.name[0])] == "THREAD_SUSPENDED"
    assert trace.instants.names[int(trace.instants.name[0])] == "GC_PAUSE"
