"""Links in the docs lead to files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\(([^)#\s]+)")


def broken(page: Path) -> list[str]:
    """Return the links of a page to files that there are not."""
    links = _LINK.findall(page.read_text("utf-8"))
    return [link for link in links if "://" not in link and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[one](https://example.org/x) [two](nowhere.md#here) ![three](page.md)")
    assert broken(page) == ["nowhere.md"]
