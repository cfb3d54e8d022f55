"""The title and the callouts of a comparison say its findings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparison.difference.test_kinds import program, told
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.findings.evidence import Finding
from tracevis3d.features.comparison.view.difference.headlines import headline, short
from tracevis3d.features.comparison.view.difference.kinds import STALLED
from tracevis3d.features.comparison.view.difference.paint import HUES
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.parameters import read
from tracevis3d.progress import silent

FRAME = Frame(960, 540)
STEPS = [("read", 60), ("parse", 60), *[("work", 10)] * 10]
CHANGES = {
    "only": [*STEPS[:2], ("get_extensions", 30), *STEPS[2:]],
    "repetitions": [*STEPS, *STEPS[2:]],
    "slower": [*STEPS[:2], *[("work", 30)] * 10],
    "order": [*STEPS[1:], STEPS[0]],
}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("only", "B spends 30 ms in get_extensions, which A never calls"),
        ("repetitions", "work: called 10 times in A, 20 times in B"),
        ("slower", "work itself takes 200 ms longer in B"),
        ("order", "read comes first in A, after work in B"),
    ],
)
def test_the_title_is_the_first_finding(kind, words):
    traces = [program(*STEPS), program(*CHANGES[kind])]
    drawing = VIEW.draw(traces, read(Parameters, {}), FRAME, silent)
    assert drawing.title == words
    assert "of the time is in calls that match" in drawing.notes[0]
    captioned = VIEW.draw(traces, read(Parameters, {"caption": "Look here"}), FRAME, silent)
    assert captioned.title == "Look here"
    assert not captioned.callouts


def test_a_run_against_itself_is_said_to_be_the_same():
    trace = program(*STEPS)
    drawing = VIEW.draw([trace, trace], read(Parameters, {}), FRAME, silent)
    assert drawing.title == "A and B make the same calls"
    assert not drawing.callouts


@pytest.mark.parametrize("kind", CHANGES)
def test_texts_are_short(kind):
    for finding in told(program(*STEPS), program(*CHANGES[kind])).findings.found:
        assert len(headline(finding).split()) <= 12
        text, _ = short(finding)
        assert len(text.split()) <= 8


@pytest.mark.parametrize(
    ("elsewhere", "words", "much"),
    [
        (0, "blank: only in B", "8 calls, 330 µs"),
        (107, "blank: called here only in B", "8 calls, 330 µs; A calls it elsewhere"),
    ],
)
def test_calls_are_said_to_be_in_one_run_alone_only_if_the_other_never_makes_them(elsewhere, words, much):
    details = {"trace": "B", "elsewhere": elsewhere}
    found = Finding(
        "alone", 0.1, ("", "blank"), ("main", "blank"), (0, 8), (0, 330_000), (0, 298), details=details
    )
    assert short(found) == (words, much)
    assert headline(found).endswith("which A never calls") != bool(elsewhere)


def test_callouts_stand_at_their_calls_and_are_as_many_as_asked_for():
    traces = [program(*STEPS), program(*CHANGES["only"], ("after", 20), *STEPS[2:])]
    drawing = VIEW.draw(traces, read(Parameters, {"callouts": 2}), FRAME, silent)
    assert len(drawing.callouts) == 2
    assert all(callout.text.startswith(f"{k}  ") for k, callout in enumerate(drawing.callouts, 1))
    boxes = next(e for e in drawing.elements if e.kind == "call" and e.source == 1)
    labels = traces[1].functions.label
    for callout in drawing.callouts:
        name = callout.text[3:].split(":")[0]
        own = [i for i, call in enumerate(boxes.id) if labels[traces[1].calls.function[call]] == name]
        ends = np.stack([boxes.low[own, 0], boxes.low[own, 0] + boxes.size[own, 0]], axis=1)
        assert any(low <= callout.point[0] <= high for low, high in ends)
    assert not VIEW.draw(traces, read(Parameters, {"callouts": 0}), FRAME, silent).callouts


def test_another_order_is_told_in_both_places():
    traces = [program(*STEPS), program(*CHANGES["order"])]
    first, second = VIEW.draw(traces, read(Parameters, {"callouts": 1}), FRAME, silent).callouts
    assert (first.text, second.text) == ("1  read: first in A", "1  read: after work in B")
    assert first.calls == second.calls
    assert first.point != second.point


def test_both_rulers_have_one_unit_and_each_trace_a_colour_of_its_own():
    short = [(name, max(lasts // 10, 1)) for name, lasts in STEPS]
    drawing = VIEW.draw([program(*STEPS * 20), program(*short)], read(Parameters, {}), FRAME, silent)
    (names,) = (labels for labels in drawing.labels if labels.kind == "trace")
    assert [text.split("time in ")[1] for text in names.text] == ["s)", "s)"]
    letters = [labels for labels in drawing.labels if labels.kind == "trace letter"]
    assert [letter.text for letter in letters] == [("A",), ("B",)]
    of = [drawing.palette[letter.background[0]] for letter in letters]
    assert np.abs(of[0] - of[1]).max() > 0.2
    rulers = [axis for axis in drawing.axes if axis.window is not None]
    assert len(rulers) == 2
    assert all(len(axis.tick) >= 2 and axis.minor for axis in rulers)


def test_repeats_are_said_to_be_the_same_and_a_stall_has_its_place():
    varied = [[(name, lasts + (3 * k + s) % 4) for k, (name, lasts) in enumerate(STEPS)] for s in (0, 1)]
    varied[1][6] = ("work", 80)
    traces = [program(*steps) for steps in varied]
    drawing = VIEW.draw(traces, read(Parameters, {}), FRAME, silent)
    assert drawing.title == "A and B make the same calls; B stalls once, for 67 ms in work"
    (callout,) = drawing.callouts
    assert callout.text == "1  work: B stalls 67 ms"
    assert callout.calls == ((0, 7), (1, 7))
    np.testing.assert_allclose(drawing.palette[callout.color], HUES[STALLED])
    back = VIEW.draw(traces[::-1], read(Parameters, {}), FRAME, silent)
    np.testing.assert_allclose(back.palette[back.callouts[0].color], HUES[STALLED])
    # The call alone has the colour of stalls, in both pictures.
    for made, s, (legend, *_) in ((drawing, 1, drawing.legends), (back, 0, back.legends)):
        boxes = next(e for e in made.elements if e.kind == "call" and e.source == s)
        hue = made.palette[boxes.color, :3]
        assert boxes.id[(hue == HUES[STALLED, :3]).all(axis=1)].tolist() == [7]
        assert [entry.text.split(" once")[0] for entry in legend.entries][-1] == "stalled"


def test_a_focus_is_the_point_and_has_colours():
    traces = [program(*STEPS), program(*CHANGES["only"])]
    plain = VIEW.draw(traces, read(Parameters, {}), FRAME, silent)
    assert plain.callouts
    drawing = VIEW.draw(traces, read(Parameters, {"focus": "work"}), FRAME, silent)
    assert drawing.title == "Matches within work"
    assert not drawing.callouts
    assert "Groups" in [legend.title for legend in drawing.legends]
    # Of one group the title tells the name: "these" is enough, and all fits into one row.
    one = VIEW.draw(traces, read(Parameters, {"focus": "parse"}), FRAME, silent)
    assert "Groups" not in [legend.title for legend in one.legends]
    these = [entry.text for legend in one.legends if not legend.title for entry in legend.entries]
    assert these[0] == "these, 60 ms | 60 ms"
    assert "where they match" in these
    assert "What differs" in [legend.title for legend in drawing.legends]  # of the walls
