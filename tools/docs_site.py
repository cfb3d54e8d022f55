"""What MkDocs needs beside docs/: pages that lie elsewhere, the API's reference (a hook of mkdocs.yml)."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: Pages of the site that lie outside docs/: page -> file.
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md",
         "security.md": "SECURITY.md"}  # fmt: skip
#: What authors of plug-ins use, with what it is.
CONTRACTS = {
    "tracevis3d.views.view.View": "A view",
    "tracevis3d.drawing.primitives.Drawing": "What a view draws",
    "tracevis3d.trace.model.Trace": "A trace",
}
#: A link to a file that is no page of the site.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that lie elsewhere or are made."""
    from mkdocs.structure.files import File

    for page, name in PAGES.items():
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        for other, source in PAGES.items():
            text = text.replace(f"]({source}", f"]({other}")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference.md", content=reference()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Leave of links to the code only their text; show films where they are linked."""
    markdown = re.sub(
        r"\[!\[([^\]]*)\]\(([^)]+)\)\]\((gallery/\w+[.]mp4)\)",
        r'<video controls preload="none" width="100%" poster="\2" src="\3" title="\1"></video>',
        markdown,
    )
    return _OUTSIDE.sub(r"\1", markdown)


def reference() -> str:
    """Return the page of the API: what scripts call, and what plug-ins define."""
    parts = ["# API reference", "## For scripts", "`import tracevis3d as tv`; each view is a function, too."]
    parts += [f"::: tracevis3d.api.{name}" for name in _names()]
    parts.append("## For plug-ins")
    parts += [f"::: {path}" for path in CONTRACTS]
    return "\n\n".join(parts) + "\n"


def _names() -> list[str]:
    """Return the names of the API, without importing it."""
    tree = ast.parse((ROOT / "tracevis3d" / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_API":
            return list(ast.literal_eval(node.value))
    raise LookupError("tracevis3d/__init__.py has no _API")
