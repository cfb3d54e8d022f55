"""How often tubes of a comparison turn back along time, by our bundling and by Holten's original.

``python -m benchmarks.comparison.turns [--write] [FOLDER]``: for the four recorded pairs and six of
``benchmarks.explain``, which are recorded into FOLDER, or taken from it. ``--write`` puts the table into
``docs/compare.md``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import tracevis3d as tv
from benchmarks.explain.pairs import pairs, record
from benchmarks.measure import RECORDED, ROOT
from tracevis3d.drawing.frame import Frame

FILES = (
    ("docutils 0.20, 0.22", "vt_rst2html_docutils0.20.json.gz", "vt_rst2html_docutils0.22.json.gz"),
    ("markdown twice", "vt_markdown_repeat1.json.gz", "vt_markdown_repeat2.json.gz"),
    ("Sphinx, E and F", "vt_sphinxtext_E.json.gz", "vt_sphinxtext_F.json.gz"),
    ("Sphinx, G and C", "vt_sphinxtext_G.json.gz", "vt_sphinxtext_C.json.gz"),
)
KNOWN = (
    "slower function", "added call", "reordered stage", "removed cache", "moved call", "more input",
)  # fmt: skip
#: Steps along time that are shorter, in scene units, turn nothing: a tenth of a pixel.
LEAST = 1e-3
BEGIN, END = "<!-- turns of tubes -->\n", "<!-- end -->"


def turns(path: np.ndarray) -> int:
    """Return how often a path turns back along x."""
    step = np.diff(path[:, 0])
    way = np.sign(step[np.abs(step) > LEAST])
    return int(np.count_nonzero(way[1:] != way[:-1]))


def of_pair(a: tv.api.Trace, b: tv.api.Trace, bundling: str) -> tuple[int, float, float]:
    """Return how many tubes there are, the mean of their turns, and that of those that keep the order."""
    flat, lifted = (
        tv.compare(a, b, bundling=bundling, opening=180.0, lift=lift).drawing(Frame(1600, 900))
        for lift in (0.0, 1.0)
    )
    found, in_order = [], []
    for tubes, risen in zip(flat.elements, lifted.elements, strict=True):
        if tubes.kind != "tube":
            continue
        for i in range(len(tubes)):
            inside = slice(int(tubes.first[i]), int(tubes.first[i + 1]))
            found.append(turns(tubes.point[inside].astype(np.float64)))
            # What has moved rises above the others.
            if np.array_equal(tubes.point[inside], risen.point[inside]):
                in_order.append(found[-1])
    return len(found), float(np.mean(found or [0])), float(np.mean(in_order or [0]))


def table(folder: Path) -> str:
    """Return the turns of all pairs as a table in Markdown."""
    files = [(name, RECORDED / a, RECORDED / b) for name, a, b in FILES if (RECORDED / a).is_file()]
    for number, pair in enumerate(pairs(), 1):
        if pair.name in KNOWN:
            place = folder / f"{number:02}"
            both = [place / f"{side}.json.gz" for side in "ab"]
            if not all(file.exists() for file in both):
                both = list(record(pair, place))
            files.append((pair.name, *both))
    rows = [("pair", "tubes", "ours", "of these, in order", "Holten's"), ("---",) * 5]
    every = []
    for name, *two in files:
        a, b = (tv.load(str(file)) for file in two)
        count, ours, in_order = of_pair(a, b, "modified")
        _, plain, _ = of_pair(a, b, "heb")
        every.append((ours, in_order, plain))
        rows.append((name, f"{count:,}", *(f"{value:.2f}" for value in every[-1])))
    rows.append(("mean", "", *(f"{value:.2f}" for value in np.mean(every, axis=0))))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(words: list[str]) -> None:
    """Measure, print, and write if that is asked for."""
    folders = [Path(word).resolve() for word in words if word != "--write"]
    with tempfile.TemporaryDirectory() as made:
        found = table(folders[0] if folders else Path(made))
    print(found)
    if "--write" in words:
        page = ROOT / "docs" / "compare.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(f"{before}{BEGIN}{found}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
