"""Title, legend, rulers and names over the scene: ``overlay.py VIEW TRACE [VIEW TRACE ...] FOLDER``.

Started by Blender with ``--enable-event-simulate``. Each view is imported as a new user does; the
texts are read from the overlay's own record. Writes screenshots and, if all went well, ``laid-VIEW`` with the
first view.
"""

import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

*words, place = support.arguments()
place = Path(place)
#: Views that no other step flattens and opens again.
NEW = ("tracks", "matrix", "city", "ramp", "source")


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    draw = support.extension(".operators.overlay.draw")
    page = support.extension(".operators.overlay.page")
    legend = support.extension(".operators.overlay.legend")
    content = support.extension(".operators.overlay.content")
    ramps = support.extension(".tracevis3d.overlay.ramps")
    explore = support.extension(".operators.explore.overlay")
    settings = support.extension(".operators.state.settings")
    projection = support.extension(".tracevis3d.layout.sight.view_projection")
    selection = support.extension(".operators.state.selection")
    trace_state = support.extension(".operators.state.trace_state")
    pointer = support.extension(".operators.explore.pointer")
    window = area = region = view = None

    def find():
        nonlocal window, area, region, view
        window = bpy.context.window_manager.windows[0]
        area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
        region = next(r for r in area.regions if r.type == "WINDOW")
        view = area.spaces.active.region_3d

    find()

    def here():
        return bpy.context.temp_override(window=window, area=area, region=region)

    def texts():
        return draw.texts(region)

    def check(what, least=support.LEAST, within=None):
        shown = draw.texts(within or region)
        # A quarter of the view may look where none are.
        assert shown or within, f"{what}: no texts"
        return support.legible(shown, within or region, what, least)

    def press(kind, x, y, **keys):
        window.event_simulate(type=kind, value="PRESS", x=x, y=y, **keys)
        window.event_simulate(type=kind, value="RELEASE", x=x, y=y, **keys)

    def by_the_legend(name, alone):
        """Point at an entry, click it, and take it back; with ``alone`` also show it alone, and undo that."""
        yield support.at_rest()
        (made,) = draw.regions[region.as_pointer()].shown.values()
        explained = content.contents.of(settings.active_in(window.scene)).explained
        collection = settings.active_in(window.scene)
        found = [
            target
            for target in made.targets
            if target.kind == "entry"
            and legend.count(
                collection, ramps.choices(explained.legends[target.index[0]])[target.index[1]].selector
            )
        ]
        assert found, f"{name}: no entry of the legend stands for anything"
        target = found[min(1, len(found) - 1)]
        left, bottom, right, top = target.box
        x, y = region.x + int((left + right) / 2), region.y + int((bottom + top) / 2)
        # At another place, so that it can't be a double click with one before.
        beside = region.x + int((left + 3 * right) / 4)
        words = legend.words_of(explained, *target.index)

        def chosen():
            return legend.chosen_in(window.scene)

        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield lambda: legend.shown_in(window.scene).how == "pointed"
        # What lies behind the legend is not pointed at.
        assert explore.state.hit is None
        assert explore.state.descriptions[0].title == words[1]
        press("LEFTMOUSE", x, y)
        yield lambda: chosen().entries == {words}
        assert chosen().how == "chosen"
        away = region.x + region.width // 2, region.y + region.height - 90
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=away[0], y=away[1])
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}-chosen.png")
        check(f"{name}, by the legend")
        # Two quick clicks would be a double one.
        yield 0.5
        press("ESC", x, y)
        yield lambda: not chosen()
        assert explore.state.exploring
        if not alone:
            return
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=beside, y=y)
        press("LEFTMOUSE", beside, y)
        press("LEFTMOUSE", beside, y)
        yield lambda: chosen().how == "alone"
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=away[0], y=away[1])
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}-alone.png")
        check(f"{name}, alone")
        yield 0.5
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        press("LEFTMOUSE", x, y)
        yield lambda: not chosen()
        with here():
            bpy.ops.ed.undo()
        yield lambda: chosen().how == "alone"
        with here():
            bpy.ops.ed.redo()
        yield lambda: not chosen()

    def by_a_callout(name):
        """Click the first callout: the view flies there."""
        (made,) = draw.regions[region.as_pointer()].shown.values()
        found = [target for target in made.targets if target.kind == "callout"]
        wanted = content.contents.of(settings.active_in(window.scene)).explained.callouts
        assert bool(found) == bool(wanted), (name, found)
        assert wanted or name not in ("threads", "compare", "memory"), name
        if not found:
            return
        left, bottom, right, top = found[0].box
        x, y = region.x + int((left + right) / 2), region.y + int((bottom + top) / 2)
        before = view.view_location.copy(), view.view_distance
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield 0.5
        press("LEFTMOUSE", x, y)
        yield lambda: (view.view_location, view.view_distance) != before
        yield support.at_rest()
        assert explore.banner_is_shown()
        support.screenshot(place / f"overlay-{name}-there.png")
        check(f"{name}, at a callout")
        bpy.context.scene.tracevis3d_view = settings.active_in(window.scene)
        with here():
            support.extension(".operators.explore.acts").deselect_all(bpy.context)
        assert not explore.banner_is_shown(), name

    def spot(name):
        """Return a pixel under which an element is, and no box of text over it, about the middle."""
        boxes = [t.box for made in draw.regions[region.as_pointer()].shown.values() for t in made.targets]
        for y in range(round(0.3 * region.height), round(0.8 * region.height), 7):
            for x in range(round(0.3 * region.width), round(0.7 * region.width), 7):
                if any(left <= x <= right and low <= y <= high for left, low, right, high in boxes):
                    continue
                with here():
                    hit = pointer.under(bpy.context, region, area.spaces.active, x, y)
                if hit is not None:
                    return region.x + x, region.y + y
        raise AssertionError(f"{name}: nothing is under any pixel")

    def is_selected(collection):
        return any(selection.selected(key) for key in trace_state.keys_of(collection))

    def by_hand(name, search):
        """Point, click, turn the wheel, drag, see the page, undo, as newcomers do; if so, search."""
        collection = settings.active_in(window.scene)
        with here():
            bpy.ops.view3d.view_all("EXEC_DEFAULT", center=False)
            support.extension(".operators.explore.acts").deselect_all(bpy.context)
            bpy.ops.ed.undo_push(message="Before")
        yield support.at_rest()
        x, y = spot(name)
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield lambda: explore.state.hit is not None and bool(explore.state.descriptions)
        assert explore.state.descriptions[0].title, name
        press("LEFTMOUSE", x, y)
        yield lambda: is_selected(collection) or explore.state.pinned is not None
        # Nearer by the wheel: the names are others, but still none lies on another.
        before = view.view_distance
        for _ in range(3):
            window.event_simulate(type="WHEELUPMOUSE", value="PRESS", x=x, y=y)
        yield lambda: view.view_distance < before
        yield support.at_rest()
        check(f"{name}, nearer")
        support.screenshot(place / f"overlay-{name}-nearer.png")
        # A drag takes a range, or moves what it has met; Esc and undo leave nothing of either behind.
        window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
        for step in range(1, 5):
            window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + 20 * step, y=y)
        window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x + 80, y=y)
        yield support.at_rest()
        assert explore.state.brush is None, name
        if search:
            press("SLASH", x, y)
            yield support.at_rest()
            # The field, then the dialog.
            for _ in range(2):
                press("ESC", x, y)
                yield support.at_rest()
        assert explore.state.exploring, name
        # The page, and all of it again.
        press("NUMPAD_0", x, y)
        yield lambda: page.is_page(window.scene)
        yield support.at_rest()
        assert not texts(), name
        support.screenshot(place / f"overlay-{name}-page.png")
        press("NUMPAD_0", x, y)
        yield lambda: not page.is_page(window.scene)
        press("HOME", x, y)
        yield support.at_rest()
        check(f"{name}, at home")
        for _ in range(12):
            if not is_selected(settings.active_in(window.scene)):
                break
            press("Z", x, y, ctrl=True)
            yield support.at_rest()
        assert not is_selected(settings.active_in(window.scene)), name
        assert explore.state.exploring, name
        with here():
            support.extension(".operators.explore.acts").deselect_all(bpy.context)
        check(f"{name}, undone")

    def by_the_data(name):
        """Point at an element, click it, and see the flat twin, which undo takes back."""
        collection = settings.active_in(window.scene)
        x, y = spot(name)
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield lambda: explore.state.hit is not None and bool(explore.state.descriptions)
        said = explore.state.descriptions[0]
        assert said.title, name
        assert said.where or said.rows, (name, said)
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}-hover.png")
        press("LEFTMOUSE", x, y)
        yield lambda: is_selected(collection) or explore.state.pinned is not None
        yield 0.5
        with here():
            support.extension(".operators.explore.acts").deselect_all(bpy.context)
        stored = getattr(collection.tracevis3d, name)
        opened, before = stored.opening, [text.text for text in texts() if text.kind == "title"]
        with here():
            bpy.ops.ed.undo_push(message="Before")
            stored.opening = 0.0
            bpy.ops.tracevis3d.rebuild("EXEC_DEFAULT", True)
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}-flat.png")
        check(f"{name}, flat")
        with here():
            bpy.ops.ed.undo()
        yield support.at_rest()
        collection = settings.active_in(window.scene)
        assert getattr(collection.tracevis3d, name).opening == opened
        assert [text.text for text in check(f"{name}, undone") if text.kind == "title"] == before

    def by_a_file(name):
        """Save and open again: the same is said."""
        before = [text.text for text in texts() if text.kind in ("title", "fact", "legend")]
        saved = place / f"overlay-{name}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(saved))
        bpy.ops.wm.open_mainfile(filepath=str(saved))
        yield lambda: bool(bpy.context.window_manager.windows)
        find()
        yield lambda: bool(texts())
        yield support.at_rest()
        assert [t.text for t in check(f"{name}, again") if t.kind in ("title", "fact", "legend")] == before
        saved.unlink()

    def in_a_large_interface(name):
        """Show it in an interface twice as large, with Blender's light theme."""
        preferences = bpy.context.preferences
        light = Path(bpy.utils.preset_paths("interface_theme")[0]) / "Blender_Light.xml"
        bpy.ops.script.execute_preset(filepath=str(light), menu_idname="USERPREF_MT_interface_theme_presets")
        preferences.view.ui_scale = 2.0
        yield lambda: preferences.system.ui_scale > 1.9
        yield support.at_rest()
        shown = check(f"{name}, scale 2", 2 * support.LEAST)
        assert any(text.kind == "title" for text in shown), name
        support.screenshot(place / f"overlay-{name}-scale.png")
        bpy.ops.preferences.reset_default_theme()
        preferences.view.ui_scale = 1.0
        yield lambda: preferences.system.ui_scale < 1.1
        yield support.at_rest()

    def in_a_quad_view(name):
        before = [text.text for text in texts() if text.kind in ("title", "fact")]

        def quarters():
            return [one for one in area.regions if one.type == "WINDOW"]

        with here():
            bpy.ops.screen.region_quadview()
        yield lambda: len(quarters()) == 4
        yield support.at_rest()
        shown = [text for one in quarters() for text in check(f"{name}, quad view", within=one)]
        assert sum(text.kind == "title" for text in shown) == 1, name
        support.screenshot(place / f"overlay-{name}-quad.png")
        with here():
            bpy.ops.screen.region_quadview()
        yield lambda: len(quarters()) == 1
        find()
        yield support.at_rest()
        assert [
            text.text for text in check(f"{name}, one view again") if text.kind in ("title", "fact")
        ] == before

    def filled():
        """Return how much of the region's shorter side the data take."""
        collection = settings.active_in(window.scene)
        stored = settings.of(collection)
        corners = np.array(list(product(*zip(stored.low, stored.high)))) + np.array(stored.place)
        seen = projection.ViewProjection.of(view.perspective_matrix, region.width, region.height)
        at = seen.pixels(corners)
        return float(np.ptp(at, axis=0).max() / min(region.width, region.height))

    for number, (name, trace) in enumerate(zip(words[::2], words[1::2])):
        with here():
            if name == "compare":
                files = [{"name": Path(one).name} for one in trace.split(",")]
                folder = str(Path(trace.split(",")[0]).parent)
                bpy.ops.tracevis3d.import_trace(directory=folder, files=files, place="OWN")
            else:
                bpy.ops.tracevis3d.import_trace(filepath=trace, view=name, place="OWN")
        yield support.at_rest()
        collection = settings.active_in(window.scene)
        assert settings.of(collection).view == name, (name, settings.of(collection).view)
        assert view.view_perspective == "PERSP"
        yield lambda: bool(texts())
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}.png")
        shown = check(name)
        known = draw.regions[region.as_pointer()]
        support.say(
            view=name, texts=len(shown), names=sum(t.kind == "name" for t in shown), title=shown[0].text,
            filled=round(filled(), 2), composing=round(known.composing, 2), drawing=round(known.drawing, 2),
        )  # fmt: skip
        assert shown[0].kind == "title"
        assert not page.is_page(window.scene)
        assert all(o.hide_get() for o in collection.objects if o.type == "CAMERA")
        # A click on its heading folds a legend, another one opens it.
        with here():
            assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        yield support.at_rest()

        def is_open(k):
            (made,) = draw.regions[region.as_pointer()].shown.values()
            return any(target.kind == "entry" and target.index[0] == k for target in made.targets)

        (made,) = known.shown.values()
        k = next(t for t in made.targets if t.kind == "entry").index[0]
        for wanted in (False, True):
            # A folded legend is narrower.
            (made,) = draw.regions[region.as_pointer()].shown.values()
            heading = next(t for t in made.targets if t.kind == "legend" and t.index == (k,))
            left, bottom, right, top = heading.box
            at = region.x + int((left + right) / 2), region.y + int((bottom + top) / 2)
            window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=at[0], y=at[1])
            press("LEFTMOUSE", *at)
            yield lambda k=k, wanted=wanted: is_open(k) == wanted
            # Two quick clicks would be a double one.
            yield 0.5
        # What is the same for all views is tried with the first.
        yield from by_the_legend(name, alone=number == 0)
        yield from by_a_callout(name)
        yield from (by_the_data(name) if name in NEW else by_hand(name, search=number == 0))
        press("ESC", *at)
        yield support.at_rest()
        assert not explore.state.exploring
        # Home frames the data alone.
        with here():
            bpy.ops.view3d.view_all("EXEC_DEFAULT", center=False)
        yield support.at_rest()
        support.screenshot(place / f"overlay-{name}-all.png")
        check(f"{name}, View All")
        support.say(view=name, all=round(filled(), 2))
        assert filled() >= 0.6, (name, filled())
        if name in NEW:
            # The page, as it is printed, by the button; the key shows that of the others.
            with here():
                bpy.ops.tracevis3d.page()
            yield lambda: page.is_page(window.scene)
            yield support.at_rest()
            assert not texts()
            support.screenshot(place / f"overlay-{name}-page.png")
            with here():
                bpy.ops.tracevis3d.page()
            yield lambda: not page.is_page(window.scene)
            yield support.at_rest()
            check(f"{name}, back from the page")
        # One of the two for each view: both for all would take longer than the rest.
        yield from (in_a_large_interface, in_a_quad_view)[number % 2](name)
        yield from by_a_file(name)


support.drive(main(), place, f"laid-{words[0]}", smooth=False)
