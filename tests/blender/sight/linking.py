"""Linking in a real window: what lights up with what the mouse is over, in each view, and what it says.

``linking.py VIEW=TRACE[,TRACE] … FOLDER``; the result lies in ``FOLDER/linked``.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

*given, place = support.arguments()
place = Path(place)
#: The elements that are pointed at in each view: kinds.
POINTED = {
    "icicle": ("call",),
    "cone": ("node",),
    "compare": ("call", "tube", "interval"),
    "interactions": ("sector", "interaction"),
    "threads": ("correspondence", "thread"),
    "memory": ("block",),
}


def spots(window, view, wanted):
    """Yield pixels of elements of a kind that are in sight, larger ones first."""
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    found = []
    for shown in view.objects:
        holds = element_metadata.pickable_mesh(shown)
        if holds is None or holds.kind != wanted or not shown.visible_get():
            continue
        low, high = holds.bounds()
        middle = (low + high) / 2
        if holds.word == "Boxes":
            middle[:, 1] = low[:, 1]
        if holds.word in ("Tubes", "Lines", "Wedges"):
            at = (holds.first[:-1] + holds.first[1:]) // 2
            middle = holds.middle[np.minimum(at, len(holds.middle) - 1)].astype(np.float64)
        matrix = np.array(shown.matrix_world)
        size = np.linalg.norm(high - low, axis=1)
        for i in np.argsort(-size)[:60].tolist():
            x, y = window.pixel(matrix[:3, :3] @ middle[i] + matrix[:3, 3])
            found.append((float(size[i]), float(x), float(y)))
    region = window.region
    for _, x, y in sorted(found, reverse=True)[:120]:
        across = region.x + 20 < x < region.x + region.width - 300
        if across and region.y + 60 < y < region.y + region.height - 140 and window.is_free(x, y):
            yield x, y


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    overlay = support.extension(explore + "overlay")
    draw, legend = (
        support.extension(".operators.overlay.draw"),
        support.extension(".operators.overlay.legend"),
    )
    contents = support.extension(".operators.overlay.content").contents
    columns = support.extension(explore + "sight.columns")
    for word in given:
        kind, files = word.split("=")
        bpy.ops.wm.read_homefile(use_empty=False, app_template="")
        yield support.at_rest()
        window = support.Window()
        files = files.split(",")
        with window.inside():
            if len(files) == 1:
                bpy.ops.tracevis3d.import_trace(filepath=files[0], view=kind)
            else:
                names = [{"name": Path(file).name} for file in files]
                bpy.ops.tracevis3d.import_trace(directory=str(Path(files[0]).parent), files=names)
        yield lambda kind=kind: any(v.tracevis3d.view == kind for v in support.views())
        yield support.at_rest()
        view = next(v for v in support.views() if v.tracevis3d.view == kind)
        if not state.exploring:
            window.explore()
        yield support.at_rest()

        for wanted in POINTED[kind]:
            best = None
            met = 0
            for x, y in spots(window, view, wanted):
                window.move(x, y)
                there = int(x) - window.region.x, int(y) - window.region.y
                yield lambda there=there: tuple(state.place) == there
                hit = state.hit
                if hit is None or hit.kind != wanted or hit.view != view.name:
                    continue
                yield support.at_rest()
                met += 1
                many = sum(len(batch) for batch in overlay.lit_now().values())
                if best is None or many > best[0]:
                    best = many, x, y
                # The largest may be the only one of its kind.
                if met > 2 and best[0] > 1:
                    break
            assert best is not None, f"{kind}: no {wanted} is met"
            window.move(best[1], best[2])
            yield lambda wanted=wanted: state.hit is not None and state.hit.kind == wanted
            yield support.at_rest()
            support.screenshot(place / f"linked_{kind}_{wanted}.png")
            lit = overlay.lit_now()
            support.say(view=kind, over=wanted, lit={"/".join(k): len(v) for k, v in lit.items()})
            assert sum(map(len, lit.values())) > 1, (kind, wanted, "nothing lights up with it")
            assert state.descriptions[0].rows
            if kind == "icicle":
                content = contents.of(view)
                entries = legend.entries_of(view, content.explained, state.hit)
                at = min(entries)
                assert draw._choices(bpy.context.scene, view, content).lit == entries
                color = int(state.hit.pickable.color[state.hit.element])
                named = legend.words_of(content.explained, *at)[1]
                support.say(legend=named, color=color)
            if wanted == "sector":
                # Its columns on the mantle, through all of time.
                drum, pieces = columns.columns_of(state.hit)
                low, high = drum.surface.box
                assert (np.abs(pieces[:, 1] - pieces[:, 0] - drum.surface.axis) < 1e-4).all()
                assert (pieces >= low - 1e-3).all()
                assert (pieces <= high + 1e-3).all()
            if kind == "compare" and wanted == "call":
                rows = [dict(each.rows) for each in state.descriptions]
                assert any("matches" in each for each in rows), rows
                assert any("against" in label for each in rows for label in each) or len(rows) == 1
        print("FACTS", json.dumps({"view": kind}), flush=True)


support.drive(main(), place, "linked", smooth=False)
