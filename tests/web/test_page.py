"""A page has all that it shows in itself; names in it are data; and a browser shows it."""

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.support import browser
from tests.support.drawings import everything
from tests.support.walked_traces import Split, walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d import api
from tracevis3d.cli import main
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.errors import UsageError
from tracevis3d.features.waits.report import write_page
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import ALLOC, FREE, Source
from tracevis3d.trace.recording import Recording
from tracevis3d.trace.storage import store
from tracevis3d.web import page
from tracevis3d.web.geometry import geometry_of

WHITE = (1.0, 1.0, 1.0)
EVIL = "</script><script>window.harm = 1</script><img src=x onerror='window.harm=1'>"


class Elements(HTMLParser):
    """The elements of a page, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] == "script":
            self.texts.setdefault(self.elements[-1][1].get("id", "program"), data)


def read(path):
    """Return the elements of a page, its facts and its columns."""
    found = Elements(path.read_text("utf-8"))
    facts = json.loads(found.texts["facts"])
    raw = zlib.decompress(base64.b64decode(found.texts["data"]))
    columns = {
        one["name"]: np.frombuffer(raw, one["type"], one["length"], one["at"]) for one in facts["columns"]
    }
    return found.elements, facts, columns


def evil_trace():
    recording = Recording()
    thread = recording.thread(1, 1)
    number = [recording.function(EVIL), recording.function("main")]
    recording.add_events(
        thread=[thread] * 4, kind=[BEGIN, BEGIN, END, END], time=[0, 100, 800, 1000],
        function=[number[1], number[0], number[0], number[1]],
    )  # fmt: skip
    return recording.finish(Source(path=EVIL), lambda name: Split(name, ()))


def test_a_page_is_one_file_that_loads_nothing(tmp_path):
    path = tmp_path / "a.html"
    report = api.icicle(walked_trace(1)).render(path)
    elements, facts, columns = read(path)
    assert {tag for tag, _ in elements} == {
        "html", "head", "meta", "title", "style", "body", "noscript", "script",
    }  # fmt: skip
    assert not any({"src", "href"} & attributes.keys() for _, attributes in elements)
    policy = next(a["content"] for _, a in elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert report["boxes"] == len(columns["box_item"]) > 50
    assert path.stat().st_size == report["bytes"] < 200_000
    assert facts["camera"]["high"] > facts["camera"]["low"]


def test_boxes_are_those_of_the_drawing():
    trace = walked_trace(2)
    drawing = api.icicle(trace).drawing()
    columns = geometry_of(drawing, (trace,), WHITE).arrays()
    boxes = [element for element in drawing.elements if isinstance(element, Boxes)]
    assert np.array_equal(columns["low"].reshape(-1, 3), np.concatenate([b.low for b in boxes]))
    first = boxes[0]
    call = int(first.id[0])
    item = int(columns["box_item"][0])
    names = geometry_of(drawing, (trace,), WHITE).names
    assert names[columns["function"][item]] == trace.functions.label[trace.calls.function[call]]
    assert columns["start"][item] == trace.calls.start[call]
    assert columns["lasts"][item] == trace.calls.end[call] - trace.calls.start[call]


def test_all_elements_are_triangles_of_their_items():
    drawing = everything(40)
    found = geometry_of(drawing, (), WHITE)
    columns = found.arrays()
    position, triangle = columns["position"].reshape(-1, 3), columns["triangle"]
    assert np.isfinite(position).all()
    assert triangle.max() < len(position) == len(columns["item"]) == len(columns["color"]) // 4
    items = sum(len(e) for e in drawing.elements if e.kind in found.kinds)
    assert len(columns["kind"]) == items > columns["item"].max()
    # Each triangle is of one item.
    of = columns["item"][triangle.reshape(-1, 3)]
    assert (of == of[:, :1]).all()


def test_packed_vertices_are_those_of_the_drawing(tmp_path):
    a, b = walked_trace(1), walked_trace(2)
    figure = api.compare(a, b)
    figure.render(tmp_path / "a.html")
    _, facts, columns = read(tmp_path / "a.html")
    found = geometry_of(figure.drawing(), (a, b), WHITE).arrays()
    steps = np.cumsum(columns["steps"], dtype=np.uint16).reshape(3, -1).T
    position = facts["grid"]["low"] + steps * np.array(facts["grid"]["cell"])
    assert len(position) > 1000
    cell = np.array(facts["grid"]["cell"])
    assert (abs(position - found["position"].reshape(-1, 3)) <= 0.5001 * cell + 1e-6).all()
    assert np.array_equal(np.cumsum(columns["triangle"], dtype=np.uint32), found["triangle"])


def lock_order():
    """Two threads that acquire two locks in different orders."""
    rows = []
    for i, (thread, one, other) in enumerate((("a", "X", "Y"), ("b", "Y", "X"))):
        rows.append(f"{thread} {100 * i} {100 * i + 90} run")
        for k, lock in enumerate((one, other)):
            rows.append(f"{thread} {100 * i + k} {100 * i + k + 1} Lock.acquire wait {lock} {k}")
            rows.append(f"{thread} {100 * i + 10 - k} {100 * i + 10 - k} Lock.release release {lock}")
    return trace_of("\n".join(rows))


def leak():
    """A thread that frees one of four blocks."""
    recording = Recording()
    thread = recording.thread(1, 1)
    recording.add_memory(
        thread=[thread] * 400, kind=([ALLOC] * 3 + [FREE]) * 100, time=list(range(0, 40_000, 100)),
        address=[64 * (i // 4 * 3 + min(i % 4, 2)) for i in range(400)], size=[1024] * 400,
    )  # fmt: skip
    return recording.finish(Source(), lambda name: Split(name, ()))


@pytest.mark.parametrize("name", ["waits", "memory", "explain"])
def test_a_report_is_a_page(name, tmp_path, capsys):
    path, files = tmp_path / "report.html", [str(tmp_path / f"{letter}.tv3") for letter in "ab"]
    traces = {"waits": [lock_order()], "memory": [leak()], "explain": [walked_trace(3), walked_trace(4)]}[
        name
    ]
    for trace, file in zip(traces, files):
        store.save(trace, file)
    given = files[: len(traces)]
    assert main([name, *given, "-o", str(path), "--quiet"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(str(path))
    elements, _, _ = read(path)
    report = json.loads(Elements(path.read_text("utf-8")).texts["report"])
    assert [a.get("id") for tag, a in elements if tag == "script"][:3] == ["report", "facts", "data"]
    assert [tag for tag, _ in elements].count("script") == 2 + 2 * len(report)
    assert all(one["title"] for one in report)
    assert all(one["text"] for one in report[1:])
    assert len(report) > 1


def test_names_are_data(tmp_path):
    path = tmp_path / "a.html"
    drawing = replace(api.icicle(evil_trace()).drawing(), title="a\x1b]0;b\x07")
    page.write(drawing, [evil_trace()], path)
    text = path.read_text("utf-8")
    elements, facts, _ = read(path)
    assert "<title>a\ufffd]0;b\ufffd</title>" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    assert [tag for tag, _ in elements].count("script") == 3
    assert "img" not in {tag for tag, _ in elements}
    assert EVIL in facts["names"]
    assert len(re.findall("window.harm", text)) > 0
    assert "<img" not in text


def test_tubes_bent_blocks_and_marks_have_pages(tmp_path):
    a, b = walked_trace(1), walked_trace(2)
    for figure in (api.compare(a, b), api.threads(a), api.cone(a), api.icicle(a)):
        path = tmp_path / f"{figure.name}.html"
        figure.render(path, style="flat" if figure.name == "icicle" else "stage")
        _, facts, columns = read(path)
        assert len(columns["box_item"]) + len(columns["triangle"]) > 0
        assert facts["look"]["shaded"] is (figure.name != "icicle")


def test_what_a_page_can_not_be(tmp_path):
    with pytest.raises(UsageError, match="--draft"):
        api.icicle(walked_trace(1)).render(tmp_path / "a.html", draft=True)
    with pytest.raises(UsageError, match="--transparent"):
        api.icicle(walked_trace(1)).render(tmp_path / "a.html", transparent=True)
    assert page.as_json({"a": "<!--&>"}) == '{"a": "\\u003c!--\\u0026\\u003e"}'


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    if browser.PROGRAM is None:
        pytest.skip("needs Chromium")
    made = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


# Over a second: a browser is started.
def test_a_browser_shows_it(tmp_path, chromium):
    path = tmp_path / "a.html"
    api.icicle(evil_trace(), opening=0).render(path)
    assert chromium.open(path) == "ready"
    assert chromium.said == []
    assert chromium.value("document.documentElement.dataset.error") == "0"
    _, facts, columns = read(path)
    assert chromium.value("document.documentElement.dataset.boxes") == str(len(columns["box_item"]))
    assert chromium.value("window.harm") is None
    # What is under the mouse is told: the longest call fills the picture's width.
    middle = columns["low"].reshape(-1, 3) + columns["size"].reshape(-1, 3) / 2
    evil = next(i for i, f in enumerate(columns["function"]) if facts["names"][f] == EVIL)
    at = middle[list(columns["box_item"]).index(evil)].tolist()
    x, y = chromium.value(f"tracevis3d.project({json.dumps(at)})")
    chromium.move(x, y)
    assert chromium.wait_for("document.querySelector('#tip b')?.textContent") == EVIL
    assert "700 ns" in chromium.value("document.querySelector('#tip').textContent")
    assert chromium.value("document.querySelectorAll('#tip img, #tip script').length") == 0
    # A search leaves what it found in its colours.
    chromium.value("(() => { const s = document.querySelector('input'); s.value = 'MAIN'; s.oninput(); })()")
    assert chromium.value("document.documentElement.dataset.found") == "1"
    assert chromium.value("window.harm") is None
    assert chromium.said == []


# Over a second: a browser draws two pictures.
def test_a_browser_goes_from_finding_to_finding(tmp_path, chromium):
    trace, path = lock_order(), tmp_path / "a.html"
    write_page(trace, str(path))
    assert chromium.open(path) == "ready"
    assert chromium.value("document.querySelector('nav .on').textContent") == "All threads"
    chromium.value("document.querySelectorAll('nav button')[1].click()")
    assert chromium.wait_for("document.querySelector('nav .on small')?.textContent").endswith("(follows).")
    assert chromium.wait_for("document.documentElement.dataset.state") == "ready"
    assert chromium.value("location.hash") == "#1"
    assert chromium.value("document.querySelectorAll('#root').length") == 1
    assert chromium.value("document.documentElement.dataset.error") == "0"
    # Its title is the one of its own picture.
    _, facts, _ = read(path)
    texts = Elements(path.read_text("utf-8")).texts
    assert chromium.value("document.querySelector('h1').textContent") == json.loads(texts["facts1"])["title"]
    assert facts["title"]
    assert chromium.said == []
