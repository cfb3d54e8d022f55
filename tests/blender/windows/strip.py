"""The time strip in a real window: ``strip.py PART=FILE[,FILE] ... FOLDER``; ends with ``stripped``.

Parts are ``one`` run: wheel, frame, ends, selecting, keys; ``two`` runs and what differs; ``threads`` with
findings; the phases of a ``drum``. All is done by simulated events.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

*words, place = support.arguments()
place = Path(place)
given = {part: list(map(Path, files.split(","))) for part, files in (word.split("=") for word in words)}


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    task, selection = support.extension(".operators.task"), support.extension(".operators.state.selection")
    window_time = support.extension(".operators.explore.motion.window_time")
    content = support.extension(".operators.workspace.strip.content")
    stored = support.extension(".operators.workspace.strip.stored")
    overlay = support.extension(".operators.overlay.content")
    drawing = support.extension(".operators.workspace.strip.drawing")
    marks, zoom = (support.extension(".operators.explore." + name) for name in ("marks", "motion.zoom"))
    window = bpy.context.window_manager.windows[0]

    def drop(*paths):
        area = next(x for x in window.screen.areas if x.type == "VIEW_3D")
        region = next(r for r in area.regions if r.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            files = [{"name": path.name} for path in paths]
            bpy.ops.tracevis3d.import_trace("INVOKE_DEFAULT", directory=str(paths[0].parent), files=files)

    def import_into(path, name):
        """Yield while a trace gets a view."""
        area = next(x for x in window.screen.areas if x.type == "VIEW_3D")
        region = next(r for r in area.regions if r.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            files, words = [{"name": path.name}], {"directory": str(path.parent), "view": name}
            bpy.ops.tracevis3d.import_trace("INVOKE_DEFAULT", files=files, **words)
        yield lambda: window.workspace.name == "TraceVis" and task.idle()
        yield lambda: "TRACEVIS3D_NT_strip" in {x.ui_type for x in window.screen.areas}
        yield support.at_rest()

    def strip():
        return next(x for x in window.screen.areas if x.ui_type == "TRACEVIS3D_NT_strip")

    def rows():
        area = strip()
        return content.rows_in(bpy.context, next(r for r in area.regions if r.type == "WINDOW"))[1]

    def at(time, row=0):
        """Return the pixel of a time, in the window."""
        lane = rows()[row].lane
        return strip().x + lane.x_of(time), strip().y + (lane.low + lane.high) / 2

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def press(kind, x, y, **keys):
        send(kind, "PRESS", x, y, **keys)
        send(kind, "RELEASE", x, y, **keys)

    def drag(start, end, **keys):
        """Yield while the mouse drags from one pixel to another."""
        send("MOUSEMOVE", "NOTHING", *start, **keys)
        yield support.at_rest()
        send("LEFTMOUSE", "PRESS", *start, **keys)
        for share in (0.2, 0.6, 1.0):
            yield 0.05
            send("MOUSEMOVE", "NOTHING", *(p + share * (q - p) for p, q in zip(start, end)), **keys)
        yield 0.05
        send("LEFTMOUSE", "RELEASE", *end, **keys)
        yield support.at_rest()

    def shown(source=0):
        return window_time.of(support.only_view(), source)

    def one(trace):
        drop(trace)
        yield lambda: window.workspace.name == "TraceVis" and task.idle()
        yield lambda: "TRACEVIS3D_NT_strip" in {x.ui_type for x in window.screen.areas}
        yield support.at_rest()
        key = support.only_view().tracevis3d.sources[0].hash
        whole = stored.whole_of(key)
        (row,) = rows()
        assert row.window == whole == shown()
        assert stored.mural_of(key)
        length = whole[1] - whole[0]
        middle = whole[0] + length // 2

        # Pointing says the time; the wheel zooms about it.
        x, y = at(middle)

        def pointed():
            # Blender moves the mouse itself while its screen is laid out.
            send("MOUSEMOVE", "NOTHING", x, y)
            return content.state.at == (int(x) - strip().x, int(y) - strip().y)

        yield pointed
        send("WHEELUPMOUSE", "PRESS", x, y)
        yield lambda: shown() != whole and not window_time.is_gliding()
        first = shown()
        assert abs((first[1] - first[0]) / length - 0.6) < 0.01
        assert abs((first[0] + first[1]) / 2 - middle) < 0.01 * length
        send("WHEELDOWNMOUSE", "PRESS", x, y)
        yield lambda: shown() == whole and not window_time.is_gliding()

        # Beside any frame, and while all is shown, dragging draws a new one; its ends and inside are dragged.
        yield from drag(at(whole[0] + 0.5 * length), at(whole[0] + 0.7 * length))
        drawn = shown()
        assert abs(drawn[0] - (whole[0] + 0.5 * length)) < 0.01 * length
        assert abs(drawn[1] - (whole[0] + 0.7 * length)) < 0.01 * length
        yield from drag(at(drawn[1]), at(drawn[1] + 0.1 * length))
        wider = shown()
        assert wider[0] == drawn[0]
        assert abs(wider[1] - drawn[1] - 0.1 * length) < 0.01 * length
        yield from drag(at((wider[0] + wider[1]) / 2), at((wider[0] + wider[1]) / 2 - 0.2 * length))
        moved = shown()
        assert moved[1] - moved[0] == wider[1] - wider[0]
        assert abs(wider[0] - moved[0] - 0.2 * length) < 0.01 * length
        x, y = at(middle)
        press("Z", x, y, ctrl=True)
        yield lambda: shown() == wider
        press("Z", x, y, ctrl=True, shift=True)
        yield lambda: shown() == moved

        # Esc while dragging leaves everything as it was.
        x, y = at((moved[0] + moved[1]) / 2)
        send("LEFTMOUSE", "PRESS", x, y)
        for step in (20, 80):
            yield 0.05
            send("MOUSEMOVE", "NOTHING", x + step, y)
        yield 0.2
        press("ESC", x + 80, y)
        yield lambda: shown() == moved and not content.state.windows
        send("LEFTMOUSE", "RELEASE", x + 80, y)

        # Shift selects a range, in all views; search results and marks stand on it.
        yield from drag(at(whole[0] + 0.6 * length), at(whole[0] + 0.65 * length), shift=True)
        low, high = selection.selected(key).time_range
        assert abs(low - whole[0] - 0.6 * length) < 0.01 * length
        assert abs(high - whole[0] - 0.65 * length) < 0.01 * length
        assert shown() == moved
        marks.toggle(key, low, high)
        assert len(content.marked(rows()[0])) == 1
        bpy.context.scene.tracevis3d_search.pattern = "compile"
        yield lambda: task.idle() and bpy.context.scene.tracevis3d_search.total > 0
        found, _ = content.found(bpy.context.scene, rows()[0])
        assert 0 < len(found) <= bpy.context.scene.tracevis3d_search.total
        yield support.at_rest()
        support.screenshot(place / "strip.png")

        # Keys, and a double click for the whole.
        bpy.context.preferences.inputs.mouse_double_click_time = 1000
        x, y = at(middle)
        for name in ("W", "S", "D", "A"):
            before = shown()
            send("MOUSEMOVE", "NOTHING", x, y)
            press(name, x, y)
            yield lambda before=before: shown() != before and not window_time.is_gliding()
        press("LEFTMOUSE", x, y)
        press("LEFTMOUSE", x, y)
        yield lambda: shown() == whole and not window_time.is_gliding()
        press("W", x, y)
        yield lambda: shown() != whole and not window_time.is_gliding()
        press("HOME", x, y)
        yield lambda: shown() == whole and not window_time.is_gliding()

    def two(a, b):
        # Two runs: a lane for each, as long as it took; a click on a finding goes there.
        drop(a, b)
        yield lambda: window.workspace.name == "TraceVis" and task.idle()
        yield lambda: "TRACEVIS3D_NT_strip" in {x.ui_type for x in window.screen.areas}
        yield lambda: len(support.only_view().tracevis3d_tree_rows) > 0
        yield support.at_rest()
        lanes = [row.lane for row in rows()]
        shares = [(lane.right - lane.left) / (lane.whole[1] - lane.whole[0]) for lane in lanes]
        assert len(lanes) == 2
        assert abs(shares[0] / shares[1] - 1) < 1e-6
        assert len(drawing.signs) >= 3
        (left, low, right, high), _ = next(sign for sign in drawing.signs if sign[1] == 2)
        x, y = strip().x + (left + right) / 2, strip().y + (low + high) / 2
        send("MOUSEMOVE", "NOTHING", x, y)
        press("LEFTMOUSE", x, y)
        yield lambda: support.only_view().tracevis3d_difference == 2 and not zoom.is_on_the_way()
        yield support.at_rest()
        support.screenshot(place / "strip_of_two.png")
        before = [shown(0), shown(1)]
        send("MOUSEMOVE", "NOTHING", *at(lanes[0].whole[1] // 2))
        send("WHEELUPMOUSE", "PRESS", *at(lanes[0].whole[1] // 2))
        yield lambda: shown(0) != before[0] and shown(1) != before[1] and not window_time.is_gliding()

    def threads(threaded):
        # What delays threads, and their longest waits, as in the callouts; a click goes to one.
        yield from import_into(threaded, "threads")
        callouts = overlay.contents.of(support.only_view()).explained.callouts
        assert len(drawing.signs) == len(callouts) >= 2, (drawing.signs, callouts)
        support.screenshot(place / "strip_of_threads.png")
        (left, low, right, high), _ = next(sign for sign in drawing.signs if sign[1] == 1)
        shown_area = max((x for x in window.screen.areas if x.type == "VIEW_3D"), key=lambda x: x.width)
        eye = shown_area.spaces.active.region_3d
        stood = eye.view_location.copy()
        x, y = strip().x + (left + right) / 2, strip().y + (low + high) / 2
        send("MOUSEMOVE", "NOTHING", x, y)
        press("LEFTMOUSE", x, y)
        yield lambda: eye.view_location != stood and not zoom.is_on_the_way()
        yield support.at_rest()
        assert len(selection.selected(support.only_view().tracevis3d.sources[0].hash).calls) == 1
        support.screenshot(place / "strip_there.png")

    def drum(trace):
        # The phases of a drum.
        yield from import_into(trace, "interactions")
        (row,) = rows()
        phases = content.stretches(support.only_view(), row)
        assert len(phases) > 2, phases
        assert all(row.lane.left <= left < right <= row.lane.right + 1 for left, right, *_ in phases)
        support.screenshot(place / "strip_of_phases.png")

    for part in (one, two, threads, drum):
        if files := given.get(part.__name__):
            bpy.ops.wm.read_homefile(use_empty=False, app_template="")
            yield support.at_rest()
            window = bpy.context.window_manager.windows[0]
            yield from part(*files)


support.drive(main(), place, "stripped", patience=120.0, smooth=False)
