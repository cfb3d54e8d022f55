"""An icicle read in a window, by simulated mouse and keys: ``reading.py TRACE FOLDER``.

A person imports a trace of several threads; names stand on the bars, lanes fold, levels become higher, and
the view scrolls. Writes ``reading-*.png`` and, if all went well, ``read``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    task = support.extension(".operators.task")
    drawn, settings = (support.extension(f".operators.{name}") for name in ("overlay.draw", "state.settings"))
    shown = support.Window()
    with shown.inside():
        files = [{"name": trace.name}]
        bpy.ops.tracevis3d.import_trace(
            "INVOKE_DEFAULT", directory=str(trace.parent), files=files, view="icicle"
        )
    yield lambda: task.idle() and bool(support.views())
    yield support.at_rest()
    # In the workspace that has opened meanwhile.
    shown = support.Window()
    # There the tool is at work wherever the mouse is.
    state = support.extension(".operators.explore.overlay").state
    shown.move(shown.region.x + 0.5 * shown.region.width, shown.region.y + 0.5 * shown.region.height)
    yield lambda: state.exploring
    # The view is framed anew until its sidebar has its width.
    yield 1.2
    yield support.at_rest()
    values = settings.parameters(support.only_view())
    assert values.unfolded == "auto"
    assert values.level > 0
    support.screenshot(place / "reading-begun.png")

    def texts(kind="name"):
        return [text for text in drawn.texts(shown.region) if text.kind == kind]

    def threads():
        return {text.text[2:]: text for text in texts() if text.text[:1] in "▸▾"}

    folded = [name for name, text in threads().items() if text.text.startswith("▸")]
    assert folded, [text.text for text in texts()]
    bars = len(texts()) - len(threads())
    assert bars >= 5, [text.text for text in texts()]

    # A click on a thread's name unfolds it, another folds it again.
    name = folded[0]

    def middle(text):
        left, low, right, high = text.box
        return shown.placed(((left + right) / 2, (low + high) / 2))

    for sign in "▾▸":
        at = middle(threads()[name])
        shown.move(*at)
        yield lambda: any("click" in row for said in state.descriptions for row in said.rows)
        shown.press("LEFTMOUSE", *at)
        yield support.at_rest()
        assert threads()[name].text.startswith(sign), (name, threads()[name].text)
        assert "auto" not in values.unfolded
    with shown.inside():
        bpy.ops.ed.undo()
        bpy.ops.ed.undo()
    yield support.at_rest()
    values = settings.parameters(support.only_view())
    assert values.unfolded == "auto"

    # Shift and the wheel scroll, and so do keys, never past the end of the data.
    over = shown.region.x + 0.6 * shown.region.width, shown.region.y + 0.4 * shown.region.height
    begun = shown.eye.view_location.z
    shown.move(*over)
    shown.send("WHEELUPMOUSE", "PRESS", *over, shift=True)
    yield support.at_rest()
    scrolled = shown.eye.view_location.z
    assert scrolled > begun
    shown.press("DOWN_ARROW", *over)
    yield support.at_rest()
    assert abs(shown.eye.view_location.z - begun) < 0.3, (shown.eye.view_location.z, begun)
    for _ in range(9):
        shown.press("PAGE_UP", *over)
    yield support.at_rest()
    top = shown.eye.view_location.z
    shown.press("PAGE_UP", *over)
    yield support.at_rest()
    assert top > scrolled
    assert abs(shown.eye.view_location.z - top) < 0.01, (top, shown.eye.view_location.z)
    assert texts()

    # Levels become higher, and time longer, each by itself.
    for _ in range(9):
        shown.press("PAGE_DOWN", *over)
    yield support.at_rest()
    level, window = values.level, (values.start, values.end)
    shown.press("W", *over, shift=True)
    yield support.at_rest()
    values = settings.parameters(support.only_view())
    assert values.level > 1.2 * level
    assert (values.start, values.end) == window
    shown.press("S", *over, shift=True)
    yield support.at_rest()
    shown.press("W", *over)
    yield support.at_rest()
    yield 1.0
    yield support.at_rest()
    values = settings.parameters(support.only_view())
    assert abs(values.level - level) < 0.01 * level
    assert (values.start, values.end) != window
    assert texts()
    support.screenshot(place / "reading-zoomed.png")


support.drive(main(), place, "read", patience=60.0)
