"""What ``tools/mutate.py`` changes, and with which tests; what it leaves out of these rooms, and why."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, TESTS = ROOT / "tracevis3d", ROOT / "tests"

#: Rooms, and single modules of others, and the tests that changes there are tried with: files, or folders.
SUBJECTS = {
    "analysis": (
        "analysis", "call_tree/test_partial_tree", "comparison/test_match", "comparison/test_groups",
        "filters/test_twin_filters",
    ),
    "filters": (
        "filters", "call_tree/test_partial_tree", "interactions/test_twin_patterns", "analysis/test_grammar",
    ),
    "features/call_tree": ("call_tree", "filters/test_twin_stack"),
    "features/city": ("city",),
    "features/comparison": ("comparison",),
    "features/interactions": ("interactions",),
    "features/matrix": ("matrix",),
    "features/memory": ("memory", "live/test_live_bytes", "queries"),
    "features/ramp": ("ramp",),
    "features/source": ("source",),
    "features/tracks": ("tracks",),
    "features/waits": ("waits", "live/test_wait_alarms", "queries"),
    **{f"features/{name}/view/layout.py": (name,) for name in ("city", "matrix", "ramp", "source", "tracks")},
    "features/matrix/view/surface.py": ("matrix",),
    "views/calls/rounds.py": ("ramp",),
    "views/everywhere/rewrite.py": ("comparison/test_identity",),
    "tables": ("tables", "queries"),
    "queries": ("queries",),
}  # fmt: skip
#: Modules of these rooms that are not changed, and why.
LEFT_OUT = {
    "*/__init__.py": "declares, computes nothing",
    "features/*/view/*.py": "draws; the tests of each view say what must be seen",
    "features/call_tree/cone/*.py": "draws cone trees",
    "features/call_tree/icicle/*.py": "draws icicles",
    "features/comparison/fan/*.py": "draws many runs around one",
    "features/*/live_view.py": "draws a live feed",
    "features/*/commands/*.py": "reads arguments and prints",
    "features/*/actions.py": "turns a click into parameters",
    "features/*/film.py": "makes a story",
    "features/*/report.py": "makes a page of pictures",
    **{
        f"features/comparison/report/{name}.py": "makes pages, films and figures"
        for name in (
            "aim", "explained", "film", "markdown", "page", "staging", "story", "tour", "viewpoints",
        )
    },
    **{
        f"features/memory/live/{name}.py": "draws a live feed"
        for name in ("arrangement", "captions", "colors", "description", "item_bars", "settings", "wall")
    },
    "features/comparison/compare.py": "declares a view",
    "features/comparison/describe.py": "words for tooltips",
    "features/comparison/differences.py": "rows of a panel, made of findings",
    "features/comparison/links.py": "what a picture's elements show",
    "features/comparison/matching/defaults.py": "constants",
}  # fmt: skip

#: Tests of these folders that take long and that are about what is drawn or printed.
_SLOW = (
    "*_command.py", "call_tree/icicle/*", "call_tree/test_cone*.py", "comparison/test_fan.py",
    "comparison/test_view.py", "interactions/test_view.py", "interactions/test_radial.py",
    "interactions/test_amphitheatre.py", "memory/test_view.py", "memory/test_story.py", "waits/test_view.py",
    "waits/test_known_truth.py", "waits/view/test_many_threads.py",
)  # fmt: skip


def modules() -> dict[str, tuple[str, ...]]:
    """Return the modules that are changed, by their names in the library, each with its test files."""
    found = {}
    for room, tests in SUBJECTS.items():
        of_room = [LIBRARY / room] if room.endswith(".py") else sorted((LIBRARY / room).rglob("*.py"))
        files = [str(file.relative_to(ROOT)) for name in tests for file in test_files(name)]
        for path in of_room:
            name = path.relative_to(LIBRARY).as_posix()
            if name in SUBJECTS or not any(fnmatch(name, pattern) for pattern in LEFT_OUT):
                found[name] = tuple(files)
    return found


def test_files(name: str) -> list[Path]:
    """Return the test files that a name stands for: one, or all of a folder."""
    folder = TESTS / name
    if not folder.is_dir():
        return [folder.with_suffix(".py")]
    return sorted(
        file for file in folder.rglob("test_*.py")
        if not any(fnmatch(file.relative_to(TESTS).as_posix(), pattern) for pattern in _SLOW)
    )  # fmt: skip
