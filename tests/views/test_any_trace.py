"""Each view and command on each kind of trace: a drawing or a sentence, no error of the program."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes, Drawing, Wedges
from tracevis3d.errors import TraceVisError
from tracevis3d.formats import registry as formats
from tracevis3d.formats.names import split
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source, Trace
from tracevis3d.trace.recording import Recording
from tracevis3d.trace.storage import store
from tracevis3d.views import registry

DATA = Path(__file__).resolve().parents[1] / "data"
FRAME = Frame(160, 90)
EVENT = {"ph": "X", "pid": 1, "tid": 1, "dur": 0}


def written(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return formats.open_trace(path)


#: What is peculiar -> a trace of that kind.
TRACES = {
    "nothing": lambda folder: Trace(),
    "one call without duration": lambda folder: written(folder, "a.json", [{**EVENT, "name": "f", "ts": 0}]),
    "counters alone": lambda folder: written(
        folder, "a.json", [{"ph": "C", "name": "n", "pid": 1, "ts": t, "args": {"v": t}} for t in range(3)]
    ),
    "instants alone": lambda folder: written(
        folder, "a.json", [{"ph": "i", "name": "n", "pid": 1, "tid": 1, "ts": t, "s": "t"} for t in range(3)]
    ),
    "odd names": lambda folder: written(
        folder,
        "a.json",
        [{**EVENT, "name": name, "ts": i, "dur": 1} for i, name in enumerate(["", "日本", "\u202e"])],
    ),
    "deep": lambda folder: written(folder, "a.collapsed", ";".join(f"f{i}" for i in range(1_000)) + " 1\n"),
    "allocations": lambda folder: walked_trace(4, steps=60, allocations=40),
    "threads": lambda folder: walked_trace(5, steps=30, threads=40),
    "CTF of the paper": lambda folder: formats.open_trace(DATA / "fig28.ctf"),
}


@pytest.fixture(scope="module", params=TRACES)
def trace(request, tmp_path_factory):
    return TRACES[request.param](tmp_path_factory.mktemp("trace"))


@pytest.mark.parametrize("name", registry.names())
def test_a_view_draws_it_or_says_why_not(trace, name):
    view = registry.find(name)
    said = ""
    try:
        drawing = view.draw([trace] * view.traces[0], read(view.parameters, {}), FRAME, silent)
    except TraceVisError as error:
        said = str(error)
    else:
        assert isinstance(drawing, Drawing)
        assert all(np.isfinite(element.low).all() for element in drawing.elements if hasattr(element, "low"))
        return
    assert said.strip()
    assert "\n" not in said


#: Profiles with times and without.
PROFILES = ("node20.cpuprofile.gz", "go.perf.txt.gz", "go_heap.pprof", "words.prof")


def texts_of(drawing):
    """All that a drawing says, but for names."""
    yield drawing.title
    yield from drawing.notes
    for legend in drawing.legends:
        yield legend.title
        yield from (entry.text for entry in legend.entries)
    yield from (callout.text for callout in drawing.callouts)
    for labels in drawing.elements + drawing.labels:
        if getattr(labels, "kind", "") in ("quiet", "lives"):
            yield from labels.text


@pytest.mark.parametrize("name", [name for name in registry.names() if name != "memory"])
@pytest.mark.parametrize("recording", PROFILES)
def test_samples_are_not_said_to_be_counted_calls_nor_to_have_an_order_that_is_not_recorded(recording, name):
    trace = formats.open_trace(DATA / "profiles" / recording)
    view = registry.find(name)
    is_refused = name in ("threads", "interactions", "ramp", "tracks") and not trace.samples.are_timed
    if is_refused or (name == "source" and recording == "go.perf.txt.gz"):
        with pytest.raises(TraceVisError, match=r"^[^\n]+$"):
            view.draw([trace] * view.traces[0], read(view.parameters, {}), FRAME, silent)
        return
    drawing = view.draw([trace] * view.traces[0], read(view.parameters, {}), FRAME, silent)
    for text in texts_of(drawing):
        assert not re.search(r"\d calls?\b(?! path)|rate of calls|calls nothing|of the calls\b", text), text


def test_a_cone_tree_of_no_calls_is_a_sentence():
    view = registry.find("cone")
    with pytest.raises(TraceVisError, match="there are no calls in it"):
        view.draw([Trace()], read(view.parameters, {}), FRAME, silent)


@pytest.mark.parametrize(
    "words",
    [
        ["info"], ["info", "--json"], ["phases"], ["patterns"], ["waits"], ["memory"], ["tree"],
        ["search", "f"], ["similarity", "TRACE"], ["match", "TRACE"], ["explain", "TRACE"],
        ["filter", "--name", "pattern=f"], ["nodes"], ["library"], ["query", "SELECT count(*) FROM calls"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_reports_it_or_says_why_not(trace, words, tmp_path, capsys):
    path = tmp_path / "a.tv3"
    store.save(trace, path)
    command = [words[0], str(path), *(str(path) if word == "TRACE" else word for word in words[1:])]
    code = main([*command, "--quiet"])
    said = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in said.err
    if code:
        assert said.err.splitlines()[-1].startswith("tracevis3d: ")


#: Calls within each other of which no level is a pixel high, and the picture that they are seen in.
DEEP, SEEN = 20_000, Frame(1280, 720)


def nested(every: int) -> Trace:
    """Return calls of seven functions within each other; each ``every``-th is of an eighth one."""
    recording = Recording()
    thread = recording.thread(1, 1)
    names = np.array([recording.function(f"app.part{i % 3}.f{i}") for i in range(8)])
    function = names[(np.arange(DEEP, dtype=np.int64) ** 2 // 5) % 7]
    function[::every] = names[7]
    kind = np.repeat(np.array([BEGIN, END], np.uint8), DEEP)
    both = np.concatenate([function, function[::-1]])
    recording.add_events(
        thread=[thread] * (2 * DEEP), kind=kind, function=both, time=1000 * np.arange(2 * DEEP)
    )
    return recording.finish(Source(), split)


@pytest.mark.parametrize("name", ["icicle", "threads", "compare"])
def test_what_is_drawn_of_very_deep_calls_follows_what_is_visible(name: str) -> None:
    view = registry.find(name)
    traces = [nested(97), nested(101)][: 2 if name == "compare" else 1]
    drawing = view.draw(traces, read(view.parameters, {}), SEEN, silent)
    shapes = [e for e in drawing.elements if isinstance(e, Boxes | Wedges) and e.kind in ("call", "cluster")]
    drawn = sum(len(e) for e in shapes)
    # A row for each pixel of the height, or two, for each trace; and what is merged beside it.
    assert 100 < drawn < 4 * SEEN.height * len(traces)
    assert any("levels are lower than a pixel: each drawn row represents" in note for note in drawing.notes)
