"""Findings as stories: what they tell, and that it can be edited and made."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import split, walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d import api
from tracevis3d.cli import main
from tracevis3d.features.comparison.report.film import story_of as of_comparison
from tracevis3d.features.memory.film import MEANING
from tracevis3d.features.memory.film import story_of as of_memory
from tracevis3d.features.memory.findings import KINDS
from tracevis3d.features.waits.film import story_of as of_waits
from tracevis3d.features.waits.view.found_waits import findings_of, waits_of
from tracevis3d.stories.film import check
from tracevis3d.stories.findings_film import FilmedFinding, place_of, point_of, story_of_findings
from tracevis3d.stories.read import as_text, from_words
from tracevis3d.stories.story import Picture
from tracevis3d.trace.model import ALLOC, FREE, Source
from tracevis3d.trace.recording import Recording


@pytest.fixture(scope="module")
def stories():
    a, b = walked_trace(1, threads=1, functions=6), walked_trace(2, threads=1, functions=9)
    recording = Recording()
    thread = recording.thread(1, 1)
    recording.add_memory(
        thread=[thread] * 400,
        kind=([ALLOC] * 3 + [FREE]) * 100,
        time=list(range(0, 40_000, 100)),
        address=[64 * (i // 4 * 3 + min(i % 4, 2)) for i in range(400)],
        size=[1024] * 400,
    )
    memory = recording.finish(Source(), split)
    return {
        "explain": of_comparison(api.explain(a, b), ("a.tv3", "b.tv3")),
        "waits": of_waits(walked_trace(3), "a.tv3"),
        "memory": of_memory(memory, "m.tv3"),
    }


@pytest.mark.parametrize("name", ["explain", "waits", "memory"])
def test_a_story_can_be_edited_and_made(stories, name):
    story = stories[name]
    check(story)
    assert from_words(yaml.safe_load(as_text(story)), "story") == story
    assert story.shots[0].kind == "establish"
    assert all(shot.caption for shot in story.shots)


@pytest.mark.parametrize("name", ["waits", "memory"])
def test_each_picture_of_a_finding_has_its_number(stories, name):
    waits = "h 0 1 Lock.acquire wait L 0\nh 90 90 Lock.release release L\nw 0 90 Lock.acquire wait L 1"
    story = stories[name] if name == "memory" else of_waits(trace_of(waits), "a.tv3")
    own = [shot.picture for shot in story.shots if dict(shot.picture.settings).get("finding")]
    assert own
    assert [picture.title.partition(" ")[0] for picture in own] == [f"{n}." for n in range(1, len(own) + 1)]


def test_the_first_three_findings_are_shown(stories):
    story = stories["explain"]
    whole = story.shots[0].picture
    own = [shot for shot in story.shots if shot.kind == "hold" and shot.picture != whole]
    assert len(own) == 3
    assert 30 <= story.seconds <= 60
    # Each has its own picture; the way there begins in the one of all.
    assert len({shot.picture for shot in own}) == 3
    assert {shot.picture for shot in story.shots if shot.kind == "fly_to"} <= {whole}
    assert story.shots[-1].picture == whole


def test_each_finding_is_pointed_at_alone_and_what_is_everywhere_is_shown_at_all_times(stories):
    pointing = [shot for shot in stories["explain"].shots[1:-1] if shot.kind == "hold" and shot.callout]
    own = [shot for shot in stories["explain"].shots if shot.kind == "fly_to"]
    assert [shot.callout for shot in pointing] == list(range(1, len(own) + 1))
    assert stories["explain"].shots[-1].callout is None
    shown = [dict(shot.picture.settings) for shot in stories["memory"].shots]
    own = [settings for settings in shown if "finding" in settings]
    assert own
    places = [shot.kind == "fly_to" for shot in stories["memory"].shots]
    assert sum(settings.get("start") == "0ns" for settings in own) == len(own) - sum(places)


def test_a_place_is_gone_to_and_one_sentence_is_read():
    whole, own = Picture("icicle", ("a",)), Picture("cone", ("a",))
    story = story_of_findings(
        "All.", whole, [FilmedFinding("It waits", "It waits. Nobody knows why.", own, None)], "End."
    )
    assert [shot.kind for shot in story.shots] == ["establish", "hold", "hold"]
    assert story.shots[1].caption == "It waits."


def test_a_caption_is_one_point():
    clause = "up to seven threads queue for Lock-1, for 844 ms in all, in which it is passed on 48 times"
    assert point_of(f"{clause}; img_0 caused most of it, in load (pil.py:6).") == f"{clause}."
    assert point_of("It waits; it wakes.") == "It waits; it wakes."
    assert set(MEANING) == set(KINDS)


@given(st.integers(1, 10**12), st.data())
def test_a_place_holds_the_finding_and_its_surroundings(span, data):
    start = data.draw(st.integers(0, span))
    end = data.draw(st.integers(start, span))
    place = place_of(start, end, span, "B")
    if place is None:
        assert start == end or end - start >= 0.6 * span
        return
    low, high = place.time
    assert 0 <= low <= start < end <= high <= span
    assert high - low >= 0.3 * span - 1


def test_what_can_not_be_filmed_is_said_first(tmp_path, capsys):
    for command in (["explain", "a", "b"], ["waits", "a"], ["memory", "a"]):
        assert main([*command, "--film", str(tmp_path / "a.png")]) == 2
        assert "a film is written as .mp4 or .mkv" in capsys.readouterr().err


def test_another_finding_about_an_object_is_shown_where_it_costs_most():
    rows = ["h 0 1000 load", "h 5 5 Lock.acquire wait L 0", "h 305 305 Lock.release release L"]
    for i, at in enumerate((306, 356, 406)):
        rows += [f"w{i} 0 1000 take", f"w{i} 10 {at} Lock.acquire wait L 1"]
        rows.append(f"w{i} {at + 49} {at + 49} Lock.release release L")
    trace = trace_of("\n".join(rows))
    found = findings_of(waits_of(trace, ""), "")
    assert [set(one.objects) for one in found[:2]] == [{"L"}, {"L"}]
    story = of_waits(trace, "a.tv3")
    own = [dict(shot.picture.settings) for shot in story.shots if dict(shot.picture.settings)]
    first, second = (next(one for one in own if one["finding"] == number) for number in "12")
    assert "end" not in first
    assert [second["start"], second["end"]] == ["5ns", "305ns"]
