"""A picture about one finding, and the report of the first of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.memory.test_view import trace_of
from tracevis3d.api import load, save
from tracevis3d.cli import main
from tracevis3d.drawing import output
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.output import Output
from tracevis3d.errors import UsageError
from tracevis3d.features.memory.report import write_report
from tracevis3d.features.memory.summary import memory_facts, sentence
from tracevis3d.features.memory.view import view
from tracevis3d.features.memory.view.arrangement import memory_use
from tracevis3d.features.memory.view.parameters import Parameters
from tracevis3d.features.memory.view.story import headline_finding, members
from tracevis3d.features.memory.view.view import VIEW
from tracevis3d.progress import silent


@pytest.fixture(scope="module")
def trace(recorded):
    return load(recorded / "memray_pillow_threads.records.tsv.gz")


def test_the_blocks_of_one_finding_are_lit_and_all_else_is_grey(trace) -> None:
    use = memory_use(trace)
    for number, found in enumerate(use.findings[:6], start=1):
        drawing = VIEW.draw([trace], Parameters(finding=number), Frame(), silent)
        mine = members(use, found)
        assert mine.any()
        (legend,) = drawing.legends
        (entry,) = legend.entries
        lit = range(entry.color, entry.color + 8)
        (blocks,) = [e for e in drawing.elements if e.kind == "block"]
        if found.site >= 0 or found.kind in ("cohort", "imports"):
            assert [color in lit for color in blocks.color] == mine[blocks.id].tolist()
        assert len(drawing.callouts) == 1
        text = sentence(found, use)
        assert found.how == "recorded"
        assert drawing.title == (text if found.site >= 0 else text[0].upper() + text[1:])
        assert drawing.notes[0].startswith(f"{trace.source.title}: ")
    with pytest.raises(UsageError, match=f"there are {len(use.findings)} findings"):
        VIEW.draw([trace], Parameters(finding=len(use.findings) + 1), Frame(), silent)


def test_members_of_a_cohort_are_those_that_it_counts(trace) -> None:
    use = memory_use(trace)
    cohorts = [found for found in use.findings if found.kind == "cohort"]
    assert cohorts
    for found in cohorts:
        mine = members(use, found)
        assert mine.sum() >= found.details["blocks"]
        assert use.blocks.size[mine].sum() >= found.bytes
        assert use.blocks.born[mine].min() >= found.start_ns - 2 * use.blocks.end // 64


def test_a_title_says_what_is_only_inferred(trace, monkeypatch) -> None:
    guessed = replace(memory_use(trace).findings[0], how="inferred")
    monkeypatch.setattr(view, "headline_finding", lambda *_: guessed)
    title = VIEW.draw([trace], Parameters(), Frame(), silent).title
    assert title == f"Probably: {sentence(guessed, memory_use(trace))}"


def test_of_a_saw_tooth_of_the_program_what_is_freed_again_is_lit(trace) -> None:
    use = memory_use(trace)
    tooth = replace(use.findings[0], kind="saw-tooth", site=-1)
    assert (members(use, tooth) == (use.blocks.free_row >= 0)).all()


def test_a_saw_tooth_that_call_sites_make_is_told_after_theirs_and_without_a_period() -> None:
    # Live bytes of one call site fall every 40 ms, those of another one every 60 ms.
    blocks = [("parse", 4000, at, at - at % 40 + 40, ()) for at in range(0, 480, 8)]
    blocks += [("render", 2600, at, at - at % 60 + 60, ()) for at in range(4, 480, 8)]
    use = memory_use(trace_of(sorted(blocks, key=lambda block: block[2]), 490))
    teeth = [f for f in use.findings if f.kind == "saw-tooth"]
    assert [f.site >= 0 for f in teeth] == [True, True, False]
    said = [sentence(f, use) for f in teeth]
    assert [text.count(" every ") for text in said] == [1, 1, 0]
    assert said[2].startswith("the live bytes of the program rise and fall ")
    assert said[2].endswith(", those of 2 call sites, too")


def test_the_title_is_the_first_finding_that_matters(trace) -> None:
    use = memory_use(trace)
    first = headline_finding(use, Parameters())
    assert first is use.findings[0]
    assert headline_finding(use, Parameters(finding=3)) is use.findings[2]


def test_a_report_has_a_picture_of_each_finding_with_its_sentence(trace, tmp_path) -> None:
    pytest.importorskip("bpy")
    small = Output(engine="workbench", frame=Frame.parse("480x270"))
    write_report(trace, memory_facts(memory_use(trace), 10), str(tmp_path), small)
    text = (tmp_path / "report.md").read_text("utf-8")
    facts = json.loads((tmp_path / "memory.json").read_text("utf-8"))
    pictures = sorted(tmp_path.glob("*.png"))
    assert 1 <= len(pictures) <= 5
    assert all(f"]({picture.name})" in text for picture in pictures)
    assert facts["findings"][0]["sentence"] in text
    assert len({np.frombuffer(p.read_bytes(), np.uint8).sum() for p in pictures}) == len(pictures)


def test_the_command_writes_a_report(tmp_path, capsys, monkeypatch) -> None:
    pytest.importorskip("bpy")
    monkeypatch.setattr(output, "Output", partial(Output, frame=Frame(480, 270)))
    path, folder = tmp_path / "blocks.tv3", tmp_path / "report"
    save(trace_of(), path)
    assert main(["memory", str(path), "-o", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("report.md")
    facts = json.loads((folder / "memory.json").read_text("utf-8"))
    assert (folder / "report.md").read_text("utf-8").startswith("# Memory of blocks")
    assert bool(list(folder.glob("*.png"))) == bool(facts["findings"])
