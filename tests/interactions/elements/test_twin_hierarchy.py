"""The hierarchy of elements against a plain twin: where each call's element lies, and what it is called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.plain_match import small_trace, traces
from tracevis3d.features.interactions.hierarchy import build, element_hierarchy, shared_hierarchy
from tracevis3d.trace.model import CONTAINER_KINDS, Containers, Functions
from tracevis3d.trace.strings import Strings

BY, LEVEL = (
    st.sampled_from(["packages", "folders", "threads"]),
    st.sampled_from(["function", "class", "module"]),
)
FILES = ["src/a.py", "./src/b.py", "lib\\c.py"]


@st.composite
def programs(draw):
    """Draw a trace whose functions lie in containers and files, some of them unknown."""
    trace = draw(traces(functions=5))
    names, parent = [], []
    for i in range(draw(st.integers(0, 6))):
        above = draw(st.integers(-1, i - 1))
        # A name may begin like that of a container which it isn't in.
        prefix = draw(st.sampled_from(["", *(name + "." for name in names), "p."]))
        names.append(prefix + draw(st.sampled_from("pqr")))
        parent.append(above)
    kinds = draw(st.lists(st.integers(0, len(CONTAINER_KINDS) - 1), min_size=len(names), max_size=len(names)))
    containers = Containers(Strings.of(names), np.array(parent, np.int32), np.array(kinds, np.uint8))
    of, file, label = [], [], []
    for i in range(5):
        of.append(draw(st.integers(-1, len(names) - 1)))
        file.append(draw(st.integers(-1, len(FILES) - 1)))
        bare = draw(st.sampled_from(["f", "g", f"h{i}"]))
        label.append(f"{names[of[-1]]}.{bare}" if of[-1] >= 0 and draw(st.booleans()) else bare)
    functions = Functions(
        Strings.of(label), Strings.of(label), np.array(of, np.int32), np.array(file, np.int32),
        np.zeros(5, np.int32),
    )  # fmt: skip
    return replace(trace, functions=functions, containers=containers, files=Strings.of(FILES))


def inside(name, outer):
    return name[len(outer) + 1 :] if outer and name.startswith(outer + ".") else name


def path_of(trace, function, level, by):
    """Return where a function's element lies, without its thread."""
    functions, containers = trace.functions, trace.containers
    path = []
    if by == "folders":
        if functions.file[function] >= 0:
            name = trace.files[int(functions.file[function])].replace("\\", "/")
            path = [part for part in name.split("/") if part != "."]
    else:
        line, c = [], int(functions.container[function])
        while c >= 0:
            line.insert(0, c)
            c = int(containers.parent[c])
        for c in line:
            is_class = CONTAINER_KINDS[containers.kind[c]] == "class"
            if level == "module" and is_class and path:
                continue
            above = int(containers.parent[c])
            path.append(inside(containers.name[c], containers.name[above] if above >= 0 else ""))
    if level == "function":
        return (*path, inside(functions.label[function], path[-1] if path else ""))
    return tuple(path) or (("(no file)",) if by == "folders" else ("(no module)",))


@given(programs(), LEVEL, BY)
@settings(max_examples=150, deadline=None)
def test_each_call_belongs_to_the_element_at_its_path(trace, level, by):
    found = element_hierarchy(trace, level, by)
    h, calls = found.hierarchy, trace.calls
    classes = {c for c in trace.functions.container.tolist() if c >= 0}
    if level == "class" and not any(CONTAINER_KINDS[trace.containers.kind[c]] == "class" for c in classes):
        level = "module"
    assert (h.level, h.by) == (level, by)
    of_call = found.of_call(np.arange(len(calls)))
    for call, element in enumerate(of_call.tolist()):
        path = path_of(trace, int(calls.function[call]), level, "packages" if by == "threads" else by)
        if by == "threads":
            t = int(calls.thread[call])
            process = f"{trace.threads.process_name[t] or 'process'} {trace.threads.process[t]}"
            path = (process, trace.threads.title(t), path[-1])
        assert tuple(name for name in h.path[h.node[element]] if name) == path
    plural = {"function": "functions", "class": "classes", "module": "modules"}[level]
    if by == "folders" and level != "function":
        plural = "files"
    assert h.kind == (f"{plural} in threads" if by == "threads" else plural)


def test_a_name_that_begins_like_that_of_another_root_stays_whole():
    trace = small_trace([0, 1], [1, 2], [9, 3], ["f", "g"])
    containers = Containers(Strings.of(["p.q", "p"]), np.full(2, -1, np.int32), np.zeros(2, np.uint8))
    of = Functions(
        trace.functions.name, trace.functions.label, np.arange(2, dtype=np.int32), np.full(2, -1, np.int32),
        np.zeros(2, np.int32),
    )  # fmt: skip
    h = element_hierarchy(replace(trace, functions=of, containers=containers), "module").hierarchy
    assert [tuple(filter(None, h.path[i])) for i in h.node.tolist()] == [("p.q",), ("p",)]


@given(programs(), LEVEL, BY)
@settings(max_examples=80, deadline=None)
def test_nodes_are_called_what_they_are(trace, level, by):
    h = element_hierarchy(trace, level, by).hierarchy
    often = Counter(h.name[i] for i in h.node.tolist())
    for i, name in enumerate(h.name):
        path = [part for part in h.path[i] if part]
        above, k = i, 0
        while h.parent[above] >= 0:
            above, k = int(h.parent[above]), k + 1
        assert h.depth()[i] == k
        assert h.title(i) == (" / ".join(path[-2:]) if path else "(program)")
        if h.element[i] < 0 or often[name] == 1 or len(path) < 2:
            wanted = name
        elif by == "threads":
            wanted = f"{name} in {path[-2]}"
        else:
            wanted = f"{path[-2]}{'/' if by == 'folders' else '.'}{name}"
        assert h.distinct[i] == wanted


@pytest.mark.parametrize(
    ("container", "file", "by"),
    [(-1, -1, "packages"), (-1, 0, "folders"), (0, -1, "packages"), (0, 0, "packages")],
)
def test_folders_are_taken_where_files_alone_are_known(container, file, by):
    def traced(container, file):
        trace = small_trace([1], [0], [1], ["f"])
        functions = replace(
            trace.functions, container=np.array([container], np.int32), file=np.array([file], np.int32)
        )
        box = Containers(Strings.of(["p"]), np.array([-1], np.int32), np.zeros(1, np.uint8))
        return replace(trace, functions=functions, containers=box, files=Strings.of(["a.py"]))

    trace = traced(container, file)
    assert element_hierarchy(trace).hierarchy.by == by
    other = traced(-1, 0) if by == "packages" else traced(0, -1)
    assert shared_hierarchy([trace, other])[0].hierarchy.by == by


@pytest.mark.parametrize(
    ("classes", "modules", "level"),
    [(7, 1, "function"), (8, 1, "class"), (150, 1, "class"), (151, 8, "module"), (151, 7, "function")],
)
def test_the_level_is_that_of_a_number_that_one_can_look_at(classes, modules, level):
    names = [f"m{i}" for i in range(modules)] + [f"C{i}" for i in range(classes)]
    parent = np.array([-1] * modules + [i % modules for i in range(classes)], np.int32)
    kind = [CONTAINER_KINDS.index("module")] * modules + [CONTAINER_KINDS.index("class")] * classes
    labels = [f"f{i}" for i in range(classes)]
    trace = small_trace([1] * classes, range(classes), [1] * classes, labels)
    trace = replace(
        trace,
        functions=replace(trace.functions, container=np.arange(modules, modules + classes, dtype=np.int32)),
        containers=Containers(Strings.of(names), parent, np.array(kind, np.uint8)),
    )
    assert element_hierarchy(trace).hierarchy.level == level


@pytest.mark.parametrize(("most", "names"), [(3, ["a", "b", "c"]), (2, ["b", "(others)"])])
def test_more_elements_than_are_shown_are_taken_together(most, names):
    h, of_thing = build([("a",), ("b",), ("c",)], np.array([1, 3, 2]), most=most)
    assert [h.name[i] for i in h.node.tolist()] == names
    assert [h.name[h.node[i]] for i in of_thing.tolist()] == [n if n in names else "(others)" for n in "abc"]


@given(programs(), programs(), LEVEL, BY)
@settings(max_examples=60, deadline=None)
def test_elements_at_one_path_are_one_in_all_traces(a, b, level, by):
    one, other = shared_hierarchy([a, b], level, by)
    assert one.hierarchy is other.hierarchy
    h = one.hierarchy
    for trace, elements in ((a, one), (b, other)):
        alone = element_hierarchy(trace, h.level, by)
        calls = np.arange(len(trace.calls))
        for together, apart in zip(elements.of_call(calls).tolist(), alone.of_call(calls).tolist()):
            paths = (h.path[h.node[together]], alone.hierarchy.path[alone.hierarchy.node[apart]])
            assert len({tuple(part for part in path if part) for path in paths}) == 1
