"""Writes the tables of parameters into docs/views.md from the views' own declarations.

``python tools/write_docs.py`` rewrites the file; a test checks that it is up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "views.md"


def table(view: str) -> str:
    """Return the parameters of a view as a Markdown table, one block per group."""
    from tracevis3d.parameters import declared
    from tracevis3d.views.registry import find

    lines: list[str] = []
    group = None
    for p in declared(find(view).parameters):
        if p.group != group:
            group = p.group
            lines += ["", f"**{group}**", "", "| parameter | default | values | |", "|---|---|---|---|"]
        if p.choices:
            values = "<br>".join(f"`{name}`: {words}" for name, words in p.choices.items())
        elif p.low is not None and p.high is not None:
            values = f"{p.low:g} to {p.high:g} {p.unit}".strip()
        elif p.low is not None:
            values = f"from {p.low:g} {p.unit}".strip()
        else:
            values = "text" if isinstance(p.default, str) else p.unit
        default = f"{p.default:g}" if isinstance(p.default, float) else str(p.default)
        lines.append(f"| `{p.name}` | {f'`{default}`' if default else 'empty'} | {values} | {p.sentence} |")
    return "\n".join(lines[1:])


def written(page: str) -> str:
    """Return ``page`` with what stands between each pair of markers made anew."""
    parts = page.split("<!-- parameters of ")
    for i in range(1, len(parts)):
        view, rest = parts[i].split(" -->", 1)
        _, after = rest.split("<!-- end -->", 1)
        parts[i] = f"{view} -->\n{table(view)}\n<!-- end -->{after}"
    return "<!-- parameters of ".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
