"""Files of rules: what they bind, which buildings a rule applies to, and a sentence for each mistake."""

from __future__ import annotations

from fnmatch import fnmatch

import numpy as np
import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import InputError
from tracevis3d.features.city.metrics import measured, parts_of
from tracevis3d.features.city.rule_file import read_rules
from tracevis3d.features.city.view.parameters import Parameters
from tracevis3d.features.city.view.view import VIEW
from tracevis3d.progress import silent

TRACE = walked_trace(1, steps=80, functions=30, modules=5)


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "rules.toml"
        path.write_text(text)
        return str(path)

    return write


MISTAKES = {
    'widht = "calls"': "rules.toml: widht is unknown: use width, height, hue, glyph and [[rule]]",
    'width = "sise"': 'rules.toml: width = "sise": write one of self, calls, functions, ',
    'height = "age"': 'rules.toml: height = "age": use it for hue: it is a point in time',
    "height = 3": "rules.toml: height = 3: write one of self, ",
    "rule = 3": "rules.toml: rule: write [[rule]] above the lines of each rule",
    "[[rule]]\ncolour = 1": "rule 1: colour is unknown: use name, field, above, below, hue, glyph and says",
    '[[rule]]\nname = "*"': "rule 1: changes nothing: give it a hue or a glyph",
    '[[rule]]\nhue = "#ff0000"': "rule 1: says of no building that it fits: give a name, or field and above",
    '[[rule]]\nname = "*"\nhue = "red"': 'rule 1: hue = "red": write a colour such as "#c0392b"',
    '[[rule]]\nname = "*"\nglyph = "star"': 'rule 1: glyph = "star": write one of sphere, diamond, ',
    '[[rule]]\nname = ""\nglyph = "pin"': 'rule 1: name = "": write a text in quotes',
    '[[rule]]\nabove = 1\nglyph = "pin"': "rule 1: write field together with above or below",
    '[[rule]]\nfield = "calls"\nglyph = "pin"': "rule 1: write field together with above or below",
    '[[rule]]\nfield = "calls"\nabove = "many"\nglyph = "pin"': 'above = "many": write a number',
    '[[rule]]\nfield = "self"\nabove = "long"\nglyph = "pin"': 'above = "long": write a time such as "5 ms"',
    '[[rule]]\nfield = "bytes"\nabove = "big"\nglyph = "pin"': 'above = "big": write a size such as "1 MB"',
    "[[rule]]\n" * 13: "13 rules: write at most 12",
    "width = ": "rules.toml: ",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_each_mistake_is_one_sentence(file, text):
    with pytest.raises(InputError) as caught:
        read_rules(file(text))
    assert MISTAKES[text] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_rules(str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match=r"name a file of rules that ends in \.yaml"):
        read_rules(str(tmp_path / "rules.txt"))


def test_rules_determine_what_is_shown(file):
    path = file(
        'width = "calls"\nheight = "functions"\nhue = "calls"\nglyph = "callers"\n'
        '[[rule]]\nname = "*1*"\nhue = "#112233"\nsays = "with a one"\n'
        '[[rule]]\nfield = "calls"\nabove = 3\nbelow = 1000\nhue = "#445566"\nglyph = "diamond"\n'
    )
    chosen = {"parts": "function", "scale": "linear"}
    ruled = VIEW.draw([TRACE], Parameters(**chosen, rules=path), Frame(640, 360), silent)
    plain = VIEW.draw(
        [TRACE],
        Parameters(**chosen, area="calls", height="functions", color="calls"),
        Frame(640, 360),
        silent,
    )
    made, other = (
        next(one for one in drawing.elements if one.kind == "building") for drawing in (ruled, plain)
    )
    np.testing.assert_array_equal(made.low, other.low)
    np.testing.assert_array_equal(made.size, other.size)
    parts = parts_of(TRACE, "function")
    calls, callers = (measured(TRACE, parts, metric) for metric in ("calls", "callers"))
    diamonds = []
    for k, part in enumerate(made.id.tolist()):
        color = tuple(np.rint(ruled.palette[made.color[k]][:3] * 255).astype(int).tolist())
        if fnmatch(parts.name(part), "*1*"):
            assert color == (0x11, 0x22, 0x33)
        elif 3 < calls[part] < 1000:
            assert color == (0x44, 0x55, 0x66)
            diamonds.append(part)
        else:
            np.testing.assert_array_equal(ruled.palette[made.color[k]], plain.palette[other.color[k]])
    marks = {one.kind: one for one in ruled.elements if one.kind.startswith("glyph")}
    assert sorted(marks["glyph"].id.tolist()) == np.flatnonzero(callers).tolist()
    assert marks["glyph 2"].shape == "diamond"
    assert sorted(marks["glyph 2"].id.tolist()) == sorted(diamonds)
    said = [entry.text for legend in ruled.legends for entry in legend.entries]
    assert {"with a one", "calls above 3, calls below 1,000", "ball: parts that call it"} <= set(said)


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [
        ("above = 2", [3, 4, 5]), ("below = 2", [0, 1]), ("above = 1\nbelow = 4", [2, 3]),
        ("above = 5", []), ("below = -1", []),
    ],
)  # fmt: skip
def test_both_bounds_are_excluded_and_each_may_be_left_out(file, bounds, fits):
    (rule,) = read_rules(file(f'[[rule]]\nfield = "calls"\n{bounds}\nglyph = "pin"\n')).rules
    names = [f"part {i}" for i in range(6)]
    found = rule.fits(names, lambda field: np.arange(6.0) if field == "calls" else np.zeros(6))
    assert np.flatnonzero(found).tolist() == fits


def test_times_and_sizes_have_units(file):
    for field, bound, value in (
        ("self", '"5 ms"', 5e6), ("self", "2", 2e6), ("bytes", '"1 kB"', 1e3), ("bytes", "7", 7.0),
        ("calls", "1.5", 1.5),
    ):  # fmt: skip
        (rule,) = read_rules(file(f'[[rule]]\nfield = "{field}"\nabove = {bound}\nglyph = "pin"\n')).rules
        assert rule.above == value


@pytest.mark.parametrize("length", [57, 58, 59, 200])
def test_what_is_shown_of_a_long_value_is_cut(file, length):
    with pytest.raises(InputError) as caught:
        read_rules(file(f'width = "{"x" * length}"'))
    shown = str(caught.value).partition("width = ")[2].partition(": write")[0]
    whole = f'"{"x" * length}"'
    assert shown == (whole if len(whole) <= 60 else f"{whole[:59]}…")
