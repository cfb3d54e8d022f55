"""What a frame costs: triangles of each view, redraws in Blender's own window, drafts on the command line.

The window is the real Blender 5.2's, with software OpenGL, at 1920 x 1080 (``tools/real_blender.py``);
without it those rows are left out. Times are the processor's: what else the machine does counts little.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tracevis3d as tv
from benchmarks.measure import RECORDED, ROOT, row
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Labels
from tracevis3d.layout.sight.view_projection import ViewProjection
from tracevis3d.overlay.items import Overlay, Theme
from tracevis3d.overlay.names import lay_names, prepare

EXAMPLES = ROOT / "examples"
BUDGET = 400_000
#: Milliseconds of the processor for placing all that lies over the scene, and for drawing it.
_OVERLAY = 2.0
_SCREEN = "1920x1080"
_TEXTS = ("title", "labels", "names", "axis texts")


def views() -> dict[str, list[Path]]:
    """Return a view's name -> traces that it shows: the largest ones that are there."""
    large = {
        "icicle": [RECORDED / "vt_pylint_0.9M.json.gz"],
        "cone": [RECORDED / "vt_pylint_0.9M.json.gz"],
        "threads": [RECORDED / "chromium_docs_page.json.gz"],
        "interactions": [RECORDED / "vt_sphinxtext_C.json.gz"],
        "memory": [RECORDED / "memray_pillow_threads.records.tsv.gz"],
        "compare": [RECORDED / f"vt_rst2html_docutils0.{version}.json.gz" for version in (20, 22)],
        "tracks": [RECORDED / "vt_pylint_0.9M.json.gz"],
        "matrix": [RECORDED / "vt_pylint_0.9M.json.gz"],
        "city": [RECORDED / "vt_pylint_0.9M.json.gz"],
        "ramp": [RECORDED / "sync_pillow_8w.json.gz"],
        "source": [RECORDED / "vt_pylint_0.9M.json.gz"],
    }
    small = {
        "icicle": [EXAMPLES / "vt_sphinxtext_E.json.gz"],
        "cone": [EXAMPLES / "weka_parallel_9t.tsv.gz"],
        "threads": [EXAMPLES / "sync_pillow_8w.json.gz"],
        "interactions": [EXAMPLES / "weka_parallel_9t.tsv.gz"],
        "compare": [EXAMPLES / f"vt_sphinxtext_{name}.json.gz" for name in "EF"],
        "tracks": [EXAMPLES / "sync_pillow_8w.json.gz"],
        "matrix": [EXAMPLES / "vt_sphinxtext_E.json.gz"],
        "city": [EXAMPLES / "vt_sphinxtext_E.json.gz"],
        "ramp": [EXAMPLES / "sync_pillow_8w.json.gz"],
        "source": [EXAMPLES / "vt_sphinxtext_E.json.gz"],
    }
    found = {}
    for name, traces in large.items():
        for given in (traces, small.get(name, [])):
            if given and all(path.is_file() for path in given):
                found[name] = given
                break
    return found


def rows() -> list[dict[str, Any]]:
    """Measure; ratio is limit / ours."""
    return [*triangles(), *names(), *drafts(), *redraws(), *arriving()]


def triangles() -> list[dict[str, Any]]:
    """Count what the 3D view draws of each view, without texts."""
    import bpy

    from tests.support.evaluated import in_window
    from tracevis3d.scene.build import build

    result = []
    for view, paths in views().items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        drawing = tv.Figure(view, tuple(tv.load(path) for path in paths)).drawing(Frame())
        drawn = in_window(build(drawing, frame=Frame()), _TEXTS)
        name = f"{view}: triangles in the window, {len(drawn.triangles)} objects"
        result.append({**row(name, drawn.total, BUDGET, "budget"), "unit": "triangles"})
    return result


def names() -> list[dict[str, Any]]:
    """Measure how long it takes to place as many names as are ever shown, while one comes nearer.

    They stand on a wall of 5,000, half of which are too long for their room.
    """
    rng = np.random.default_rng(1)
    at = np.arange(5_000)
    anchor = np.stack([4.0 * (at % 50), 0.0 * at, 1.0 * (at // 50)], axis=1).astype(np.float32)
    text = tuple("n" * int(k) for k in rng.integers(3, 30, len(at)))
    high, wide = np.full(len(at), 0.8, np.float32), np.full(len(at), 3.9, np.float32)
    rank, on = rng.random(len(at)).astype(np.float32), np.zeros(len(at), np.int32)

    def measure(text: str) -> float:
        return 0.5 * len(text)

    group = Labels("function", text, anchor, high, wide, rank, -1, background=on)
    prepared = prepare((group,), np.ones((1, 4), np.float32), measure)
    times, before, theme, width, height = [], Overlay(), Theme(), 1920, 900
    for step in range(60):
        # Of the middle of the wall: 20 names beside and 34 above each other.
        near = 1.0 + 0.01 * (step % 7)
        seen = np.diag([2 * near / 80.0, 1.0, 0.0, 1.0])
        seen[1] = (0.0, 0.0, 2 * near / 34.0, -50.0 * 2 * near / 34.0)
        seen[0, 3] = -100.0 * 2 * near / 80.0
        eye, made = ViewProjection.of(seen, width, height), Overlay()
        started = time.thread_time()
        lay_names(prepared, eye, (0.0, 0.0, width, height), theme, measure, made, before.names)
        times.append(time.thread_time() - started)
        before = made
    shown = len(before.names)
    return [row(f"placing {shown} of 5,000 names", sorted(times)[len(times) // 2] * 1e3, _OVERLAY, "limit")]


def drafts() -> list[dict[str, Any]]:
    """Measure ``render --draft`` of traces that were read before: processor time, with all its threads."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        for view, paths in views().items():
            words = [
                sys.executable,
                "-m",
                "tracevis3d",
                "render",
                view,
                *map(str, paths),
                "--draft",
                "--quiet",
            ]
            words += ["-o", f"{folder}/{view}.png"]
            best = float("inf")
            for _ in range(3):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(words, check=True, cwd=ROOT, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                best = min(best, spent)
            result.append(row(f"{view}: a draft, processor time", best * 1e3, 3_000.0, "limit"))
    return result


def redraws() -> list[dict[str, Any]]:
    """Measure redraws in the window, against twice those of an empty one, and hovering against 1.2 times."""
    with tempfile.TemporaryDirectory() as folder:
        way = installed(Path(folder))
        if way is None:
            return []
        given = json.dumps({view: [way.outside(path) for path in paths] for view, paths in views().items()})
        found = seen_in(way, "measuring/frames.py", "drawn", given, timeout=1800.0)
    empty = [each for each in found if each["view"] == "empty"]
    result = []
    for what, times in (("redraw", 2.0), ("hover", 1.2)):
        limit = times * min(each[what] for each in empty)
        peer = f"{times:g} times an empty window"
        result += [
            row(f"{each['view']}: {what}", each[what], limit, peer)
            for each in found
            if each not in empty and what in each
        ]
    for each in found:
        for what in ("placing", "drawing"):
            if what in each:
                name = f"{each['view']}: {what} {each['texts']} texts over it"
                result.append(row(name, each[what], _OVERLAY, "limit"))
    return result


def arriving() -> list[dict[str, Any]]:
    """Measure how long the window's thread is busy between two redraws while detail arrives on the way."""
    trace = views()["icicle"][0]
    with tempfile.TemporaryDirectory() as folder:
        way = installed(Path(folder))
        if way is None:
            return []
        words = way.outside(trace), "icicle"
        found = seen_in(way, "measuring/detail_arrives.py", "flown", *words, timeout=900.0)
    return [
        row(
            f"icicle: busiest between two redraws, {each['details']} times new detail",
            each["busiest"],
            each["usual"],
            "the usual",
        )
        for each in found
    ]


def installed(folder: Path) -> Any:
    """Return the way into Blender 5.2 with the extension installed; None where there can't be one."""
    sys.path.insert(0, str(ROOT / "tools"))
    from real_blender import PROGRAMS
    from release import extension
    from test_blender import Way

    program = next(program for program in PROGRAMS if program.version == "5.2")
    if obstacle := program.obstacle():
        print(f"  the window is left out: {obstacle}", flush=True)
        return None
    way = Way(program, folder)
    program.prepare()
    tag = f"linux-x64-cp{program.python.replace('.', '')}"
    archive = extension.build(extension.Target.parse(tag), folder)
    install = ["extension", "install-file", "-r", "user_default", "--enable", f"/mnt/out/{archive.name}"]
    way.run(["--command", *install])
    return way


def seen_in(way: Any, script: str, written: str, *words: str, timeout: float) -> list[dict[str, Any]]:
    """Run a script in the window, at 1920 x 1080; return the lines of JSON in the file that it writes."""
    screen = ["sh", "/mnt/project/tests/blender/on_screen.sh", _SCREEN, "blender"]
    window = ["--enable-event-simulate", "--window-geometry", "0", "0", *_SCREEN.split("x")]
    way.run([*window, *way.python(script, *words, "/mnt/out")], before=screen, timeout=timeout)
    path = way.place / written
    if not path.is_file():
        raise SystemExit(f"the window was not drawn:\n{way.log.read_text()[-3000:]}")
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    for line in rows():
        print(line)
