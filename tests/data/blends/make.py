"""Make the .blend files of this folder, and beside each what it keeps: ``make.py [NAME …]``.

They stand for files that users have saved: make them again only where what is stored has changed on purpose,
and keep the old ones. Needs an environment with ``bpy`` and ``zstandard``. Each is made in a process of its
own, with ``--in FOLDER``.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLES = ("uftrace_zstd_7t.json.gz", "pyspy_sphinx.speedscope.json.gz", "pyspy_pylint.collapsed.txt.gz")
#: Small pictures have few letters, which are what makes files large.
SIZE = 96, 54


def main():
    """Make each file in a folder that is laid out as the repository, so that paths are relative as there."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "examples").mkdir()
        blends = place / "tests" / "data" / "blends"
        blends.mkdir(parents=True)
        for trace in EXAMPLES:
            shutil.copyfile(ROOT / "examples" / trace, place / "examples" / trace)
        shutil.copyfile(HERE / "heaptrack_lua.gz", blends / "heaptrack_lua.gz")
        extensions = place / "user" / "extensions" / "user_default"
        extensions.mkdir(parents=True)
        (extensions / "tracevis3d").symlink_to(ROOT)
        own = {
            "BLENDER_USER_EXTENSIONS": str(place / "user" / "extensions"),
            "BLENDER_USER_CONFIG": str(place / "user" / "config"),
            "BLENDER_USER_SCRIPTS": str(place / "user" / "scripts"),
            "TRACEVIS3D_CACHE": str(place / "user" / "cache"),
        }
        for made in sys.argv[1:] or FILES:
            subprocess.run(
                [sys.executable, __file__, "--in", blends, made], env=os.environ | own, check=True, cwd=place
            )
            for suffix in (".blend", ".json"):
                shutil.copyfile(blends / f"{made}{suffix}", HERE / f"{made}{suffix}")


def begin():
    """Enable the extension in an empty file without the windows' other layouts."""
    support.enable()
    bpy.ops.wm.read_homefile(use_empty=True, app_template="")
    unused = [w for w in bpy.data.workspaces if w != bpy.context.window.workspace]
    bpy.data.batch_remove(unused)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = SIZE


def drawn(view, style="paper", filters="", **values):
    """Give a view parameters and draw it anew."""
    bpy.context.scene.tracevis3d_view = view
    group = getattr(view.tracevis3d, view.tracevis3d.view)
    for name, value in values.items():
        setattr(group, name, value)
    view.tracevis3d.style, view.tracevis3d.engine = style, "workbench"
    view.tracevis3d.filters = filters
    assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    assert not view.tracevis3d.stale
    return view


def plain(place):
    """One view, as it is right after the import."""
    begin()
    assert do.import_trace(filepath=str(place.parents[2] / "examples" / EXAMPLES[0])) == {"FINISHED"}


def full(place):
    """All six views with parameters, filters, selections, marks, bookmarks, a search, lists, a tree."""
    begin()
    examples = place.parents[2] / "examples"

    def new(view, path):
        assert do.import_trace(filepath=str(path), view=view) == {"FINISHED"}
        return bpy.context.scene.tracevis3d_view

    native, profile, other = (new("icicle", examples / name) for name in EXAMPLES)
    memory = new("memory", place / "heaptrack_lua.gz")
    scene = bpy.context.scene
    keys = {view: view.tracevis3d.sources[0].hash for view in (native, profile, other)}

    def add(view, of, **more):
        assert do.add_view(view=view, trace=keys[of], **more) == {"FINISHED"}
        return scene.tracevis3d_view

    drawn(
        native, style="flat", opening=0.0, relief=0.25, order="busiest", last_depth=6, labels=12, entries=4,
        measure="calls", scale="log", start="20ms", end="700ms", palette="paper",
    )  # fmt: skip
    drawn(
        profile, filters="duration(below=2ms, effect=fade); name(pattern=import, what=call)",
        color="subtree", threads="thread 24449", resolution=4.0, turn=8.5, tilt=30.0, gap=0.2, labels=9,
    )  # fmt: skip
    drawn(other, style="stage", level=1.0, spacing=2.5, taper=0.25, recede=0.5, labels=7, last_depth=9)
    drawn(
        memory, order="lifetime", before="address", height="size", color="cohort", relief=0.4, right=0.9,
        curves=False, labels=5, entries=3, resolution=6.0, turn=-20.0,
    )  # fmt: skip
    compare = add("compare", profile, other=keys[other], more={keys[native]}, style="stage")
    drawn(
        compare, style="stage", tau=0.15, identity="name", matches="all", tubes=3, lines=6, labels=2,
        bundling="heb", beta=0.5, fan=30.0, resolution=4.0, walls="group", annotate=1, height=2.0,
        last_depth=8,
    )  # fmt: skip
    threads = add("threads", native)
    drawn(
        threads, threads="all", order="name", waits="object", last_depth=3, tubes=1, labels=8, resolution=4.0,
        lanes=0.5, pull=1.5, path=True, tags=False, widen=2.0,
    )  # fmt: skip
    shown = sorted((r for r in threads.tracevis3d_thread_rows if r.place >= 0), key=lambda r: r.place)
    assert len(shown) > 3, [row.key for row in shown]
    assert do.thread_change(key=shown[2].key, do="MAIN") == {"FINISHED"}
    assert do.thread_change(key=shown[3].key, do="HIDE") == {"FINISHED"}
    drawn(threads)
    cone = add("cone", profile)
    drawn(
        cone, layout="bubble", size="duration", height="self", budget=20, labels=2, shells="none", rings=12,
        elevation=25.0, interest="duration", sinking=0.5,
    )  # fmt: skip
    interactions = add("interactions", native, style="stage")
    drawn(
        interactions, style="stage", level="class", elements=8, calls=2, slices=4, labels=2, axis="time",
        color="time", unroll=0.7, beta=0.4, relief=0.5, window=11, mantle="none",
    )  # fmt: skip
    # A film of one view, another output, the place of another.
    native.tracevis3d.seconds = 2.5
    drawn(native, style="flat")
    native.tracevis3d.output = "native.png"
    scene.tracevis3d_view = other
    assert do.remove_view() == {"FINISHED"}
    assert do.arrange(direction="STACK") == {"FINISHED"}
    profile.tracevis3d.place = (1.0, 40.0, 2.0)

    scene.tracevis3d_view = profile
    assert do.filter_change(index=1, do="SWITCH") == {"FINISHED"}
    drawn(profile, filters=profile.tracevis3d.filters)
    state = scene.tracevis3d_search
    state.pattern = "import"
    state.case = True
    assert state.total > 2
    for _ in range(2):
        assert do.search_step(step="NEXT") == {"FINISHED"}
    assert do.bookmark_add(name="second import") == {"FINISHED"}
    assert do.tree_show() == {"FINISHED"}
    tree = profile.tracevis3d_tree
    tree.levels, tree.page, tree.folded = 4, 7, True
    assert do.tree_key(key="DOWN_ARROW") == {"FINISHED"}

    scene.tracevis3d_view = native
    assert do.list_show() == {"FINISHED"}
    lists = native.tracevis3d_lists
    lists.sort = "duration"
    lists.contains = "ZSTD"
    lists.index = 1
    assert do.list_hide(effect="fade") == {"FINISHED"}
    drawn(native, style="flat", filters=native.tracevis3d.filters)
    assert do.tree_show() == {"FINISHED"}
    scene.frame_set(7)
    assert do.bookmark_add(name="what ZSTD does") == {"FINISHED"}
    for record in bpy.data.collections[".TraceVis3D"].tracevis3d_traces:
        if record.trace == keys[native]:
            record.time_range, record.marks = "100000000 250000000", "1000000 2000000,5000000 9000000"
    scene.tracevis3d_view = compare
    assert do.bookmark_add() == {"FINISHED"}
    scene.tracevis3d_bookmark = 1
    scene.tracevis3d_detail = False
    # Another value that was not drawn yet.
    cone.tracevis3d.cone.steepness = 2.0
    assert cone.tracevis3d.stale


def live(place):
    """A live view while its feed goes on."""
    begin()
    feed = support.extension(".operators.live.watched_feed")
    publisher = support.extension(".tracevis3d.live.publisher").Publisher("tcp://127.0.0.1:*", "program.py")
    function = publisher.number("functions", "alpha.f (/p/alpha.py:3)")
    thread = publisher.number("threads", (1, 1, "main"))
    wanted = bpy.context.window_manager.tracevis3d_live
    wanted.endpoint, wanted.window = publisher.endpoint, 2.0
    assert do.live_connect() == {"FINISHED"}
    until = time.monotonic() + 20
    while feed.Feed.current.subscriber.trace.calls < 20 and time.monotonic() < until:
        now = publisher.now()
        publisher.put(
            "calls", kind=[0, 1], thread=[thread] * 2, function=[function] * 2, time=[now - 500_000, now]
        )
        feed._tick()
        time.sleep(0.02)
    assert feed.Feed.current.subscriber.trace.calls >= 20
    return lambda: publisher.close(0.2)


def views(place):
    """The views that version 1.0 added, away from their defaults."""
    begin()
    examples = place.parents[2] / "examples"
    assert do.import_trace(filepath=str(examples / EXAMPLES[0]), view="tracks") == {"FINISHED"}
    scene = bpy.context.scene
    tracks = scene.tracevis3d_view
    key = tracks.tracevis3d.sources[0].hash
    drawn(tracks, style="stage", strips="horizon", layers=2, start="20ms", end="700ms", findings=1, tilt=40.0)

    def add(view, **values):
        assert do.add_view(view=view, trace=key) == {"FINISHED"}
        return drawn(scene.tracevis3d_view, **values)

    add("matrix", parts="function", value="self", third="thread", most=8, scale="log", walls=False)
    add("city", style="flat", parts="function", area="calls", height="calls", floors=3, arcs=4, labels=5)
    add("ramp", filters="duration(below=2ms, effect=fade)", entries=3, histogram=False, relief=0.5)
    assert do.arrange(direction="STACK") == {"FINISHED"}


FILES = {"plain": plain, "full": full, "live": live, "views": views}

if __name__ == "__main__" and "--in" not in sys.argv:
    main()
elif __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "blender"))
    import bpy
    import stored
    import support
    import zstandard

    do = bpy.ops.tracevis3d
    place, name = Path(sys.argv[2]), sys.argv[3]
    after = FILES[name](place)
    path = place / f"{name}.blend"
    assert bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False) == {"FINISHED"}
    if after is not None:
        bpy.ops.preferences.addon_disable(module=support.NAME)
        after()
        support.enable()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    kept = json.dumps(stored.stored(), indent=1, ensure_ascii=False, sort_keys=True)
    # Blender compresses for speed.
    path.write_bytes(zstandard.ZstdCompressor(level=22).compress(path.read_bytes()))
    path.with_suffix(".json").write_text(kept + "\n", encoding="utf-8")
