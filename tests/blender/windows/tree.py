"""The call tree and the filters in a real window: draw, walk by keys: ``tree.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes a screenshot and, if all went well, ``walked``.
"""

import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    # The panels are to be in this screen.
    support.extension(".operators.preferences").stored().workspace = False
    task = support.extension(".operators.task").Task
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    area.spaces.active.show_region_ui = True
    yield support.at_rest()
    sidebar = next(r for r in area.regions if r.type == "UI")
    if hasattr(sidebar, "active_panel_category"):
        with suppress(AttributeError, TypeError):  # read-only before 4.5
            sidebar.active_panel_category = "TraceVis"

    def do(operator, /, *words, **values):
        operator = getattr(bpy.ops.tracevis3d, operator)
        with bpy.context.temp_override(window=window, area=area, region=region):
            return operator(*words, **values)

    def press(key):
        x, y = region.x + region.width // 2, region.y + region.height // 2
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        window.event_simulate(type=key, value="PRESS", x=x, y=y)
        window.event_simulate(type=key, value="RELEASE", x=x, y=y)

    do("import_trace", "INVOKE_DEFAULT", directory=str(trace.parent), files=[{"name": trace.name}])
    yield lambda: support.views() and task.current is None
    yield support.at_rest()
    # What stands above and between would leave no room for the panels that this is about.
    panels = support.extension(".panels")
    tree = support.extension(".panels.tree")
    for panel in reversed(panels._CLASSES):
        if panel not in tree.CLASSES and not issubclass(panel, bpy.types.UIList):
            bpy.utils.unregister_class(panel)
    for panel in tree.CLASSES:
        # Whether a panel is open is remembered by its name.
        bpy.utils.unregister_class(panel)
        name = f"{panel.bl_idname}_open"
        bpy.utils.register_class(type(name, (panel,), {"bl_idname": name, "bl_options": set()}))
    view = support.only_view()
    do("filter_edit", name="constructors", effect="fade")
    do("filter_edit", name="utilities", values=[{"name": "least", "text": "0.6"}])
    do("tree_show")
    rows = view.tracevis3d_tree_rows
    view.tracevis3d_tree.levels = 5
    assert len(rows) > 5
    do("tree_keys", "INVOKE_DEFAULT")

    def current():
        return [row.path for row in rows if row.current]

    press("HOME")
    yield lambda: current() == ["0"]
    for key, wanted in (("DOWN_ARROW", 1), ("DOWN_ARROW", 2), ("UP_ARROW", 1)):
        press(key)
        yield lambda wanted=wanted: rows[wanted].current
    press("PAGE_DOWN")
    yield lambda: view.tracevis3d_tree.row > 1
    press("HOME")
    yield lambda: current() == ["0"]
    press("ESC")
    yield lambda: not bpy.types.TRACEVIS3D_OT_tree_keys.walking
    do("tree_click", path=rows[2].path, part="label")
    do("tree_click", path=rows[5].path, part="label", shift=True)
    # A click in the strip at the foot of the view goes to that part of the trace.
    overview = support.extension(".operators.views.overview")
    with bpy.context.temp_override(window=window, area=area, region=region):
        left, low, right, high = overview.box(bpy.context)
    before = view.tracevis3d_tree.row
    x, y = int(region.x + 0.7 * right + 0.3 * left), int(region.y + (low + high) / 2)
    for key, value in (("MOUSEMOVE", "NOTHING"), ("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE")):
        window.event_simulate(type=key, value=value, x=x, y=y)
        yield support.at_rest()
    yield lambda: view.tracevis3d_tree.row > before
    strip = view.tracevis3d_strip
    assert 0.3 < strip.first / strip.calls < 0.9, (strip.first, strip.calls)
    do("tree_go", to="CALL", number=strip.calls - 1)
    yield lambda: any(current())
    area.tag_redraw()
    yield support.at_rest()
    support.screenshot(place / "tree.png")
    # Sequences of callees are one row each.
    do("filter_change", do="CLEAR")
    view.tracevis3d_tree.levels = 1000
    view.tracevis3d_tree.folded = True
    do("tree_key", key="HOME")
    for _ in range(200):
        if found := [row.path for row in rows if row.role == "sequence"]:
            break
        do("tree_key", key="PAGE_DOWN")
    do("tree_click", path=found[0], part="label")
    area.tag_redraw()
    yield support.at_rest()
    support.screenshot(place / "folded.png")
    view.tracevis3d_tree.folded = False
    # The lists, one after the other.
    lists = support.extension(".panels.lists")
    panel = lists.TRACEVIS3D_PT_lists
    opened = {"bl_idname": f"{panel.bl_idname}_open", "bl_options": set()}
    bpy.utils.register_class(type(opened["bl_idname"], (panel,), opened))
    view.tracevis3d_lists.kind = "patterns"
    do("list_show")
    view.tracevis3d_lists.index = 0
    assert len(view.tracevis3d_lists.rows) > 0
    area.tag_redraw()
    yield support.at_rest()
    support.screenshot(place / "lists.png")
    view.tracevis3d_lists.kind = "sequences"
    view.tracevis3d_lists.index = 0
    assert len(view.tracevis3d_lists.rows) > 0
    area.tag_redraw()
    yield support.at_rest()
    support.screenshot(place / "sequences.png")


support.drive(main(), place, "walked", smooth=False)
