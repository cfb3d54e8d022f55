"""Which modules `make mutate` changes: the analysis, the filters and the features, but what only draws."""

from fnmatch import fnmatch

from tools.mutation.subjects import LEFT_OUT, LIBRARY, ROOT, SUBJECTS, modules

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
