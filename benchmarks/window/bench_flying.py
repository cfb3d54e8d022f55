"""What a frame costs while one flies in Blender's own window, through a recorded trace and 1,000,000 boxes.

``python -m benchmarks flying`` takes the real Blender 5.2 with software OpenGL, so only our own part counts:
processor time of all that a frame waits for in Python. With a graphics card frames count, too:
``python -m benchmarks.window.bench_flying --blender PROGRAM`` takes a Blender that has the extension, on the
screen.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tracevis3d as tv
from benchmarks.measure import ROOT, row
from benchmarks.window.bench_explore import made
from benchmarks.window.bench_frames import installed, seen_in, views
from tests.support import synthetic
from tracevis3d.trace.model import Calls

#: Milliseconds of a frame where there are 60 a second.
_FRAME = 1000 / 60
_SECONDS = "10"
N, _LEVELS = 1_000_000, 40


def rows() -> list[dict[str, Any]]:
    """Measure with software OpenGL; ratio is limit / ours."""
    with tempfile.TemporaryDirectory() as folder:
        way = installed(Path(folder))
        if way is None:
            return []
        routes = scenes(Path(folder), Path("/mnt/out"), way.outside)
        found = seen_in(way, "measuring/flying.py", "flown", json.dumps(routes), _SECONDS, timeout=3600.0)
    return table(found)


def on_screen(program: str) -> list[dict[str, Any]]:
    """Measure with a Blender that is installed here, on the screen."""
    with tempfile.TemporaryDirectory() as folder:
        routes = json.dumps(scenes(Path(folder), Path(folder), str))
        words = [program, "--enable-event-simulate", "--window-geometry", "0", "0", "1920", "1080"]
        script = str(ROOT / "tests" / "blender" / "measuring" / "flying.py")
        words += ["--python-exit-code", "3", "--python", script, "--", routes, _SECONDS, folder]
        subprocess.run(words, check=True)
        return table([json.loads(line) for line in (Path(folder) / "flown").read_text().splitlines()])


def scenes(folder: Path, inside: Path, outside: Any) -> list[list[Any]]:
    """Return what is flown through: names, views, traces as Blender finds them, and parameters."""
    icicle, threads = views()["icicle"][0], views()["threads"][0]
    tv.save(made(stacks(), [0], [N]), folder / "made.tv3", packed=True)
    return [
        [f"icicle of {icicle.name}", "icicle", outside(icicle), {}],
        [f"threads of {threads.name}", "threads", outside(threads), {}],
        # No call is so narrow that it would be merged with others.
        [f"{N:,} boxes", "icicle", str(inside / "made.tv3"), {"resolution": 0.05}],
    ]


def stacks() -> Calls:
    """Return as many calls as there are to be boxes: stacks of them, each wide enough to be a box."""
    depth = np.tile(np.arange(1, _LEVELS + 1, dtype=np.int32), N // _LEVELS)
    one = np.ones(N, np.int64)
    innermost = np.where(depth == _LEVELS, 1_000, one)
    return synthetic.from_depths(depth, (np.arange(N) * 7 % 97).astype(np.int32), one, innermost)


def table(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of what was measured, and print who drew and what of ours took longest."""
    result = []
    for each in found:
        over = "with what lies over it" if each["overlay"] else "bare"
        name = f"flying, {each['name']}, {each['elements']:,} elements, {over}"
        wide, high = each["size"]
        print(f"  {name}: {wide} x {high} pixels of 1920 x 1080, by {each['drawn_by']}")
        middle, slowest = each["median_ms"], each["slowest_ms"]
        print(f"    {each['frames']} frames of {middle:.1f} ms, {slowest:.1f} ms the slowest")
        print(f"    {each['thread_ms']:.1f} ms a frame of Blender's main thread")
        for what, spent in list(each["each_ms"].items())[:8]:
            most = each["longest_ms"][what]
            print(f"    {spent:.2f} ms a frame, {most:.1f} ms at most: {what}", flush=True)
        if each["elements"]:
            result.append(row(f"{name}: ours", each["ours_ms"], _FRAME, "a frame of 60 a second"))
        if "llvmpipe" not in each["drawn_by"]:
            line = {**row(name, each["per_second"], 60.0, "wanted"), "unit": "frames/s"}
            result.append({**line, "ratio": each["per_second"] / 60.0})
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count frames while flying, in a Blender on this screen.")
    parser.add_argument("--blender", metavar="PROGRAM", required=True, help="with the extension installed")
    for line in on_screen(parser.parse_args().blender):
        print(f"{line['name']:<70} {line['ours']:>8.4g} {line['unit']}")
