"""Writes the tables of README and docs from what is registered: views, formats, filters and so on.

``python tools/write_docs.py`` rewrites the pages; a test checks that they are up to date. A page has a table
where it says ``<!-- table of views -->``; a view that docs/views.md lacks gets a chapter at its end.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VIEWS = ROOT / "docs" / "views.md"
_END = "<!-- end -->"
#: Pictures of formats, as examples/recipes.md names them; two formats are read through another one.
_PICTURES = "../docs/pictures/formats"
_DRAWN_AS = {"perf_data": "perf_script", "memray": "memray_records"}


def _own(registry: Any) -> list[Any]:
    """Return what this package itself registers: what else is installed is on pages of its own."""
    return [registry.find(name) for name in registry._OWN]


def _rows(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines
    )


def views() -> str:
    """Return the views of this package, with the pages that explain them."""
    from tracevis3d.views import registry

    rows = []
    for view in _own(registry):
        page = f"docs/{view.docs}" if view.docs else f"docs/views.md#{view.name}"
        least, most = view.traces
        traces = str(least) if least == most else f"{least} to {most}"
        rows.append([f"[`{view.name}`]({page})", view.sentence, traces, "yes" if view.live else ""])
    return _rows(["view", "what it shows", "traces", "live"], rows)


def formats() -> str:
    """Return the formats that are read, and which are written too."""
    from tracevis3d.formats import registry

    return _rows(
        ["format", "from", "files", "written"],
        [
            [
                form.title,
                form.programs,
                " ".join(f"`{s}`" for s in form.suffixes),
                "yes" if form.write else "",
            ]
            for form in _own(registry)
        ],
    )


def recipes() -> str:
    """Return how to record each format, what is read of it and what is not, a command and its picture."""
    from tracevis3d.commands.formats import file_of, what_is_read
    from tracevis3d.formats import registry

    drawn = tomllib.loads((ROOT / "docs" / "pictures" / "formats" / "commands.toml").read_text("utf-8"))
    parts = []
    for form in _own(registry):
        if form.recipe:
            left_out = f" Not read: {form.left_out}." if form.left_out else ""
            commands = "\n".join(form.recipe)
            show = f"tracevis3d info {file_of(form)}"
            name = _DRAWN_AS.get(form.name, form.name)
            picture = ""
            if name in drawn:
                view, file = drawn[name].split()[:2]
                show += f"\ntracevis3d render {view} {file_of(form)} -o {view}.png"
                picture = f"\n\n![{form.title}: {file} in the view {view}]({_PICTURES}/{name}.jpg)"
            parts.append(
                f"## {form.title}\n\n{what_is_read(form)}{left_out}\n\n```\n{commands}\n{show}\n```{picture}"
            )
    return "\n\n".join(parts) + "\n"


def filters() -> str:
    """Return the filters."""
    from tracevis3d.filters import registry

    return _rows(["filter", "marks"], [[f"`{one.name}`", one.sentence] for one in _own(registry)])


def criteria() -> str:
    """Return the criteria by which subtrees count as the same."""
    from tracevis3d.analysis.criteria import CRITERIA

    return _rows(
        ["criterion", "two subtrees are the same"], [[f"`{name}`", words] for name, words in CRITERIA.items()]
    )


def styles() -> str:
    """Return the styles."""
    from tracevis3d.drawing.output import STYLES

    return _rows(["style", "what it looks like"], [[f"`{name}`", words] for name, words in STYLES.items()])


def live_views() -> str:
    """Return the live views, with the settings that each has for itself."""
    from tracevis3d.parameters import declared
    from tracevis3d.views import registry

    rows = []
    for view in _own(registry):
        if view.live is not None:
            own = declared(view.live.settings) if view.live.settings is not None else ()
            rows.append([view.name, view.live.sentence, ", ".join(f"`{p.name}`" for p in own)])
    return _rows(["view", "what it shows", "settings of its own"], rows)


def rooms() -> str:
    """Return the rooms, floor by floor, as the contract in pyproject.toml has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    rows = [[f"`{name}/`", _sentence(ROOT / name)] for name in ("panels", "operators")]
    for layer in layers:
        for name in layer.split(" | "):
            room = ROOT / "tracevis3d" / name
            rows.append([f"`{name}/`" if room.is_dir() else f"`{name}.py`", _sentence(room)])
            if name == "features":
                parts = sorted(path.parent for path in room.glob("*/__init__.py"))
                rows += [[f"`features/{part.name}/`", _sentence(part)] for part in parts]
    return _rows(["room", "what it holds"], rows)


def _sentence(room: Path) -> str:
    """Return the first line of the docstring of a package or a module."""
    source = room / "__init__.py" if room.is_dir() else room.with_suffix(".py")
    words = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
    return words.partition("\n")[0]


TABLES: dict[str, Callable[[], str]] = {
    "table of rooms": rooms,
    "table of views": views,
    "table of live views": live_views,
    "table of formats": formats,
    "table of recipes": recipes,
    "table of filters": filters,
    "table of criteria": criteria,
    "table of styles": styles,
}


def parameters(view: str) -> str:
    """Return the parameters of a view as a Markdown table, one block per group."""
    from tracevis3d.parameters import declared, shown
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
        default = f"`{shown(p.default)}`" if p.default != "" else "empty"
        for style, value in p.in_style.items():
            default += f"; pictures of `{style}` `{shown(value)}`"
        lines.append(f"| `{p.name}` | {default} | {values} | {p.sentence} |")
    return "\n".join(lines[1:])


def _made(marker: str) -> str | None:
    """Return what stands after a marker; None if it is no marker of ours."""
    if marker.startswith("parameters of "):
        return parameters(marker.removeprefix("parameters of "))
    return TABLES[marker]() if marker in TABLES else None


def written(page: str, path: Path) -> str:
    """Return ``page`` with all tables made anew; docs/views.md with a chapter for each view."""
    from tracevis3d.views import registry

    if path == VIEWS:
        for view in _own(registry):
            marker = f"<!-- parameters of {view.name} -->"
            if marker not in page:
                page = f"{page.rstrip()}\n\n## {view.name}\n\n{view.sentence}.\n\n{marker}\n{_END}\n"
    parts = page.split("<!-- ")
    for i in range(1, len(parts)):
        marker, found, _ = parts[i].partition(" -->")
        made = _made(marker) if found else None
        if made is not None:
            parts[i] = f"{marker} -->\n{_linked(made, path)}\n"
    return "<!-- ".join(parts)


def _linked(table: str, path: Path) -> str:
    """Return a table whose links hold for a page: those in docs/ name their neighbours."""
    return table.replace("](docs/", "](") if path.parent == VIEWS.parent else table


def pages() -> list[Path]:
    """Return the pages that have tables."""
    others = "README.md", "examples/recipes.md"
    return [
        path
        for path in [*(ROOT / page for page in others), *sorted((ROOT / "docs").glob("*.md"))]
        if _END in path.read_text("utf-8")
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for one in pages():
        one.write_text(written(one.read_text("utf-8"), one), "utf-8")
