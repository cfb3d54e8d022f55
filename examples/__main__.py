"""The demo: what differs between two runs, more pictures, a film, a .blend. ``python -m examples``.

With ``--warm`` it only compiles the kernels that its first picture needs, as ``make setup`` does.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import tracevis3d as tv
from tracevis3d.command_line import warm_up
from tracevis3d.command_line.terminal import Bar, paragraph
from tracevis3d.errors import TraceVisError
from tracevis3d.trace.model import Trace
from tracevis3d.warm import compile_what_building_needs

HERE = Path(__file__).parent
OUT = HERE.parent / "out"
#: How a picture looks at once, and how it looks when it is done.
DRAFT: dict[str, Any] = {"style": "stage", "size": "1280x720", "draft": True}
STAGE: dict[str, Any] = {"style": "stage", "size": "1920x1080"}
_MOST = 3

NEXT = """
Next, with a program of your own:

  {program} record -o run.json.gz -- your_script.py
  {program} render icicle run.json.gz -o run.png --draft
  {program} explain before.json.gz after.json.gz -o explained

In Blender: 'make extension' builds a zip into dist/; drop it on Blender's window, then drop run.json.gz
there. out/chromium.blend opens without it. What other tools record: {program} formats. More: README.md.
"""


def main() -> int:
    """Draw everything; say what was written, how long it took, and what to do next."""
    OUT.mkdir(exist_ok=True)
    warm_up.begin()
    print("Two runs of Sphinx, each for another page. What differs:\n", flush=True)
    old, new, difference = _difference()
    _draw("difference_draft.png", difference, DRAFT)
    for i, sentence in enumerate(tv.explain(old, new, top=_MOST).sentences, 1):
        print(paragraph(f"  {i}. {sentence}"))
    print(
        "\nThe same as it is meant for a talk, and other programs; some minutes, Ctrl-C ends it:\n",
        flush=True,
    )
    _draw("difference.png", difference, STAGE)
    _draw("difference_flat.png", tv.compare(old, new, opening=180), {"style": "flat", "size": "1920x1080"})
    chromium = tv.load(HERE / "chromium_docs_page.json.gz")
    _draw("chromium.png", tv.icicle(chromium), {"style": "paper", "size": "1920x1080"})
    _draw("chromium.blend", tv.icicle(chromium), {"style": "paper"})
    weka = tv.load(HERE / "weka_parallel_9t.tsv.gz")
    _draw("weka.png", tv.icicle(weka), {**STAGE, "engine": "workbench"})
    film = tv.icicle(weka, color="thread")
    _draw("weka.mp4", film, {"style": "stage", "size": "960x540", "seconds": 5.0})
    print(NEXT.format(program=_program()), end="")
    return 0


def warm() -> None:
    """Compile the kernels that the first picture needs."""
    _difference()[2].drawing()
    compile_what_building_needs()


def _difference() -> tuple[Trace, Trace, tv.Figure]:
    old, new = (tv.load(HERE / f"vt_sphinxtext_{which}.json.gz") for which in "EF")
    return old, new, tv.compare(old, new, tau=0.3)


def _draw(name: str, figure: tv.Figure, options: dict[str, Any]) -> None:
    started = time.perf_counter()
    with Bar() as bar:
        report = figure.render(OUT / name, progress=bar, **options)
    elements = sum(report["elements"].values())
    took = time.perf_counter() - started
    print(f"out/{name:<20} {elements:>7,} elements  {took:5.1f} s", flush=True)


def _program() -> str:
    """Return the command line's program as one types it here."""
    beside = Path(sys.executable).with_name("tracevis3d")
    return os.path.relpath(beside) if beside.exists() else "tracevis3d"


if __name__ == "__main__":
    try:
        sys.exit(warm() if sys.argv[1:] == ["--warm"] else main())
    except TraceVisError as error:
        sys.exit(f"demo: {error}")
