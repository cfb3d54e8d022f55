""".blend files that an earlier version saved: nothing that they hold is lost, and they can be rebuilt."""

import json
import shutil

import pytest

from tests.extension.test_differences import ROOT, blender  # noqa: F401

BLENDS = ROOT / "tests" / "data" / "blends"
FILES = sorted(BLENDS.glob("*.blend"))


#: Drawn otherwise since, and how many there are now.
DRAWN_NOW = {
    # At 96 x 54 pixels levels are lower than half a pixel, and rows stand for them.
    "pyspy_sphinx.speedscope icicle": {"call 0": 22, "cluster 0": 13},
    # Blocks are packed, and what stands for several has another name.
    "heaptrack_lua memory": {"blocks taken together 0": 0, "block cluster 0": 330},
    # Collapsed stacks have one call for each call path, the heaviest first.
    "pyspy_sphinx.speedscope and pyspy_pylint.collapsed and uftrace_": {"call 1": 18, "cluster 1": 13},
    # A recording of several threads has rows of them below the drum; one callout finds room beside them.
    "uftrace_zstd_7t interactions": {"thread 0": 53, "leader 0": 1},
}
#: Six threads are drawn, those without room as folded lanes; the two files have pictures of other sizes.
_SIX = {"riser 0": 6, "terrace 0": 6}
OF_FILE = {
    "full": {"uftrace_zstd_7t icicle": {"call 0": 59, "cluster 0": 43, **_SIX}},
    "plain": {"uftrace_zstd_7t icicle": {"call 0": 27, "cluster 0": 29, **_SIX}},
}


@pytest.mark.blender
@pytest.mark.slow
@pytest.mark.parametrize("blend", FILES, ids=lambda path: path.stem)
def test_what_was_saved_is_there_renders_and_can_be_rebuilt(blender, blend, tmp_path):  # noqa: F811
    kept_file = blend.with_suffix(".json")
    kept = json.loads(kept_file.read_text(encoding="utf-8"))
    root = tmp_path / "tests" / "data" / "blends"
    root.mkdir(parents=True)
    (tmp_path / "examples").mkdir()
    for path in blend, BLENDS / "heaptrack_lua.gz":
        shutil.copyfile(path, root / path.name)
    for view in kept["views"].values():
        for source in view["tracevis3d"]["sources"]:
            path = source["path"].removeprefix("//")
            shutil.copyfile((BLENDS / path).resolve(), (root / path).resolve())
    said = blender.script("files/saved_files.py", blend, kept_file, root, tmp_path / "out")
    assert f"SAVED {len(kept['views'])} {len(kept['live'])}" in said
    (found,) = [json.loads(line[9:]) for line in said.splitlines() if line.startswith("ELEMENTS ")]
    # What was changed and not yet drawn when the file was saved is drawn now.
    drawn = {
        name: view["elements"] for name, view in kept["views"].items() if not view["tracevis3d"]["stale"]
    }
    now = DRAWN_NOW | OF_FILE.get(blend.stem, {})
    for name in drawn.keys() & now.keys():
        drawn[name] = {kind: count for kind, count in (drawn[name] | now[name]).items() if count}
    assert {name: found[name] for name in drawn} == drawn


def test_the_files_hold_all_kinds_of_views_and_every_kind_of_state():
    kept = json.loads((BLENDS / "full.json").read_text(encoding="utf-8"))
    views = [view["tracevis3d"] for view in kept["views"].values()]
    kinds = {"icicle", "threads", "compare", "cone", "interactions", "memory"}
    assert {view["view"] for view in views} == kinds
    assert any(len(view["sources"]) == 3 for view in views)
    assert {view["style"] for view in views} == {"paper", "stage", "flat"}
    assert sum(bool(view["filters"]) for view in views) >= 2
    assert any(view["stale"] for view in views)
    (scene,) = [scene for scene in kept["scenes"].values() if scene["tracevis3d_own"]]
    assert len(scene["tracevis3d_bookmarks"]) == 3
    assert scene["tracevis3d_search"]["hits"]
    assert sum(bool(trace["calls"]) for trace in kept["traces"]) >= 2
    assert any(trace["marks"] and trace["time_range"] for trace in kept["traces"])
