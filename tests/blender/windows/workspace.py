"""The workspace in a real window: ``workspace.py TRACE A B FOLDER``; the result lies in ``FOLDER/worked``.

It opens with the first import that a person asks for, and leaves all others as they were.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import addon_utils
import bpy
import support

trace, a, b, place = map(Path, support.arguments())
OURS = {"TRACEVIS3D_NT_strip", "TRACEVIS3D_NT_calls", "TRACEVIS3D_NT_selection"}


def seen(workspace):
    """Return what a person has set up in a workspace: its areas, and what its 3D views show."""
    found = []
    for screen in workspace.screens:
        for area in screen.areas:
            space = area.spaces.active
            shown = [area.ui_type, space.show_region_header, getattr(space, "show_region_ui", None)]
            if area.type == "VIEW_3D":
                overlay = space.overlay
                shown += [
                    getattr(overlay, p.identifier) for p in overlay.bl_rna.properties if p.type == "BOOLEAN"
                ]
                shown += [
                    space.shading.type,
                    space.region_3d.view_perspective,
                    *space.region_3d.view_location,
                ]
            found.append(shown)
    return found


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    task = support.extension(".operators.task")
    areas = support.extension(".operators.areas")
    preferences = support.extension(".operators.preferences").stored()
    window = bpy.context.window_manager.windows[0]
    before = {one.name: seen(one) for one in bpy.data.workspaces}
    begun = window.workspace.name

    def inside():
        area = max((x for x in window.screen.areas if x.type == "VIEW_3D"), key=lambda x: x.width * x.height)
        region = next(r for r in area.regions if r.type == "WINDOW")
        return bpy.context.temp_override(window=window, area=area, region=region)

    def drop(*paths):
        with inside():
            files = [{"name": path.name} for path in paths]
            bpy.ops.tracevis3d.import_trace("INVOKE_DEFAULT", directory=str(paths[0].parent), files=files)

    def of_kind(kind):
        return next(x for x in window.screen.areas if x.ui_type == kind)

    # Where the preferences say so, and for scripts, it doesn't open.
    preferences.workspace = False
    drop(trace)
    yield lambda: task.idle() and bool(support.views())
    yield support.at_rest()
    assert {one.name for one in bpy.data.workspaces} == set(before)
    assert window.workspace.name == begun
    preferences.workspace = True
    bpy.ops.ed.undo()
    with inside():
        bpy.ops.wm.read_homefile(use_empty=False, app_template="")
    yield support.at_rest()
    window = bpy.context.window_manager.windows[0]
    with inside():
        bpy.ops.tracevis3d.import_trace(filepath=str(trace))
    yield support.at_rest()
    assert {one.name for one in bpy.data.workspaces} == set(before)
    with inside():
        bpy.ops.wm.read_homefile(use_empty=False, app_template="")
    yield support.at_rest()
    window = bpy.context.window_manager.windows[0]
    before = {one.name: seen(one) for one in bpy.data.workspaces}

    # The first import that a person asks for.
    drop(a, b)
    yield lambda: window.workspace.name == "TraceVis" and {x.ui_type for x in window.screen.areas} >= OURS
    yield lambda: task.idle() and len(support.only_view().tracevis3d_tree_rows) > 0
    yield support.at_rest()
    screen = window.screen
    assert sorted(x.type for x in screen.areas) == ["NODE_EDITOR"] * 3 + ["VIEW_3D"]
    view = next(x for x in screen.areas if x.type == "VIEW_3D")
    strip, calls, facts = (of_kind(f"TRACEVIS3D_NT_{name}") for name in ("strip", "calls", "selection"))
    support.say(areas=[(x.ui_type, x.x, x.y, x.width, x.height) for x in screen.areas])
    assert view.width > 0.8 * window.width
    assert view.height > 0.75 * window.height
    assert strip.y < view.y
    assert strip.width > 0.95 * window.width
    assert calls.x > view.x
    assert facts.x == calls.x
    assert facts.y < calls.y
    overlay = view.spaces.active.overlay
    for name in ("show_floor", "show_cursor", "show_relationship_lines", "show_outline_selected"):
        assert not getattr(overlay, name), name
    assert view.spaces.active.show_region_ui
    assert not view.spaces.active.show_region_toolbar
    for editor in (calls, facts):
        sidebar = next(r for r in editor.regions if r.type == "UI")
        assert sidebar.width > 0.85 * editor.width, (sidebar.width, editor.width)
    support.screenshot(place / "workspace.png")
    for name, shown in before.items():
        if name != begun:
            assert seen(bpy.data.workspaces[name]) == shown, name
    assert seen(bpy.data.workspaces[begun]) == before[begun]

    # What has an editor here is not in the sidebar again; in other workspaces it is.
    panels = support.extension(".panels.selection"), support.extension(".panels.tree")
    both = panels[0].TRACEVIS3D_PT_selection, panels[1].TRACEVIS3D_PT_tree
    with inside():
        assert not any(panel.poll(bpy.context) for panel in both)
    ui = next(r for r in facts.regions if r.type == "UI")
    with bpy.context.temp_override(window=window, area=facts, region=ui):
        assert panels[0].TRACEVIS3D_PT_selection_editor.poll(bpy.context)
        assert not panels[1].TRACEVIS3D_PT_tree_editor.poll(bpy.context)
    window.workspace = bpy.data.workspaces[begun]
    yield lambda: window.workspace.name == begun
    yield support.at_rest()
    with inside():
        assert all(panel.poll(bpy.context) for panel in both)

    # A second import leaves a person where they are, and adds no second one; the button goes there.
    drop(trace)
    yield lambda: task.idle() and len(support.views()) == 2
    yield support.at_rest()
    assert window.workspace.name == begun
    assert len(bpy.data.workspaces) == len(before) + 1
    with inside():
        assert bpy.ops.tracevis3d.workspace() == {"FINISHED"}
    yield lambda: window.workspace.name == "TraceVis"
    yield support.at_rest()
    assert len(bpy.data.workspaces) == len(before) + 1

    # Undo takes back what was done in the scene, and leaves the window as it is.
    with inside():
        bpy.ops.ed.undo_push(message="before")
        bpy.context.scene.tracevis3d_search.pattern = "nothing like this"
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
    yield support.at_rest()
    assert window.workspace.name == "TraceVis"
    assert {x.ui_type for x in window.screen.areas} >= OURS

    # Saved, and opened without the extension and with it.
    file = place / "workspace.blend"
    with inside():
        bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert {x.ui_type for x in window.screen.areas} >= OURS
    addon_utils.disable(support.NAME)
    yield support.at_rest()
    with inside():
        bpy.ops.wm.open_mainfile(filepath=str(file))
    yield support.at_rest()
    window = bpy.context.window_manager.windows[0]
    assert window.workspace.name == "TraceVis"
    assert len(window.screen.areas) == 4
    # Its editors are of a kind that every Blender knows.
    assert {x.ui_type for x in window.screen.areas} == {"VIEW_3D", "ShaderNodeTree"}
    support.screenshot(place / "workspace_without.png")
    support.enable()
    yield support.at_rest()
    assert {areas.kind_of(x) for x in window.screen.areas} == OURS | {""}
    with inside():
        bpy.ops.wm.open_mainfile(filepath=str(file))
    yield support.at_rest()
    window = bpy.context.window_manager.windows[0]
    assert {x.ui_type for x in window.screen.areas} >= OURS
    support.screenshot(place / "workspace_again.png")


support.drive(main(), place, "worked", patience=120.0, smooth=False)
