"""Parameters are declared once; what texts say fits the declaration or is reported in one sentence."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tracevis3d as tv
from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import UsageError
from tracevis3d.parameters import declared, in_style, parameter, read
from tracevis3d.views import registry

VIEWS = [registry.find(name) for name in registry.names()]
EACH = [(view, p) for view in VIEWS for p in declared(view.parameters)]
IDS = [f"{view.name}.{p.name}" for view, p in EACH]


@dataclass(frozen=True)
class Example:
    size: float = parameter(1.5, "A size", low=0.5, high=2.0, unit="mm", group="Shape")
    count: int = parameter(3, "A count", low=1)
    shadow: bool = parameter(True, "Whether there is one")
    way: str = parameter("up", "Which way", choices={"up": "upwards", "down": "downwards"})
    name: str = parameter("", "Any text")


def test_declarations_carry_all_that_was_said():
    size, *others = declared(Example)
    assert (size.name, size.default, size.low, size.high, size.unit) == ("size", 1.5, 0.5, 2.0, "mm")
    assert [p.name for p in others] == ["count", "shadow", "way", "name"]


def test_texts_and_values_are_read_alike():
    texts = {"size": "1.25", "count": "4", "shadow": "no", "way": "down", "name": " a=b "}
    values = {"size": 1.25, "count": 4, "shadow": False, "way": "down", "name": " a=b "}
    assert read(Example, texts) == read(Example, values) == Example(**values)
    assert read(Example, {}) == Example()


@given(st.floats())
def test_bounds_hold(value):
    if 0.5 <= value <= 2.0:
        assert read(Example, {"size": value}).size == value
    else:
        with pytest.raises(UsageError, match=r"^size="):
            read(Example, {"size": value})


@given(st.text(max_size=20))
def test_any_text_is_read_or_reported(text):
    for name in ("size", "count", "shadow", "way"):
        result = ""
        try:
            value = getattr(read(Example, {name: text}), name)
        except UsageError as error:
            result = str(error)
        assert (
            result.startswith(f"{name}={text}: ") if result else type(value) is type(getattr(Example(), name))
        )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"siz": 1}, "there is no parameter 'siz': did you mean 'size'?"),
        ({"qqq": 1}, "there is no parameter 'qqq': choose one of size, count, shadow, way, name"),
        ({"way": "left"}, "way=left: one of up, down is expected"),
        ({"count": 0}, "count=0: 1 is the minimum"),
        ({"size": "9"}, "size=9: 2 is the maximum"),
        ({"count": "1.5"}, "count=1.5: a whole number is expected"),
    ],
)
def test_what_does_not_fit_is_reported_in_one_sentence(settings, sentence):
    with pytest.raises(UsageError) as caught:
        read(Example, settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("view", "p"), EACH, ids=IDS)
def test_each_parameter_of_a_view_is_whole(view, p):
    assert p.sentence
    assert p.sentence[0].isupper()
    assert not p.sentence.endswith(".")
    assert p.group
    assert p.read(p.default) == p.default
    assert p.read(str(p.default)) == p.default
    if isinstance(p.default, (int, float)) and not isinstance(p.default, bool):
        assert p.low is not None
    for choice, words in p.choices.items():
        assert p.read(choice) == choice
        assert words
    for bound in (p.low, p.high):
        if bound is not None:
            assert p.read(type(p.default)(bound)) == bound


@pytest.mark.parametrize("view", VIEWS, ids=registry.names())
def test_every_field_of_a_view_is_declared(view):
    assert [f.name for f in fields(view.parameters)] == [p.name for p in declared(view.parameters)]
    groups = [p.group for p in declared(view.parameters)]
    assert len(set(groups)) == sum(a != b for a, b in zip([None, *groups], groups)), "a group is torn apart"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("write_docs", ROOT / "tools" / "write_docs.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_tables_in_the_docs_are_those_of_the_declarations(tool):
    pages = {path: path.read_text("utf-8") for path in tool.pages()}
    for path, page in pages.items():
        assert tool.written(page, path) == page, f"{path.name}: run python tools/write_docs.py"
    for view in registry._OWN:
        assert f"<!-- parameters of {view} -->" in pages[tool.VIEWS]
    for table, make in tool.TABLES.items():
        assert any(
            f"<!-- {table} -->\n{tool._linked(make(), path)}\n" in page for path, page in pages.items()
        )


def test_a_new_view_gets_its_chapter_by_itself(tool, monkeypatch):
    page = tool.VIEWS.read_text("utf-8")
    name = next(iter(registry._OWN))
    new = replace(registry.find(name), name="new", sentence="What is new")
    find = registry.find
    monkeypatch.setattr(registry, "_OWN", {**registry._OWN, "new": "nowhere"})
    monkeypatch.setattr(registry, "find", lambda name: new if name == "new" else find(name))
    written = tool.written(page, tool.VIEWS)
    assert written.startswith(page[:1000].split("<!-- table")[0])
    assert "[`new`](" in written
    assert written.rstrip().endswith(
        f"## new\n\nWhat is new.\n\n<!-- parameters of new -->\n{tool.parameters('new')}\n<!-- end -->"
    )
    # Once is enough.
    assert tool.written(written, tool.VIEWS) == written


@pytest.mark.parametrize("view", VIEWS, ids=registry.names())
def test_each_view_is_a_function_of_the_package(view):
    make = getattr(tv, view.name)
    assert make is getattr(api, view.name)
    assert make.__name__ == view.name
    assert make.__doc__.startswith(view.sentence)
    figure = make()
    assert (figure.name, figure.traces, figure.parameters) == (view.name, (), view.parameters())
    assert view.name in dir(tv)
    with pytest.raises(AttributeError, match="no attribute 'no_view'"):
        tv.no_view  # noqa: B018


def test_pictures_on_paper_have_the_defaults_of_a_page(tmp_path):
    pytest.importorskip("bpy")
    traces = [walked_trace(seed, threads=1, steps=40) for seed in (1, 2)]
    compare = registry.find("compare").parameters
    assert in_style(compare, {}, "paper") == {"opening": 165.0}
    assert in_style(compare, {}, "flat") == {"opening": 180.0}
    # Few words, to be seen from far away.
    assert in_style(compare, {}, "stage") == {"overview": False, "annotate": 0, "repeats": 0}
    assert in_style(compare, {"opening": 30.0, "tau": 0.2}, "paper") == {"opening": 30.0, "tau": 0.2}
    figure = tv.compare(*traces)
    small = {"frame": Frame(160, 90), "draft": True}
    for name, style, wanted in (("page.png", "paper", 165.0), ("screen.png", "stage", 140.0)):
        report = figure.render(tmp_path / name, style=style, **small)
        assert report["parameters"]["opening"] == wanted
    # The window has that of a screen.
    assert figure.parameters.opening == 140.0
