"""Judge ``explain`` on twenty pairs with a known change: ``python -m benchmarks.explain [--write] [FOLDER]``.

Recordings are made in FOLDER, or taken from it; ``--write`` puts the table into ``docs/explain.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .judge import judge_all, table
from .pairs import ROOT

BEGIN, END = "<!-- pairs with a known change -->\n", "<!-- end -->"


def main(words: list[str]) -> None:
    """Judge, print, and write if that is asked for."""
    folders = [word for word in words if word != "--write"]
    verdicts = judge_all(Path(folders[0]).resolve() if folders else None)
    made = table(verdicts)
    print(made)
    for verdict in verdicts:
        for finding in verdict.false:
            print(f"{verdict.pair.name}: false: {finding.kind} {finding.functions}")
    if "--write" in words:
        page = ROOT / "docs" / "explain.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(f"{before}{BEGIN}{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
