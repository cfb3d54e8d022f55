"""Which modules `make mutate` changes: the analysis, the filters and the features, but what only draws."""

import json
from fnmatch import fnmatch
from types import SimpleNamespace

import pytest

from tools.mutation.coverage import Coverage, forget_results, selected
from tools.mutation.subjects import LEFT_OUT, LIBRARY, ROOT, SUBJECTS, modules
from tracevis3d.analysis.measures import calls_by_function
from tracevis3d.features.waits.live.alarms import _rule_of
from tracevis3d.trace.model import Trace

OF_ROOMS = [
    path.relative_to(LIBRARY).as_posix()
    for room in ("analysis", "filters", "features")
    for path in (LIBRARY / room).rglob("*.py")
]


def test_each_feature_is_changed_and_has_tests():
    """A new feature needs a line in tools/mutation/subjects.py; what is left out needs a reason there."""
    changed = modules()
    assert {name for name in OF_ROOMS if name not in changed} == {
        name for name in OF_ROOMS
        if name not in SUBJECTS and any(fnmatch(name, pattern) for pattern in LEFT_OUT)
    }  # fmt: skip
    for name, tests in changed.items():
        assert (LIBRARY / name).is_file(), name
        assert tests, name
        assert all((ROOT / test).is_file() for test in tests), name


def test_what_is_left_out_exists_and_is_of_no_room_of_analysis():
    for pattern in LEFT_OUT:
        named = [name for name in OF_ROOMS if fnmatch(name, pattern)]
        assert named, pattern
        assert pattern == "*/__init__.py" or all(name.startswith("features/") for name in named)


SOURCE = """LIMIT = 3

class Parameters:
    most: int = parameter(1, low=1)

def count(n=LIMIT):
    return n + 1
"""


def test_changes_at_the_import_are_tried_with_all_tests_those_near_the_module_first():
    coverage = {
        "tests/a/test_other.py::far": (0.1, []),
        "tests/a/test_other.py::runs": (2.0, [7]),
        "tests/a/test_limits.py::slow": (3.0, []),
        "tests/a/test_limits.py::quick": (1.0, [7]),
        "tests/a/test_limits.py::endless": (1000.0, [7]),
    }
    near = [
        "tests/a/test_limits.py::quick", "tests/a/test_limits.py::slow", "tests/a/test_other.py::runs",
        "tests/a/test_other.py::far",
    ]  # fmt: skip
    del coverage["tests/a/test_limits.py::endless"]
    for line in (1, 4, 6):
        assert selected("limits.py", SOURCE, line, coverage) == near
    coverage["tests/a/test_limits.py::endless"] = (1000.0, [7])
    assert selected("limits.py", SOURCE, 7, coverage) == [
        "tests/a/test_limits.py::quick", "tests/a/test_other.py::runs",
    ]  # fmt: skip
    nobody = {test: (seconds, []) for test, (seconds, _) in coverage.items()}
    assert len(selected("limits.py", SOURCE, 7, nobody)) == 2  # 1 s, 3 s, and then one that takes too long


def test_what_a_fixture_runs_counts_for_each_test_that_uses_it(tmp_path):
    path = tmp_path / "limits.py"
    space: dict = {}
    exec(compile(SOURCE.split("class")[0] + "\ndef count(n):\n    return n", str(path), "exec"), space)
    fixture = object()
    coverage = Coverage([path], tmp_path / "found.json")

    def run(name, uses, calls_itself):
        info = SimpleNamespace(name2fixturedefs={"made": [fixture]} if uses else {})
        test = coverage.pytest_runtest_protocol(SimpleNamespace(nodeid=name, _fixtureinfo=info))
        next(test)
        if name == "first":
            setting_up = coverage.pytest_fixture_setup(fixture)
            next(setting_up)
            space["count"](1)
            assert next(setting_up, None) is None
        if calls_itself:
            space["count"](1)
        assert next(test, None) is None

    for name, uses, calls_itself in (("first", 1, 0), ("uses", 1, 0), ("not", 0, 0), ("itself", 0, 1)):
        run(name, uses, calls_itself)
    coverage.pytest_sessionfinish()
    of, failed = json.loads((tmp_path / "found.json").read_text())
    assert failed == []
    assert {name: list(lines.values()) for name, (_, lines) in of.items()} == {
        "first": [[5]], "uses": [[5]], "not": [], "itself": [[5]],
    }  # fmt: skip


def test_no_test_finds_what_another_has_cached():
    trace = Trace()
    calls_by_function(trace)
    _rule_of("lock")
    assert calls_by_function.is_known(trace)
    assert _rule_of.cache_info().currsize
    forget_results()
    assert not calls_by_function.is_known(trace)
    assert not _rule_of.cache_info().currsize


def test_accepted_changes_that_match_none_are_stale():
    pytest.importorskip("cosmic_ray")
    from tools.mutation.accepted import stale

    ever = {("LIMIT = 3", ""), ("LIMIT = 3", "LIMIT = 4"), ("return n + 1", "return n - 1")}
    never = {("LIMIT = 3", "LIMIT = 5"), ("return n + 2", "return n - 2"), ("class Parameters:", "")}
    assert stale(SOURCE, ever | never) == never
