"""*Open Source* in a real window, from the menu under the mouse: ``source.py FOLDER``.

Started by Blender with ``--enable-event-simulate``. Of an RSF trace and of a Python one the file and the line
go to the editor of the preferences, a script that writes what it is given, and without one to Blender's own.
Writes screenshots and, if all went well, ``sourced``.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

(place,) = map(Path, support.arguments())
RSF = """contain shop shop.Main
contain shop shop.Store
contain shop shop.Shelf
call shop.Main shop.Store 1000000 1 open src/Store.java:7
call shop.Store shop.Shelf 4000000 1 take src/Shelf.java:12
call shop.Store shop.Shelf 9000000 1 take src/Shelf.java:12
call shop.Main shop.Store 16000000 1 open src/Store.java:7
"""


def written():
    """Write both traces and their sources; return for each its file, a function's name, its file and line."""
    folder = place / "program"
    (folder / "src").mkdir(parents=True, exist_ok=True)
    for name in ("src/Store.java", "src/Shelf.java", "shop.py"):
        (folder / name).write_text("\n".join(f"line {n} of {name}" for n in range(1, 40)))
    (folder / "shop.rsf").write_text(RSF)
    script = folder / "shop.py"
    events = [
        {"ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": length, "name": f"{name} ({script}:{line})"}
        for name, line, start, length in (("main", 30, 0, 900), ("load", 11, 50, 300), ("save", 21, 400, 450))
    ]
    (folder / "shop.json").write_text(json.dumps({"traceEvents": events}))
    return (
        (folder / "shop.rsf", "Store.open", folder / "src/Store.java", 7),
        (folder / "shop.json", "save", script, 21),
    )


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    state = support.extension(".operators.explore.overlay").state
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    sources = support.extension(".operators.state.sources")
    given, editor = place / "given.txt", place / "editor.sh"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{given}"\n')
    editor.chmod(0o755)
    places = bpy.context.preferences.filepaths
    at, chosen_before = support.Window(), False
    for trace, name, file, line in written():
        for chosen in (str(editor), ""):
            bpy.ops.scene.new(type="EMPTY")
            places.text_editor, places.text_editor_args = chosen, "$filepath $line"
            given.unlink(missing_ok=True)
            at.show(trace, "icicle")
            yield support.at_rest()
            view = support.views()[-1]
            loaded = sources.loaded(view.tracevis3d.sources[0].hash)
            shown = next(o for o in view.objects if o.get("tracevis3d_kind") == "call")
            holds = element_metadata.pickable_mesh(shown)
            labels = [loaded.functions.label[int(loaded.calls.function[call])] for call in holds.id]
            which = next(i for i, label in enumerate(labels) if label.endswith(name))
            if not state.exploring:
                at.explore()
            yield support.at_rest()
            middle = holds.low[which] + holds.size[which] * [0.5, 0, 0.5]
            x, y = at.pixel((np.array(shown.matrix_world) @ [*middle, 1.0])[:3])
            at.move(x, y)
            yield lambda: state.hit is not None
            at.press("RIGHTMOUSE", x, y)
            yield support.at_rest()
            support.screenshot(place / f"source_menu_{trace.suffix[1:]}.png")
            # Blender opens a menu with its first entry under the mouse, and later with the one chosen last;
            # this one is the last but one.
            for key in ["RET"] if chosen_before else ["UP_ARROW", "UP_ARROW", "RET"]:
                at.press(key, x, y)
                yield support.at_rest()
            chosen_before = True
            if chosen:
                yield lambda: given.is_file() and len(given.read_text().splitlines()) == 2
                assert given.read_text().splitlines() == [str(file), str(line)]
                assert file.name not in bpy.data.texts
            else:
                yield lambda file=file: file.name in bpy.data.texts
                assert not given.exists()
                assert bpy.data.texts[file.name].current_line_index == line - 1
            yield support.at_rest()
            support.screenshot(place / f"source_{trace.suffix[1:]}_{'ours' if chosen else 'blender'}.png")
            at.press("ESC", x, y)
            yield support.at_rest()


support.drive(main(), place, "sourced", patience=60.0, smooth=False)
