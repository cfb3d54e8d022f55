"""Filters of other packages, found by entry points: listed, with parameters, in a stack, on a view."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "examples" / "vt_markdown_repeat1.json.gz"

MODULE = """
from dataclasses import dataclass
import numpy as np
from tracevis3d.filters.registry import Filter, Marked
from tracevis3d.parameters import parameter

@dataclass(frozen=True)
class Parameters:
    every: int = parameter(2, "Every so many calls", low=1)

def mark(facts, p):
    return Marked("call", np.arange(len(facts.trace.calls)) % p.every == 0)

every = Filter("every", "Every so many", "every so many calls", "any", Parameters, mark)
broken = 7
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    place = tmp_path_factory.mktemp("package")
    (place / "other_filters.py").write_text(MODULE)
    info = place / "other_filters-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-filters\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tracevis3d.filters]\nevery = other_filters:every\nbroken = other_filters:broken\n"
    )
    return {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}


def run(environment, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tracevis3d", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd="/")


def test_a_filter_of_another_package(environment) -> None:
    listed = run(environment, "filters", "--json")
    assert listed.returncode == 0, listed.stderr
    names = {one["name"] for one in json.loads(listed.stdout)}
    assert "every" in names
    assert "broken" not in names, "one that fails does not keep the others from working"
    done = run(environment, "filter", str(TRACE), "--every", "every=3,what=call", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    n = facts["calls"]
    assert facts["hidden"] == len(np.arange(0, n, 3))
    tree = run(environment, "tree", str(TRACE), "--filters", "every(every=3, what=call)", "--json", "--quiet")
    rows = json.loads(tree.stdout)["rows"]
    assert rows
    assert all(row["call"] % 3 for row in rows)


def test_one_that_cannot_be_loaded_is_said(environment) -> None:
    done = run(environment, "filter", str(TRACE), "--broken", "--quiet")
    assert done.returncode == 2
    assert "is not a Filter but a int" in done.stderr
    assert "Traceback" not in done.stderr
