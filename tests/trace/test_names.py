"""Functions and threads are called in one way, and a thread is found again by what it is called."""

from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.errors import UsageError
from tracevis3d.trace import names
from tracevis3d.trace.model import Threads, Trace

NAMES = st.sampled_from(["", "main", "worker", "worker 2", "pool,1", "*", "1:2", "7", "a[1]"])
PROGRAMS = st.sampled_from(["", "server", "a program with a long name"])
WORDS = st.sampled_from(["main", "worker*", "7", "?", "0:1", "nobody"])
IDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=6, unique=True)


@st.composite
def trace_of_threads(draw):
    ids = draw(IDS)
    given_names = [draw(NAMES) for _ in ids]
    return Trace(
        threads=Threads(
            process=tuple(p for p, _ in ids),
            tid=tuple(t for _, t in ids),
            name=tuple(given_names),
            process_name=tuple(
                draw(st.sampled_from(["", "server", "a program with a long name"])) for _ in ids
            ),
        )
    )


def called(trace, t):
    threads = trace.threads
    return threads.name[t], str(threads.tid[t]), threads.title(t), f"{threads.process[t]}:{threads.tid[t]}"


@given(trace_of_threads())
@settings(deadline=None)
def test_a_threads_word_finds_it_and_no_other(trace):
    for t in range(len(trace.threads)):
        word = names.word_of_thread(trace, t)
        # Where even process and id are the name of another thread, no word is its own.
        assume(sum(word in called(trace, u) for u in range(len(trace.threads))) == 1)
        assert names.named_threads(trace, word).tolist() == [t]


@given(trace_of_threads(), st.lists(WORDS, min_size=1))
@settings(deadline=None)
def test_threads_are_found_by_words_and_patterns_as_a_plain_search_finds_them(trace, words):
    wanted = []
    for word in words:
        hits = [t for t in range(len(trace.threads)) if word in called(trace, t)]
        hits = hits or [
            t for t in range(len(trace.threads)) if any(fnmatchcase(w, word) for w in called(trace, t))
        ]
        if not hits:
            with pytest.raises(UsageError, match=f"^hide=.*: no thread is called '{word[0]}"):
                names.named_threads(trace, ", ".join(words), "hide")
            return
        wanted += [t for t in hits if t not in wanted]
    assert names.named_threads(trace, ", ".join(words), "hide").tolist() == wanted


@given(trace_of_threads(), st.integers(20, 60))
@settings(deadline=None)
def test_a_lanes_title_is_short_and_keeps_the_id(trace, longest):
    several = len(set(trace.threads.process)) > 1
    for t in range(len(trace.threads)):
        title = names.lane_title(trace, t, longest)
        assert len(title) <= longest
        whole = trace.threads.title(t)
        assert title.endswith(whole) or title.endswith(f" ({trace.threads.tid[t]})")
        assert several == ("·" in title)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_functions_are_called_by_their_label_and_all_that_they_are_in(seed):
    trace = walked_trace(seed)
    for call in range(len(trace)):
        function = int(trace.calls.function[call])
        words = names.words_of(trace, function)
        assert words.label == names.label_of_call(trace, call) == trace.functions.label[function]
        outer, container = [], int(trace.functions.container[function])
        while container >= 0:
            outer.insert(0, trace.containers.name[container])
            container = int(trace.containers.parent[container])
        assert words.module == ".".join(
            name for i, name in enumerate(outer) if i + 1 == len(outer) or not outer[i + 1].startswith(name)
        )


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        ("", 0, ""),
        ("", 3, ""),
        ("a.py", 3, "a.py:3"),
        ("/a.py", 0, "/a.py"),
        ("/home/me/project/core.py", 12, "…/project/core.py:12"),
        ("C:\\code\\project\\core.py", 12, "…/project/core.py:12"),
    ],
)
def test_a_place_in_the_source_is_short(file, line, text):
    assert names.place_of(names.FunctionWords("f", "", file, line)) == text


def test_a_call_site_says_what_is_known_of_it():
    trace = walked_trace(1)
    label = trace.functions.label[0]
    assert names.call_site(trace, -1, 0) == "(call site unknown)"
    assert names.call_site(trace, 0, 0) == label
    assert names.call_site(trace, 0, 9) == f"{label}:9"
    file = trace.functions.file.copy()
    file[0] = 0
    named = replace(trace, files=("/a/b/core.py",), functions=replace(trace.functions, file=file))
    assert names.call_site(named, 0, 9) == f"{label} (core.py:9)"
    assert names.call_site(named, 0, 0) == f"{label} (core.py)"


@given(NAMES, st.one_of(st.integers(0, 99), st.sampled_from(["main", "io-1"])))
def test_a_threads_title_is_its_name_with_its_id_said_once(name, tid):
    title = Threads(process=(1,), tid=(tid,), name=(name,), process_name=("",)).title(0)
    if not name:
        assert title == f"thread {tid}"
    elif str(tid) in name:
        assert title == name
    else:
        assert title == f"{name} ({tid})"
