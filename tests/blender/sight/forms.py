"""Forms and layouts of views in a real window, and the mural pointed at: ``forms.py THREADED ONE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``formed``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

threaded, one, place = map(Path, support.arguments())
#: View, what it shows, and its forms: a name, and what is set.
FORMS = (
    ("tracks", one, (("mural", {"form": "mural"}),)),
    (
        "city",
        one,
        (
            ("network", {"layout": "network"}),
            ("grid", {"layout": "grid"}),
            ("slices", {"layout": "treemap", "floors": 8, "multiples": True}),
            ("stack", {"floors": 1, "multiples": False, "stack": "700ms"}),
        ),
    ),
    (
        "matrix",
        threaded,
        (("surface", {"about": "rounds"}), ("collapsed", {"about": "calls", "rows_open": 0.0})),
    ),
    ("ramp", threaded, (("phases", {"by": "phases"}),)),
    (
        "cone",
        one,
        (
            ("shapes", {"closed": "shape"}),
            ("cylinders", {"closed": "weight", "lists": "cylinder", "rings": 12}),
            ("bubbles", {"layout": "bubble"}),
        ),
    ),
    (
        "icicle",
        threaded,
        (
            ("behind", {"behind": "running,mural"}),
            ("rewritten", {"behind": "", "rewrite": '[["<.*>", "inner"]]'}),
            ("winding", {"rewrite": "", "winding": 4.0}),
        ),
    ),
)


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    draw = support.extension(".operators.overlay.draw")
    settings = support.extension(".operators.state.settings")
    pointer = support.extension(".operators.explore.pointer")
    selection = support.extension(".operators.state.selection")
    explore = support.extension(".operators.explore.overlay")
    task = support.extension(".operators.task")
    for view, trace, forms in FORMS:
        at = support.Window()
        with at.inside():
            bpy.ops.tracevis3d.import_trace(filepath=str(trace), view=view, place="OWN")
        yield lambda: task.idle()
        yield support.at_rest()
        at = support.Window()
        collection = settings.active_in(at.window.scene)
        assert settings.of(collection).view == view, (view, settings.of(collection).view)
        for name, values in forms:
            group = getattr(collection.tracevis3d, view)
            for key, value in values.items():
                setattr(group, key, value)
            with at.inside():
                bpy.ops.tracevis3d.rebuild("EXEC_DEFAULT")
                bpy.ops.view3d.view_all("EXEC_DEFAULT", center=False)
            yield support.at_rest()
            shown = support.legible(draw.texts(at.region), at.region, f"{view}, {name}")
            assert any(text.kind == "title" for text in shown), (view, name)
            support.screenshot(place / f"form-{view}-{name}.png")
            if name == "mural":
                yield from point_at_the_mural(at, pointer, selection, explore, collection)


def point_at_the_mural(at, pointer, selection, explore, collection):
    """A cell tells its depth and its call, which a click selects."""
    at.explore()
    yield support.at_rest()

    def under(x, y):
        with at.inside():
            return pointer.under(bpy.context, at.region, at.area.spaces.active, x, y)

    wide, high = at.region.width, at.region.height
    places = [(x, y) for y in range(high // 4, high, 9) for x in range(wide // 4, 3 * wide // 4, 9)]
    x, y = next((x, y) for x, y in places if (hit := under(x, y)) is not None and hit.kind == "mural")
    x, y = at.placed((x, y))
    at.move(x, y)
    yield lambda: explore.state.hit is not None and bool(explore.state.descriptions)
    assert explore.state.descriptions[0].title.startswith("Depth"), explore.state.descriptions
    (call,) = explore.state.hit.calls.values()
    assert call >= 0
    yield support.at_rest()
    support.screenshot(place / "form-mural-pointed.png")
    at.press("LEFTMOUSE", x, y)
    key = collection.tracevis3d.sources[0].hash
    yield lambda: call in selection.selected(key).calls.tolist()
    yield support.at_rest()
    support.screenshot(place / "form-mural-selected.png")
    at.press("ESC", x, y)
    yield lambda: not explore.state.exploring


support.drive(main(), place, "formed", patience=90.0, smooth=False)
