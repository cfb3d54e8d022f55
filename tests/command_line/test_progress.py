"""Long work says what it does, and how much of it is done."""

import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.cli import main
from tracevis3d.command_line.terminal import Bar
from tracevis3d.progress import in_steps
from tracevis3d.trace.storage import store


def test_steps_are_taken_in_order_and_reported_by_their_shares():
    said, taken = [], []
    in_steps(
        lambda done, what: said.append((done, what)),
        ("long", 3, lambda: taken.append("long")),
        ("short", 1, lambda: taken.append("short")),
    )
    assert taken == ["long", "short"]
    assert said == [(0.0, "long"), (0.75, "short"), (1.0, "")]


@pytest.mark.parametrize(
    ("command", "last"),
    [
        ("info", "finding distinct sets"),
        ("waits", "looking for what stands out"),
        ("phases", "naming phases, finding rounds"),
        ("patterns", "finding sequences"),
        ("memory", "looking for leaks and churn"),
    ],
)
def test_what_may_take_long_reports_progress_behind_reading(command, last, tmp_path, monkeypatch):
    path = tmp_path / "a.tv3"
    store.save(walked_trace(4, steps=60, allocations=40), path)
    said = []
    monkeypatch.setattr(Bar, "__call__", lambda self, done, what: said.append((done, what)))
    assert main([command, str(path)]) == 0
    first = max(i for i, (done, _) in enumerate(said) if done == 0.0)
    shares = [done for done, _ in said[first:]]
    assert shares == sorted(shares)
    assert last in [what for _, what in said[first:]]
