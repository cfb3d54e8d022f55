"""Judge ``explain`` on pairs with a known change: ``python -m benchmarks.explain [--write] [FOLDER]``.

The twenty pairs with which the rules were made, and five, eight, eight, eight, ten and eight made afterwards.
Recordings are made in FOLDER, or taken from it; ``--write`` puts the tables into ``docs/explain.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .judge import judge_all, table
from .pairs import ROOT

#: What stands before each table in the docs.
BEGIN = {
    "pairs": "<!-- pairs with a known change -->\n",
    "unseen": "<!-- pairs made after the rules -->\n",
    "later": "<!-- pairs made later still -->\n",
    "latest": "<!-- pairs made last -->\n",
    "fresh": "<!-- pairs with answers written down first -->\n",
    "sealed": "<!-- pairs of other kinds, answers written down first -->\n",
    "further": "<!-- further pairs of these programs, answers written down first -->\n",
}
END = "<!-- end -->"


def main(words: list[str]) -> None:
    """Judge, print, and write if that is asked for."""
    folders = [Path(word).resolve() for word in words if word != "--write"]
    page = ROOT / "docs" / "explain.md"
    for name, begin in BEGIN.items():
        verdicts = judge_all(name, folders[0] / name if folders else None)
        made = table(verdicts)
        print(made)
        for verdict in verdicts:
            for finding in verdict.false:
                print(f"{verdict.pair.name}: false: {finding.kind} {finding.functions}")
        if "--write" in words:
            before, _, rest = page.read_text(encoding="utf-8").partition(begin)
            page.write_text(f"{before}{begin}{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
