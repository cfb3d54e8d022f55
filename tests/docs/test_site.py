"""The documentation as a site: every page is in its menu, and so is everything that scripts call."""

import importlib
import re
import sys
from pathlib import Path

import yaml

import tracevis3d as tv

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import docs_site  # noqa: E402

sys.path.remove(str(ROOT / "tools"))

#: Pages that are made from files outside docs/, or from docstrings (tools/docs_site.py).
MADE = {"index.md", "changelog.md", "contributing.md", "security.md", "reference.md"}


def test_each_page_is_in_the_menu():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    listed = [page for section in site["nav"] for pages in section.values() for page in pages]
    assert len(listed) == len(set(listed))
    assert set(listed) == MADE | {page.name for page in (ROOT / "docs").glob("*.md")}
    assert site["strict"]


def test_the_reference_has_what_scripts_call_and_plug_ins_define():
    named = re.findall(r"^::: (.+)$", docs_site.reference(), re.M)
    assert {f"tracevis3d.api.{name}" for name in tv._API} <= set(named)
    for path in named:
        module, _, name = path.rpartition(".")
        assert getattr(importlib.import_module(module), name).__doc__


def test_links_out_of_the_site_are_left_as_texts():
    text = "See [the plug-ins](../examples/plugins), [films](films.md)."
    assert docs_site.on_page_markdown(text) == "See the plug-ins, [films](films.md)."
    film = docs_site.on_page_markdown("[![A film](gallery/a.jpg)](gallery/a.mp4)")
    assert film.startswith("<video")
    assert 'src="gallery/a.mp4"' in film
