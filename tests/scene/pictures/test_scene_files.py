"""Scene files as other programs read them: trimesh for .glb, Pixar's own library for .usdc."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.no_room import small_files  # noqa: E402
from tests.support.walked_traces import walked_trace  # noqa: E402
from tracevis3d import api  # noqa: E402
from tracevis3d.drawing.output import Output  # noqa: E402
from tracevis3d.drawing.primitives import Boxes  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402
from tracevis3d.scene.output.scene_files import export  # noqa: E402

pytestmark = pytest.mark.blender

#: Run in a process of their own: two copies of USD in one don't get on.
OF_GLB = """
import json, sys
import numpy as np, trimesh
scene = trimesh.load(sys.argv[1])
found = []
for node in scene.graph.nodes_geometry:
    matrix, mesh = scene.graph[node]
    corner = trimesh.transform_points(scene.geometry[mesh].vertices, matrix)
    found.append([node, mesh, corner.min(axis=0).tolist(), corner.max(axis=0).tolist()])
print(json.dumps(found))
"""
OF_USD = """
import json, sys
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open(sys.argv[1])
found = []
for prim in stage.TraverseAll():
    if prim.GetTypeName() != "PointInstancer":
        continue
    given = UsdGeom.PointInstancer(prim)
    shape = stage.GetPrimAtPath(given.GetPrototypesRel().GetTargets()[0])
    mesh = next(p for p in Usd.PrimRange.AllPrims(shape) if p.GetTypeName() == "Mesh")
    said = {a.GetBaseName(): a.Get() for a in prim.GetParent().GetAttributes()}
    of = lambda name: list(prim.GetAttribute(name).Get())
    found.append({
        "low": [list(p) for p in given.GetPositionsAttr().Get()],
        "size": [list(p) for p in given.GetScalesAttr().Get()],
        "names": json.loads(said["tracevis3d_names"]), "kind": said["tracevis3d_kind"],
        "call": of("primvars:call"), "calls": of("primvars:calls"), "ms": of("primvars:duration_ms"),
        "unit": [list(x) for x in UsdGeom.Mesh(mesh).GetExtentAttr().Get()],
        "color": [list(c) for c in mesh.GetAttribute("primvars:displayColor").Get()],
    })
print(json.dumps(found))
"""


def read(program, path):
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def wanted(figure, trace):
    """What is drawn of each call: the name of its function, its place and its size, one after the other."""
    found = []
    for element in figure.drawing().elements:
        if not isinstance(element, Boxes):
            continue
        for row in range(len(element)):
            call = int(element.id[row]) if element.kind in ("call", "cluster") else -1
            name = trace.functions.label[trace.calls.function[call]] if call >= 0 else element.kind
            found.append((name, call, element.low[row].astype(float), element.size[row].astype(float)))
    return found


@pytest.mark.skipif(find_spec("trimesh") is None, reason="needs trimesh")
def test_boxes_of_a_glb_are_named_nodes_that_share_meshes(tmp_path):
    trace = walked_trace(3, threads=2)
    figure, out = api.icicle(trace), tmp_path / "a.glb"
    figure.render(out)
    found = read(OF_GLB, out)
    boxes = [one for one in found if one[1].startswith(("TraceVis3D call", "TraceVis3D cluster"))]
    calls = [one for one in wanted(figure, trace) if one[1] >= 0]
    assert len(boxes) == len(calls) > 50
    assert len({mesh for _, mesh, *_ in boxes}) < 0.6 * len(boxes)
    # The file is upright: y is the data's z, z its -y.
    places = sorted(
        (round(low[0], 3), round(low[1], 3), round(-high[2], 3), name.split(".")[0].rstrip("_0123456789"))
        for name, _, low, high in boxes
    )
    expected = sorted(
        (round(x, 3), round(z, 3), round(y, 3), name.split(".")[0].rstrip("_0123456789"))
        for name, _, (x, y, z), _ in calls
    )
    assert np.allclose([row[:3] for row in places], [row[:3] for row in expected], atol=2e-3)
    assert sorted(row[3] for row in places) == sorted(row[3] for row in expected)


@pytest.fixture(scope="module")
def boxes(tmp_path_factory):
    """A trace, its figure, a .usdc of it, and the bytes that were asked for."""
    trace = walked_trace(3, threads=2)
    figure, out, asked = api.icicle(trace), tmp_path_factory.mktemp("boxes") / "a.usdc", []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(export, "_reserve", lambda path, size: asked.append(size))
        figure.render(out)
    return trace, figure, out, asked


@pytest.mark.skipif(
    find_spec("pxr") is None or bpy.app.version < (4, 5, 0), reason="needs usd-core, Blender 4.5"
)
def test_boxes_of_a_usdc_are_instances_with_names(boxes):
    trace, figure, out, _ = boxes
    found = read(OF_USD, out)
    seen = []
    for group in found:
        assert np.allclose(group["unit"], [[0, 0, 0], [1, 1, 1]], atol=1e-6)
        assert (np.array(group["color"]) > 0).any()
        for row, name in enumerate(group["names"]):
            if group["call"][row] < 0:
                continue
            seen.append((name, group["call"][row], group["low"][row], group["size"][row]))
            lasts = trace.calls.end[group["call"][row]] - trace.calls.start[group["call"][row]]
            assert group["ms"][row] == pytest.approx(lasts / 1e6, rel=1e-5)
    calls = [one for one in wanted(figure, trace) if one[1] >= 0]
    assert len(seen) == len(calls)
    for got, one in zip(sorted(seen, key=lambda r: r[1]), sorted(calls, key=lambda r: r[1])):
        assert got[:2] == one[:2]
        assert np.allclose(got[2], one[2], atol=1e-4)
        assert np.allclose(got[3], one[3], atol=1e-4)


def test_very_many_boxes_are_one_mesh(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_MOST_NODES", 10)
    trace = walked_trace(3)
    produce(api.icicle(trace).drawing(), tmp_path / "a.glb", Output(), traces=(trace,))
    data = (tmp_path / "a.glb").read_bytes()
    content = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    assert len(content["nodes"]) < 30
    assert any("call" in node["name"] for node in content["nodes"])


@pytest.mark.skipif(not getattr(bpy.app.build_options, "usd", False), reason="built without USD")
def test_as_much_room_is_asked_for_as_a_usdc_takes(boxes):
    _, _, out, asked = boxes
    assert out.stat().st_size <= asked[0] < 4 * out.stat().st_size


def test_room_is_asked_for_and_given_back(tmp_path):
    out = tmp_path / "a.usdc"
    export._reserve(out, 100_000)
    assert not out.exists()
    with small_files(50_000), pytest.raises(OSError, match="File too large"):
        export._reserve(out, 100_000)
