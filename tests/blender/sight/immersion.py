"""A VR session under a simulated headset, if Monado is installed: ``immersion.py TRACE FOLDER``.

Writes what the headset sees at two landmarks and, if all went well, ``stood``.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support
from mathutils import Vector

trace, place = map(Path, support.arguments())
RUNTIME = Path("/usr/share/openxr/1/openxr_monado.json")


def headset():
    """Start the simulated headset with two simulated controllers, for sessions that begin from now on."""
    home = tempfile.mkdtemp(prefix="tracevis3d-")
    own = {"XDG_RUNTIME_DIR": home, "XR_RUNTIME_JSON": str(RUNTIME)}
    simulated = {"XRT_COMPOSITOR_NULL": "1", "SIMULATED_ENABLE": "1", "XRT_NO_STDIN": "1"}
    hands = {"SIMULATED_LEFT": "simple", "SIMULATED_RIGHT": "simple"}
    os.environ.update(own)
    with open(place / "headset.txt", "wb") as log:
        return subprocess.Popen(
            ["monado-service"], env={**os.environ, **simulated, **hands}, stdin=subprocess.PIPE,
            stdout=log, stderr=log,
        )  # fmt: skip


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    if shutil.which("monado-service") is None or not RUNTIME.is_file():
        return
    support.enable()
    support.extension(".operators.preferences").stored().workspace = False
    task = support.extension(".operators.task").Task
    immersion = support.extension(".tracevis3d.scene.window.immersion")
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    yield support.at_rest()

    def do(operator, /, *words, **values):
        with bpy.context.temp_override(window=window, area=area, region=region):
            return operator(*words, **values)

    do(
        bpy.ops.tracevis3d.import_trace, "INVOKE_DEFAULT", directory=str(trace.parent),
        files=[{"name": trace.name}], view="threads",
    )  # fmt: skip
    yield lambda: support.views() and task.current is None
    yield support.at_rest()
    assert do(bpy.ops.tracevis3d.vr_prepare) == {"FINISHED"}
    scene, manager = window.scene, bpy.context.window_manager
    monado = headset()
    try:
        yield 1.0
        assert do(bpy.ops.wm.xr_session_toggle) == {"FINISHED"}
        yield lambda: bpy.types.XrSessionState.is_running(bpy.context)
        state = manager.xr_session_state

        def near(index):
            mark = scene.vr_landmarks[index]
            away = Vector(state.viewer_pose_location) - Vector(mark.base_pose_location)
            # The simulated head moves by half a metre.
            return away.length < 1.5 * mark.base_scale

        area.spaces.active.mirror_xr_session = True
        for index in (0, 1):
            if index:
                assert do(bpy.ops.tracevis3d.vr_go) == {"FINISHED"}
            yield lambda index=index: near(index)
            # A session draws all the time: nothing comes to rest.
            area.tag_redraw()
            yield 4.0
            support.screenshot(place / f"headset-{index}.png")
        aimed = support.extension(".operators.immersion.pointing").aimed(state, bpy.context)
        pointed = [
            shown.name for shown in immersion.home(scene).objects if shown.get(immersion.GROUP) == "pointed"
        ]
        support.say(aimed=str(aimed), pointed=pointed, eye=list(state.viewer_pose_location))
        assert aimed is not None
        area.spaces.active.mirror_xr_session = False
        assert do(bpy.ops.wm.xr_session_toggle) == {"FINISHED"}
        yield lambda: not bpy.types.XrSessionState.is_running(bpy.context)
        assert do(bpy.ops.tracevis3d.vr_leave) == {"FINISHED"}
    finally:
        monado.terminate()
        monado.wait()


support.drive(main(), place, "stood")
