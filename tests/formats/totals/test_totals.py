"""What is read is what the tools say: the table in docs/totals.md."""

import pytest

from tests.formats.totals import table as totals


def test_totals_are_those_of_the_tools_and_the_page_shows_them():
    if not totals.RECORDED.is_dir():
        pytest.skip("the recordings are not here")
    rows = totals.rows()
    assert [row for row in rows if row.theirs != row.ours] == []
    assert len({row.format for row in rows}) >= 20
    assert totals.PAGE.read_text("utf-8") == totals.page(rows), (
        "write it anew: python -m tests.formats.totals.table"
    )
