"""What lies over a scene, on other screens: ``overlay_screens.py TRACE FOLDER``; ends with ``screened``.

Two 3D views, a quad view, a larger interface, a light theme, a picture of the view, undo, and a file that is
opened again: nothing overlaps, nothing is outside, nothing is too small to be read.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace, place = map(Path, support.arguments())


def view_areas():
    return [a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D"]


def regions_of(area):
    return [region for region in area.regions if region.type == "WINDOW"]


def check(draw, region, what, least=support.LEAST):
    """Assert that what is drawn over a region can be read; return it."""
    return support.legible(draw.texts(region), region, what, least)


def said(shown):
    """Return what is said but for names: which of these are shown depends on where one comes from."""
    return [text.text for text in shown if text.kind != "name"]


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    draw = support.extension(".operators.overlay.draw")
    legend = support.extension(".operators.overlay.legend")
    state = support.extension(".operators.explore.overlay").state
    preferences = bpy.context.preferences
    window = bpy.context.window_manager.windows[0]

    def inside(area):
        return bpy.context.temp_override(window=window, area=area, region=regions_of(area)[-1])

    area = max(view_areas(), key=lambda a: a.width)
    with inside(area):
        bpy.ops.tracevis3d.import_trace(filepath=str(trace), view="icicle")
    yield lambda: bool(draw.texts(regions_of(area)[0]))
    yield support.at_rest()
    alone = said(check(draw, regions_of(area)[0], "alone"))

    # Its picture, without what Blender draws around it.
    file = place / "copied.png"
    with inside(area):
        assert bpy.ops.tracevis3d.copy_view("EXEC_DEFAULT", filepath=str(file)) == {"FINISHED"}
    got = support.pixels(file)
    support.screenshot(place / "copied-from.png")
    screen = support.pixels(place / "copied-from.png")
    room = support.extension(".operators.overlay.room")
    region = regions_of(area)[0]
    left, low, right, top = (round(v) for v in room.free_of(area, region, window.scene))
    assert got.shape[:2] == (top - low, right - left), (got.shape, left, low, right, top)
    shown = screen[region.y + low : region.y + top, region.x + left : region.x + right]
    # Blender's own signs for turning the view stand in the upper right corner.
    part = np.s_[:, : -round(room.gizmo_of(area.spaces.active, preferences.system.ui_scale))]
    # On the screen the edges of letters are mixed in linear light.
    different = np.abs(got[part][..., :3] - shown[part][..., :3]).max(axis=2) > 0.3
    support.say(copied=got.shape, different=float(different.mean()))
    assert different.mean() < 0.01, different.mean()

    # The same on the clipboard, pasted by another program. Here Blender itself can't, but xclip does.
    clipboard = place / "clipboard.png"
    with inside(area):
        assert bpy.ops.tracevis3d.copy_view("INVOKE_DEFAULT") == {"FINISHED"}
    paste = ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"]
    clipboard.write_bytes(subprocess.run(paste, stdout=subprocess.PIPE, check=True, timeout=60).stdout)
    assert np.array_equal(support.pixels(clipboard), got)
    assert area.type == "VIEW_3D"

    # Two 3D views of one scene.
    with inside(area):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.5)
    yield lambda: len(view_areas()) == 2
    yield support.at_rest()
    for each in view_areas():
        assert check(draw, regions_of(each)[0], "two views"), "two views: one shows nothing"
    support.screenshot(place / "screens-two.png")
    first = max(view_areas(), key=lambda a: a.x)
    with inside(first):
        bpy.ops.screen.area_close()
    yield lambda: len(view_areas()) == 1
    yield support.at_rest()
    (area,) = view_areas()
    assert said(check(draw, regions_of(area)[0], "one view again")) == alone
    # What was known of the region that is gone is released with the next one that is met.
    with inside(area):
        bpy.ops.screen.region_quadview()
    yield lambda: len(regions_of(area)) == 4
    yield support.at_rest()
    # One has title and legend; which rulers and names the others have depends on how they look.
    shown = [text for region in regions_of(area) for text in check(draw, region, "quad view")]
    assert sum(text.kind == "title" for text in shown) == 1
    assert sum(text.kind == "tick" for text in shown) > 3
    assert len(draw.regions) == 4, len(draw.regions)
    support.screenshot(place / "screens-quad.png")
    with inside(area):
        bpy.ops.screen.region_quadview()
    yield lambda: len(regions_of(area)) == 1
    yield support.at_rest()

    # An interface twice as large.
    preferences.view.ui_scale = 2.0
    yield lambda: preferences.system.ui_scale > 1.9
    yield support.at_rest()
    assert check(draw, regions_of(area)[0], "scale 2", 2 * support.LEAST)
    support.screenshot(place / "screens-scale.png")

    # The tooltip lies in the region, beside the sidebar, too.
    area.spaces.active.show_region_ui = True
    yield support.at_rest()
    region = regions_of(area)[0]
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()
    pointer = support.extension(".operators.explore.pointer")
    (shown,) = (o for o in support.only_view().objects if o.get("tracevis3d_kind") == "call")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    holds = element_metadata.pickable_mesh(shown)
    matrix = np.array(shown.matrix_world)
    covered = support.extension(".operators.views.viewport").covered(area, region)
    free = np.array([covered[0], 0, region.width - covered[1], region.height - covered[2]])
    widest = np.argmax(holds.size[:, 0])
    for part in (0.08, 0.3):
        point = matrix[:3, :3] @ (holds.low[widest] + holds.size[widest] * [part, 0, 0.5]) + matrix[:3, 3]
        (at,) = pointer.projection_of(region, area.spaces.active.region_3d).pixels([point])
        x, y = at[0] + region.x, at[1] + region.y
        state.hit = None
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(x), y=int(y))
        yield lambda: state.hit is not None
        yield support.at_rest()
        support.screenshot(place / "screens-tooltip.png")
        left, low, right, top = state.tooltip
        support.say(tooltip=state.tooltip, free=free)
        assert free[0] <= left < right <= free[2], (left, right)
        assert free[1] <= low < top <= free[3], (low, top)
    window.event_simulate(type="ESC", value="PRESS", x=int(x), y=int(y))
    yield lambda: not state.exploring
    preferences.view.ui_scale = 1.0
    yield lambda: preferences.system.ui_scale < 1.1
    yield support.at_rest()

    # Blender's light theme.
    (themes,) = bpy.utils.preset_paths("interface_theme")[:1]
    light = Path(themes) / "Blender_Light.xml"
    bpy.ops.script.execute_preset(filepath=str(light), menu_idname="USERPREF_MT_interface_theme_presets")
    yield support.at_rest()
    assert said(check(draw, regions_of(area)[0], "light theme")) == alone
    support.screenshot(place / "screens-light.png")
    bpy.ops.preferences.reset_default_theme()
    yield support.at_rest()

    # Undo takes back what was chosen in the legend, and nothing of the overlay.
    explained = support.extension(".operators.overlay.content").contents.of(support.only_view()).explained
    with inside(area):
        # What a script does is no step of its own.
        bpy.ops.ed.undo_push(message="Import")
        legend.click(bpy.context, legend.words_of(explained, 0, 0), False, False)
    yield support.at_rest()
    assert legend.chosen_in(window.scene)
    with inside(area):
        bpy.ops.ed.undo()
    yield support.at_rest()
    assert not legend.chosen_in(bpy.context.window_manager.windows[0].scene)
    assert said(check(draw, regions_of(area)[0], "undone")) == alone

    # A file that is opened again explains itself, as it was left.
    with inside(area):
        legend.click(bpy.context, legend.words_of(explained, 0, 1), True, False)
    yield support.at_rest()
    named = said(draw.texts(regions_of(area)[0]))
    saved = place / "screens.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(saved))
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    yield lambda: bool(view_areas()) and bool(draw.texts(regions_of(view_areas()[0])[0]))
    yield support.at_rest()
    (area,) = view_areas()
    scene = bpy.context.window_manager.windows[0].scene
    assert legend.chosen_in(scene).how == "alone"
    assert said(check(draw, regions_of(area)[0], "opened again")) == named
    support.screenshot(place / "screens-again.png")


support.drive(main(), place, "screened", smooth=False)
