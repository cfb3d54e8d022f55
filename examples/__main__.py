"""The demo: draws recorded programs into out/: figures, a film and a .blend. ``python -m examples``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import tracevis3d as tv
from tracevis3d.command_line.terminal import Bar
from tracevis3d.errors import TraceVisError

HERE = Path(__file__).parent
OUT = HERE.parent / "out"


def main() -> int:
    """Draw everything; say what was written and how long it took."""
    OUT.mkdir(exist_ok=True)
    chromium = tv.load(HERE / "chromium_docs_page.json.gz")
    weka = tv.load(HERE / "weka_parallel_9t.tsv.gz")
    old, new = (tv.load(HERE / f"vt_sphinxtext_{which}.json.gz") for which in "EF")
    pictures = [
        ("compare.png", tv.compare(old, new, tau=0.3), {"style": "stage", "size": "1920x1080"}),
        ("compare_flat.png", tv.compare(old, new, opening=180), {"style": "flat", "size": "1920x1080"}),
        ("chromium.png", tv.icicle(chromium), {"style": "paper", "size": "1920x1080"}),
        ("weka.png", tv.icicle(weka), {"style": "stage", "size": "1920x1080", "engine": "workbench"}),
        ("weka.mp4", tv.icicle(weka, color="thread"), {"style": "stage", "size": "960x540", "seconds": 5.0}),
        ("chromium.blend", tv.icicle(chromium), {"style": "paper"}),
    ]
    for name, figure, options in pictures:
        started = time.perf_counter()
        with Bar() as bar:
            report = figure.render(OUT / name, progress=bar, **options)
        boxes = sum(report["elements"].values())
        print(f"out/{name:<16} {boxes:>7,} elements  {time.perf_counter() - started:5.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TraceVisError as error:
        sys.exit(f"demo: {error}")
