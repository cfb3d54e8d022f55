"""``tracevis3d explain`` and ``tv.explain``: what is printed and written, and what a story's scene holds."""

import itertools
import json
import re
import shlex

import numpy as np
import pytest

import tracevis3d as tv
from tracevis3d.cli import main
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Tubes
from tracevis3d.errors import UsageError
from tracevis3d.features.comparison.report.sentences import caption, sentence
from tracevis3d.features.comparison.report.staging import Stage
from tracevis3d.features.comparison.report.viewpoints import default_settings, with_viewpoints
from tracevis3d.parameters import read
from tracevis3d.views import registry

KEYS = {
    "kind", "title", "score", "certainty", "headline", "short", "sentence", "caption", "functions", "path",
    "calls", "time_ns", "below",
    "ranges_ns", "examples", "group", "details", "figure", "settings",
}  # fmt: skip


def write(path, extra=(), slow=80):
    """Write a small run of a program; ``extra`` is what it does in the middle."""

    def event(name, ts, dur):
        return {"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": f"{name} (/x.py:1)"}

    events = [event("main", 0, 1000), event("read", 10, 200), event("parse", 20, slow)]
    events += [event("check", 120, 80), event("write", 700, 250), event("format", 710, 100)]
    events += [event("store", 820, 100)]
    events += [event(name, 250 + 100 * i, 90) for i, name in enumerate(extra)]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return str(path)


@pytest.fixture
def pair(tmp_path):
    return write(tmp_path / "a.json"), write(tmp_path / "b.json", ["index", "rank", "sort"])


def test_what_is_reported_as_json(pair, capsys):
    assert main(["explain", *pair, "--json", "--quiet"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {
        "traces", "tau", "measure", "identity", "identity_reason", "pace", "varies", "left_out", "findings",
    }  # fmt: skip
    first = facts["findings"][0]
    assert set(first) == KEYS
    assert first["kind"] == "unmatched"
    assert first["functions"] == ["", "index"]
    assert first["calls"] == [0, 1]
    assert first["below"] == [0, 3]
    # 290 of 1,000 µs and 3 of 10 calls: the larger share.
    assert first["score"] == pytest.approx(0.3)
    assert first["ranges_ns"] == [None, [250_000, 540_000]]
    assert "without a match in A" in first["sentence"]


def test_what_is_reported_in_words(pair, capsys):
    assert main(["explain", *pair, "--top", "1", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1. unmatched  A stretch of B without a match in A: index to sort")
    assert main(["explain", pair[0], pair[0], "--quiet"]) == 0
    assert "same 7 calls in the same order" in " ".join(capsys.readouterr().out.split())


def test_the_report_without_figures(pair, tmp_path, capsys):
    place = tmp_path / "told" / "here"
    assert main(["explain", *pair, "-o", str(place), "--no-figures", "--quiet"]) == 0
    assert sorted(p.name for p in place.iterdir()) == ["findings.json", "report.md"]
    text = (place / "report.md").read_text(encoding="utf-8")
    facts = json.loads((place / "findings.json").read_text(encoding="utf-8"))
    assert len(re.findall(r"^## \d+\. ", text, re.M)) == len(facts["findings"])
    assert facts["findings"][0]["sentence"].split(":")[0] in text.replace("`", "")
    assert "![" not in text
    assert "story.blend" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(row.rstrip().endswith("|") for row in rows)


def test_words_that_are_off(pair, tmp_path, capsys):
    for words, reason in (
        (["--top", "0"], "1 is the minimum"),
        (["--tau", "2"], "a number from 0 to 1"),
        (["--walk", "main"], "name a folder"),
        (["-o", str(tmp_path / "x"), "--style", "odd"], "--style"),
        (["-o", str(tmp_path / "x"), "--size", "huge"], "--size"),
    ):
        assert main(["explain", *pair, *words, "--quiet"]) == 2
        assert reason in capsys.readouterr().err
    file = tmp_path / "file"
    file.write_text("")
    assert main(["explain", *pair, "-o", str(file), "--quiet"]) == 1
    assert "can't be made" in capsys.readouterr().err


def test_the_commands_of_a_report_draw_its_figures(pair):
    from tracevis3d.api import Figure, Output

    story = tv.explain(*map(tv.load, pair))
    for i in range(len(story)):
        words = shlex.split(story.command(i, Output(style="stage", engine="workbench"), "640x360"))
        assert words[:3] == ["tracevis3d", "render", "compare"]
        assert words[3:5] == list(pair)
        assert words[7:13] == ["--style", "stage", "--engine", "workbench", "--size", "640x360"]
        settings = dict(word.split("=", 1) for word in words if "=" in word)
        assert settings == story.settings(i)
        drawing = Figure("compare", story.traces, settings).drawing(Frame(640, 360))
        assert drawing.title == settings["caption"]
        if "mark" in settings:
            framed = [e for e in drawing.elements if e.kind == "callout"]
            called = {f"{'AB'[e.source]}:{call}" for e in framed for call in e.id.tolist()}
            assert called == {word.removesuffix(" itself") for word in settings["mark"].split(", ")}


def test_stops_show_what_they_are_about(pair):
    story = tv.explain(*map(tv.load, pair))
    drawing, viewpoints = with_viewpoints(story, Frame(640, 360))
    assert len(viewpoints) == len(story) + 1
    assert len({stop.name for stop in viewpoints}) == len(viewpoints)
    assert viewpoints[0].camera is None
    kinds = {element.kind for element in drawing.elements}
    for stop, text in zip(viewpoints[1:], story.sentences):
        assert stop.caption == text
        assert set(stop.shows) & kinds
        # What is reported lies in the picture of the whole.
        low, high = np.array(stop.camera.low), np.array(stop.camera.high)
        assert (low < high).all()
        assert low[0] >= drawing.camera.low[0] - 1e-6
        assert high[0] <= drawing.camera.high[0] + 1e-6
    # The twin that is context holds the same matches, thinner.
    of = {e.kind: e for e in drawing.elements if isinstance(e, Tubes)}
    assert (of["context tube"].radius < of["tube"].radius).all()


def test_a_walk_goes_from_a_match_to_what_explains_it(pair):
    from tracevis3d.features.comparison.report.tour import explaining, steps

    story = tv.explain(*map(tv.load, pair))
    stage = Stage.of(story, Frame(640, 360), default_settings(story, walk=True))
    result = steps(story, stage, "main")
    names = [told_.name for told_ in result]
    assert names[0] == "1. main"
    assert "explained by" in result[0].caption
    for one, other in itertools.pairwise(result):
        for trace, a, b in zip(story.traces, one.calls, other.calls):
            assert a[0] < b[0] < a[0] + trace.calls.extent[a[0]]
    by_number = steps(story, stage, "1")
    assert by_number[0].matches.any()
    root = int(np.flatnonzero((stage.a == 0) & (stage.b == 0))[0])
    below = explaining(story, stage, root)
    functions = {story.traces[0].functions.label[story.traces[0].calls.function[stage.a[i]]] for i in below}
    assert functions == {"read", "write"}
    for text in ("nobody", "99"):
        with pytest.raises(UsageError):
            steps(story, stage, text)


def test_sentences_are_whole(pair, tmp_path):
    story = tv.explain(tv.load(pair[1]), tv.load(write(tmp_path / "c.json", ["rank", "index"], slow=20)))
    for finding in story.findings.found:
        for text in (sentence(finding), caption(finding)):
            assert "None" not in text
            assert text.strip() == text
        assert sentence(finding).count("`") % 2 == 0
        assert "`" not in caption(finding)


@pytest.mark.blender
@pytest.mark.slow
def test_the_whole_story_is_written(pair, tmp_path):
    bpy = pytest.importorskip("bpy")
    # Scenes that other tests have left would be in the file, too.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    place = tmp_path / "told"
    words = ["explain", *pair, "-o", str(place), "--engine", "workbench", "--size", "320x180", "--top", "2"]
    assert main([*words, "--walk", "main", "--quiet"]) == 0
    report = (place / "report.md").read_text(encoding="utf-8")
    pictures = sorted(p.name for p in place.glob("*.png"))
    assert pictures
    assert all(f"]({name})" in report for name in pictures)
    with bpy.data.libraries.load(str(place / "story.blend")) as (held, loaded):
        loaded.scenes = list(held.scenes)
    (scene,) = loaded.scenes
    try:
        markers = sorted(scene.timeline_markers, key=lambda marker: marker.frame)
        assert markers[0].name.strip() == "Overview"
        assert "1. main" in markers[1].name
        assert all(marker.camera is not None for marker in markers)
        # Each object that a stop hides has its turn.
        hiding = [shown for shown in scene.objects if "tracevis3d_hides" in shown]
        assert hiding
    finally:
        bpy.data.scenes.remove(scene)


def test_figures_compare_as_the_findings_did(tmp_path):
    before, after = write(tmp_path / "a.json", ["old_index"]), write(tmp_path / "b.json", ["index", "rank"])
    how = {"identity": "exact", "rewrite": [("^old_", "")], "tau": 0.2, "cache": False}
    story = tv.explain(tv.load(before), tv.load(after), **how)
    wanted = story.settings(0)
    assert (wanted["identity"], wanted["tau"]) == ("exact", "0.2")
    assert json.loads(wanted["rewrite"]) == [["^old_", ""]]
    assert "--set 'rewrite=" in story.command(0, tv.api.Output())

    def matched(**more):
        drawing = draw_compare(story.traces, {**wanted, **more})
        return drawing.counts["unmatched"]

    # "rank" alone has no match; without the pattern the two names of one function have none either.
    assert matched() == 1
    assert matched(rewrite="") == 3


def draw_compare(traces, settings):
    view = registry.find("compare")
    shown = {
        k: v for k, v in settings.items() if not k.startswith(("start", "end", "focus", "mark", "first"))
    }
    return view.draw(traces, read(view.parameters, shown), Frame(), lambda *_: None)


def test_pairs_of_names_that_a_view_is_given(tmp_path):
    before, after = write(tmp_path / "a.json", ["load_all"]), write(tmp_path / "b.json", ["fetch_all"])
    traces = tv.load(before), tv.load(after)
    assert draw_compare(traces, {}).counts["unmatched"] == 2
    pairs_ = json.dumps([["load_all", "fetch_all"]])
    assert draw_compare(traces, {"identity": "name", "renamed": pairs_}).counts["unmatched"] == 0
    assert draw_compare(traces, {"fuzzy": "50"}).counts["unmatched"] == 0
    for wrong in ("load_all", '["load_all", "fetch_all"]', "[[1, 2]]"):
        with pytest.raises(UsageError, match="pairs of texts are expected"):
            draw_compare(traces, {"renamed": wrong})
    with pytest.raises(UsageError, match="two traces"):
        draw_compare((*traces, traces[0]), {"renamed": pairs_})


def test_figures_leave_out_far_callers_and_frame_what_is_in_the_window(tmp_path):
    def run(path, extra):
        deep = [
            {"ph": "X", "pid": 1, "tid": 1, "ts": k, "dur": 5000 - 2 * k, "name": f"level{k}"}
            for k in range(12)
        ]
        calls = [
            {
                "ph": "X",
                "pid": 1,
                "tid": 1,
                "ts": 100 + 40 * k,
                "dur": 20,
                "name": "new" if k < extra else "old",
            }
            for k in range(100)
        ]
        path.write_text(json.dumps({"traceEvents": deep + calls}), encoding="utf-8")
        return tv.load(str(path))

    story = tv.explain(run(tmp_path / "a.json", 0), run(tmp_path / "b.json", 40), cache=False)
    index = next(i for i, f in enumerate(story.findings.found) if "new" in f.functions)
    wanted = story.settings(index)
    # The calls are at depth 13: four callers above them are drawn.
    assert int(wanted["first_depth"]) == 9
    if wanted["mark"].startswith("B:"):
        low, high = (float(wanted[key].removesuffix("ms")) * 1e6 for key in ("start_b", "end_b"))
        calls = story.traces[1].calls
        ids = np.array([int(word.split(":")[1]) for word in wanted["mark"].split(", ")])
        assert np.all((calls.end[ids] > low) & (calls.start[ids] < high))
