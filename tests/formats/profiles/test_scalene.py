"""Scalene's JSON: recordings of two versions of one program, against what Scalene says of each function."""

import gzip
import json
from collections import Counter

import pytest

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry

DATA = ROOT / "tests" / "data" / "profiles"
#: By Scalene 1.5 and 2.4.
FILES = [DATA / "words1.scalene.json.gz", DATA / "words2.scalene.json.gz"]


def said(path):
    """Return what Scalene says: seconds, and the percentage of each function and line."""
    value = json.loads(gzip.decompress(path.read_bytes()))
    (file,) = value["files"].values()
    percent = {
        (kind, row["line"] if kind == "functions" else row["lineno"]): sum(
            row[f"n_{share}"] for share in ("cpu_percent_python", "cpu_percent_c", "sys_percent")
        )
        for kind in ("functions", "lines")
        for row in file[kind]
    }
    return value, percent


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_functions_have_the_shares_that_scalene_gives_them(path):
    trace = registry.open_trace(path)
    assert trace.source.format == "scalene"
    value, percent = said(path)
    assert trace.span_ns == pytest.approx(1e9 * value["elapsed_time_sec"], rel=1e-3)
    own = Counter()
    samples = trace.samples
    is_time = samples.kind == 0
    for stack, weight in zip(samples.stack[is_time].tolist(), samples.weight[is_time].tolist(), strict=True):
        # Scalene counts what lies in a function, comprehensions too, for it.
        name = trace.functions.name[trace.stacks.function[stack]].partition(" (")[0]
        own[name.partition(".<locals>")[0]] += weight
    shares = {name: percent["functions", name] for name in own}
    assert sum(shares.values()) == pytest.approx(100, abs=1)
    for name, share in shares.items():
        assert 100 * own[name] / sum(own.values()) == pytest.approx(share, abs=1)
    assert list(samples.kinds) == ["time (ns)", "samples"]
    assert int(samples.weight[~is_time].sum()) == sum(stack[1]["count"] for stack in value["stacks"])


def test_without_stacks_lines_stand_for_their_functions(tmp_path):
    value, percent = said(FILES[1])
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value | {"stacks": []}))
    trace = registry.open_trace(path)
    assert trace.source.format == "scalene"
    total = trace.calls.end.max()
    found = {
        trace.functions.label[f]: (end - start) / total
        for f, start, end in zip(
            trace.calls.function.tolist(), trace.calls.start.tolist(), trace.calls.end.tolist(), strict=True
        )
    }
    assert set(found) == {"parse", "clean", "main"}
    for name, share in found.items():
        assert 100 * share == pytest.approx(percent["functions", name], abs=0.1)


def test_what_makes_no_sense_is_counted_or_refused(tmp_path):
    value, _ = said(FILES[0])
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps(value | {"stacks": [*value["stacks"], [["x"], {}], 7, [[], {"cpu_samples": 2}]]})
    )
    trace = registry.open_trace(path)
    assert trace.problems["malformed"].count == 3
    assert trace.problems["malformed"].first == "stack 6"
    for broken in ({"elapsed_time_sec": -1}, {"elapsed_time_sec": "x"}, {"stacks": [], "files": {}}):
        path.write_text(json.dumps(value | broken))
        with pytest.raises(InputError):
            registry.open_trace(path)
