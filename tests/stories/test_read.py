"""Stories in files: what they say, and one sentence for each mistake."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError, UsageError
from tracevis3d.stories.film import check, output_of
from tracevis3d.stories.read import as_text, as_words, from_words, read
from tracevis3d.stories.story import KINDS, Picture, Selection
from tracevis3d.stories.subtitles import as_text as subtitles

HEAD = {"view": "icicle", "traces": "run.tsv"}


def words(*shots, **head):
    return {**HEAD, **head, "shots": list(shots)}


def test_what_a_shot_does_not_say_is_as_before():
    story = from_words(
        words(
            "establish",
            {"shot": "fly to", "function": "parse", "trace": "a", "set": {"opening": 0.5}},
            {"shot": "hold", "view": "threads", "title": "Threads"},
            {"shot": "orbit", "degrees": 20},
        ),
        "story",
    )
    first, second, third, fourth = (shot.picture for shot in story.shots)
    assert first == Picture("icicle", ("run.tsv",))
    assert second == Picture("icicle", ("run.tsv",), (("opening", "0.5"),))
    assert third == fourth == Picture("threads", ("run.tsv",), title="Threads")
    assert [shot.kind for shot in story.shots] == ["establish", "fly_to", "hold", "orbit"]
    assert story.shots[1].selection == Selection("A", function="parse")
    # A picture that turns into another does so gently, another place in the same one is flown to.
    assert [shot.dissolve > 0 for shot in story.shots] == [False, True, True, False]
    assert story.seconds == sum(KINDS[shot.kind].seconds for shot in story.shots)
    assert story.files == ("run.tsv",)


def test_traces_lie_beside_the_file(tmp_path):
    (tmp_path / "a.yaml").write_text("view: icicle\ntraces: [run.tsv]\nshots: [establish]\n")
    assert read(tmp_path / "a.yaml").files == (str(tmp_path / "run.tsv"),)


@pytest.mark.parametrize(
    ("shot", "sentence"),
    [
        ("pan", "shot 1: 'pan' is no shot: one of establish, "),
        (7, "shot 1: 'shot' is expected"),
        ({"seconds": 2}, "shot 1: 'shot' is expected"),
        ({"shot": "hold", "second": 2}, r"shot 1 \(hold\): 'second' is not one of shot, seconds"),
        ({"shot": "hold", "seconds": "2"}, "seconds: '2' is not a number"),
        ({"shot": "hold", "seconds": True}, "seconds: True is not a number"),
        ({"shot": "hold", "seconds": 0}, "seconds: 0: 0.1 to 600 is expected"),
        ({"shot": "hold", "morph": 1, "dissolve": 1}, "morph: a whole picture has to be before it"),
        ({"shot": "hold", "dissolve": 99}, "dissolve: 99: 0 to 6 is expected"),
        ({"shot": "hold", "function": "f"}, "'function' is not one of"),
        ({"shot": "hold", "caption": ["a"]}, "caption: a text is expected"),
        ({"shot": "hold", "set": ["a"]}, "'set' holds parameters"),
        ({"shot": "hold", "traces": 3}, "'traces' is a file or a list of files"),
        ({"shot": "hold", "callout": -1}, "callout: -1: the number of a callout"),
        ({"shot": "hold", "callout": True}, "callout: True: the number"),
        ({"shot": "overview", "callout": 1}, "'callout' is not one of"),
        ({"shot": "fly_to", "time": "1s"}, "time: 1s: FROM..TO is expected"),
        ({"shot": "fly_to", "time": "2s..1s"}, "its end is not behind its start"),
        ({"shot": "fly_to", "time": "a..b"}, "a time is expected"),
        ({"shot": "fly_to", "trace": "first"}, "trace: first is no letter"),
        ({"shot": "fly_to", "call": "main"}, "call: main: the number of a call"),
        ({"shot": "ride"}, r"\(ride\): 'time' is missing"),
        ({"shot": "ride", "time": "0s..1s", "span": "x%"}, "span: x% is no share"),
        ({"shot": "follow_thread"}, "'thread' is missing"),
        ({"shot": "orbit", "degrees": 400}, "degrees: 400: -360 to 360"),
        ({"shot": "compare", "left": {"time": "0s..1s"}}, "'right' is missing"),
        ({"shot": "compare", "left": "a", "right": "b"}, "left: words are expected"),
        ({"shot": "compare", "left": {"view": "cone"}, "right": {"call": 1}}, "'view' is not one of trace"),
        ({"shot": "split", "left": {"call": 1}, "right": {"viw": "cone"}}, "right: 'viw' is not one of"),
    ],
)
def test_each_mistake_is_said_in_one_sentence(shot, sentence):
    with pytest.raises(UsageError, match=sentence) as error:
        from_words(words(shot), "story.yaml")
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("story.yaml: shot 1")


@pytest.mark.parametrize(
    ("given_words", "sentence"),
    [
        ({"shots": ["hold"]}, "no view is named"),
        ({"view": "icicle", "shots": ["hold"]}, "no view is named"),
        ({**HEAD}, "a list 'shots' is expected"),
        ({**HEAD, "shots": []}, "a list 'shots' is expected"),
        ({**HEAD, "shot": ["hold"]}, "'shot' is not one of style"),
    ],
)
def test_what_is_missing_is_said(given_words, sentence):
    with pytest.raises(UsageError, match=sentence):
        from_words(given_words, "story.yaml")


def test_a_file_holds_values_alone(tmp_path):
    for text in ("shots: !!python/object/apply:os.system [ls]", "a: &a [1]\nb: *a\n", "- 1", "shots: [", ""):
        (tmp_path / "a.yaml").write_text(text)
        with pytest.raises((InputError, UsageError)):
            read(tmp_path / "a.yaml")


def test_views_parameters_and_traces_are_checked_before_anything_is_read():
    for shot, sentence in (
        ({"shot": "hold", "view": "icicl"}, r"shot 1 \(hold\): .*icicl"),
        ({"shot": "hold", "set": {"openin": 1}}, "did you mean 'opening'"),
        ({"shot": "hold", "view": "compare"}, "takes 2 to 12 traces, not 1"),
    ):
        with pytest.raises(UsageError, match=sentence):
            check(from_words(words(shot), "story"))
    check(from_words(words("establish"), "story"))


_TEXTS = st.text(max_size=20)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws slowly
@given(
    st.lists(
        st.builds(
            lambda kind, caption, seconds, own: {"shot": kind, "caption": caption, "seconds": seconds, **own},
            st.sampled_from(["establish", "hold", "overview", "orbit"]),
            _TEXTS,
            st.floats(1, 20).map(lambda x: round(x, 2)),
            st.sampled_from(
                [{}, {"view": "cone"}, {"title": "no"}, {"set": {"opening": "0.5"}}, {"filters": "a; b"}]
            ),
        ),
        min_size=1,
        max_size=5,
    ),
    _TEXTS,
)
def test_what_is_written_is_read(shots, style):
    story = from_words(words(*shots, style=style), "story")
    assert from_words(as_words(story), "story") == story
    assert from_words(yaml.safe_load(as_text(story)), "story") == story


def test_selections_and_sides_are_written_too(tmp_path):
    sides = {"left": {"function": "a*"}, "right": {"trace": "A", "time": "1ms..2ms"}}
    story = from_words(
        words(
            {"shot": "ride", "time": "0s..1.5s", "span": "10%"},
            {"shot": "follow_thread", "thread": "Main, 1", "span": 0.5},
            {"shot": "fly_to", "call": 12, "travel": 1},
            {"shot": "compare", **sides},
            {"shot": "split", "left": {**HEAD, "view": "cone"}, "right": {**HEAD, **sides["right"]}},
            "overview",
            {"shot": "flatten", "view": "cone", "morph": 2.5},
            {"shot": "play", "time": "1ms..2s", "slow": "3ms..4ms", "paces": {"*": 2, "no": 0.5, "12": 1}},
        ),
        "story",
    )
    assert story.shots[0].span == 0.1
    (tmp_path / "a.yaml").write_text(as_text(story, "", "A head\nof two lines"))
    assert from_words(yaml.safe_load((tmp_path / "a.yaml").read_text()), "story") == story


def test_the_look_of_a_film():
    story = from_words(words("hold", style="stage", size="641x359", fps=30), "story")
    output = output_of(story)
    assert (output.style, output.frame.width, output.frame.height, output.fps) == ("stage", 642, 360, 30)
    assert output_of(story, style="flat", fps=None).style == "flat"
    quick = output_of(story, preview=True)
    assert (quick.frame.height, quick.draft) == (480, True)
    for fps in (0, 2.5, True, "x"):
        with pytest.raises(UsageError, match="fps"):
            output_of(story, fps=fps)


def test_subtitles_have_the_times_of_the_shots():
    story = from_words(
        words(
            {"shot": "hold", "seconds": 61.5, "caption": "One --> two\nlines"},
            {"shot": "hold", "seconds": 2},
            {"shot": "hold", "seconds": 0.25, "caption": "Two"},
            {"shot": "overview", "seconds": 1, "caption": "Two"},
        ),
        "story",
    )
    assert subtitles(story) == (
        "1\n00:00:00,000 --> 00:01:01,500\nOne → two lines\n\n2\n00:01:03,500 --> 00:01:04,750\nTwo\n"
    )
