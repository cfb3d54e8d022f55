"""A view's findings as a list; buttons draw one alone: ``findings.py TRACE``, a recording with waits."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

(path,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
settings = support.extension(".operators.state.settings")
operators = bpy.ops.tracevis3d


def leaking(folder):
    """Return a recording of memray in which 40 blocks are kept, and one that is made at the start."""
    rows = ["0\t1\t0x100000\t60000\tMALLOC\t2"]
    rows += [f"{i}\t1\t{4096 * i + 65536:#x}\t{1340 + i}\tMALLOC\t1" for i in range(1, 41)]
    head = "# total_allocations 41 peak_memory 140000\n# seq\ttid\taddress\tsize\tallocator\tstack_id\n"
    (folder / "a.records.tsv").write_text(head + "\n".join(rows) + "\n")
    (folder / "a.stacks.tsv").write_text(
        "1\tgrow (/made/up.py:7);main (/made/up.py:1)\n2\tread (/made/up.py:3);main (/made/up.py:1)\n"
    )
    return folder / "a.records.tsv"


for kind, file in (("threads", path), ("memory", leaking(Path(tempfile.mkdtemp(prefix="tracevis3d-"))))):
    bpy.ops.wm.read_homefile(use_empty=False, app_template="")
    assert operators.import_trace(filepath=str(file), view=kind) == {"FINISHED"}
    view = support.only_view()
    rows = [(row.key, row.title) for row in view.tracevis3d_finding_rows]
    assert len(rows) > 1, rows
    usual = settings.values(view)
    bpy.ops.ed.undo_push(message="imported")
    assert operators.finding_change(key=rows[1][0], do="SHOW") == {"FINISHED"}
    view = support.only_view()
    assert settings.values(view) == {**usual, "finding": 2}
    assert not view.tracevis3d.stale, "it is drawn"
    assert [(row.key, row.title) for row in view.tracevis3d_finding_rows] == rows
    bpy.ops.ed.undo_push(message="alone")
    support.fails(operators.finding_change, "rebuild it", key="1000", do="SHOW")
    assert operators.finding_change(key=rows[1][0], do="SHOW") == {"FINISHED"}
    view = support.only_view()
    assert settings.values(view) == usual
    bpy.ops.ed.undo_push(message="whole")
    bpy.ops.ed.undo()
    assert settings.values(support.only_view())["finding"] == 2
    print(kind, len(rows), rows[0][1])
