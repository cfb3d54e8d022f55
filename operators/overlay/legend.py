"""The entries of legends that are chosen: their elements are shown as they are, everything else is muted.

What is chosen lies on the scene by its words, so that all views of the scene that have the same entry follow,
undo takes it back, and a saved file keeps it. Pictures don't know of it.
"""

import json
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import StringProperty

from ...tracevis3d.drawing.explanations import Explanations
from ...tracevis3d.drawing.selector import Selector
from ...tracevis3d.overlay.names import standing_on
from ...tracevis3d.overlay.ramps import choices
from ...tracevis3d.scene import page, styles
from ...tracevis3d.scene.window import element_metadata
from ...tracevis3d.scene.window.cut_out import CutOut, surface, veil
from .. import signals
from ..explore import overlay as explore
from ..explore import pointer
from ..state import settings
from .content import Content, contents
from .page import is_page

#: Muting of the rest: while an entry is pointed at, while it is chosen, and while it is shown alone.
_STRENGTHS = {"pointed": 0.5, "chosen": 0.64, "alone": 1.0}

Words = tuple[str, str]


@dataclass(frozen=True)
class Chosen:
    """Entries of legends, each as the legend's title and its own text.

    Attributes
    ----------
    entries : frozenset of (str, str)
    how : {"pointed", "chosen", "alone"}
        How much the rest is muted.
    """

    entries: frozenset[Words] = frozenset()
    how: str = "chosen"

    def __bool__(self) -> bool:
        return bool(self.entries)


#: The entry that the mouse is on: one, as there is one mouse.
_pointed: Words | None = None


def words_of(explained: Explanations, legend: int, entry: int) -> Words:
    """Return the words by which an entry is known."""
    found = explained.legends[legend]
    return found.title, choices(found)[entry].text


def chosen_in(scene: bpy.types.Scene) -> Chosen:
    """Return what is chosen in the legends of a scene."""
    text = scene.tracevis3d_legend
    if not text:
        return Chosen()
    try:
        kept = json.loads(text)
        entries = frozenset((str(title), str(entry)) for title, entry in kept["entries"])
        return Chosen(entries, "alone" if kept["alone"] else "chosen")
    except (ValueError, KeyError, TypeError):
        return Chosen()


def _choose(scene: bpy.types.Scene, chosen: Chosen) -> None:
    words = {"entries": sorted(chosen.entries), "alone": chosen.how == "alone"}
    scene.tracevis3d_legend = json.dumps(words) if chosen else ""


def shown_in(scene: bpy.types.Scene) -> Chosen:
    """Return what is shown: the entry that the mouse is on, else what is chosen."""
    chosen = chosen_in(scene)
    if _pointed is not None and chosen.how != "alone":
        chosen = Chosen(frozenset({_pointed}), "pointed")
    if not chosen:
        return chosen
    # Entries that no view has any longer mute nothing.
    known = [content.explained for view in settings.all_in(scene) if (content := contents.of(view))]
    return chosen if any(selectors(explained, chosen) for explained in known) else Chosen()


def point(entry: Words | None) -> None:
    """Take note of the entry that the mouse is on."""
    global _pointed
    if entry != _pointed:
        _pointed = entry
        explore.redraw()


def click(context: bpy.types.Context, entry: Words, double: bool, extend: bool) -> None:
    """Answer a click on an entry: it alone stands out, or is seen at all; again: everything is back."""
    before = chosen_in(context.scene)
    if double:
        now = Chosen(frozenset({entry}), "alone")
    elif extend:
        now = Chosen(before.entries ^ {entry}, before.how)
    else:
        now = Chosen() if before.entries == {entry} else Chosen(frozenset({entry}))
    _choose(context.scene, now)
    _push("Legend")


def restore(context: bpy.types.Context) -> bool:
    """Show everything again; returns whether anything was muted."""
    if not chosen_in(context.scene):
        return False
    _choose(context.scene, Chosen())
    _push("Whole Legend")
    explore.redraw()
    return True


def _push(message: str) -> None:
    if bpy.ops.ed.undo_push.poll():
        bpy.ops.ed.undo_push(message=message)


def selectors(explained: Explanations, chosen: Chosen) -> list[Selector]:
    """Return what the chosen entries stand for in a drawing; nothing if it has none of them."""
    return [
        entry.selector
        for legend in explained.legends
        for entry in choices(legend)
        if (legend.title, entry.text) in chosen.entries
    ]


def names_of(collection: bpy.types.Collection, content: Content, chosen: Chosen) -> Any:
    """Return which names of a view are not muted, bool (n,); None: all."""
    if not chosen:
        return None
    key = (page.stamps(collection), chosen.entries, _drawn.key)
    if _names.get(collection.name, (None,))[0] != key:
        boxes = [
            pickable.bounds(_drawn.masks[shown.name].nonzero()[0])
            for view, shown, pickable in pointer.shown_in(bpy.context.scene)
            if view == collection and shown.name in _drawn.masks
        ]
        meant = selectors(content.explained, chosen)
        _names[collection.name] = key, standing_on(content.names, meant, boxes)
    return _names[collection.name][1]


def entries_of(
    collection: bpy.types.Collection, explained: Explanations, hit: Any
) -> frozenset[tuple[int, int]]:
    """Return legend and entry of what stands for the element that the mouse is over."""
    if hit is None or hit.view != collection.name or len(hit.pickable.color) != len(hit.pickable):
        return frozenset()
    one = slice(hit.element, hit.element + 1)
    return frozenset(
        (k, i)
        for k, found in enumerate(explained.legends)
        for i, entry in enumerate(choices(found))
        if entry.selector.of(hit.kind, hit.pickable.color[one], hit.pickable.id[one]).any()
    )


def count(collection: bpy.types.Collection, selector: Selector) -> int:
    """Return how many elements of a view a selector means."""
    return sum(
        int(pickable.of_any([selector]).sum())
        for view, _, pickable in pointer.shown_in(bpy.context.scene)
        if view == collection
    )


class _Drawn:
    """What was cut out last, made again when something else is chosen or shown."""

    def __init__(self) -> None:
        self.key: Any = None
        self._cut: list[tuple[str, CutOut]] = []
        #: Object name -> which of its elements are chosen.
        self.masks: dict[str, Any] = {}

    def renew(self, key: Any, present: list[tuple[Any, Any, Any]], chosen: Chosen) -> None:
        """Make the cut-outs of what is chosen, unless ``key`` is the same."""
        if key == self.key:
            return
        self.forget()
        self.key = key
        for view, shown, pickable in present:
            content = contents.of(view)
            if content is None:
                continue
            found = pickable.of_any(selectors(content.explained, chosen))
            if found.any():
                self.masks[shown.name] = found
                cut = surface(shown, pickable, found.nonzero()[0])
                if len(cut.triangle):
                    self._cut.append((shown.name, CutOut(cut)))

    def draw(self, view: Any) -> None:
        """Draw those whose objects are still there."""
        for name, cut in self._cut:
            shown = bpy.data.objects.get(name)
            if shown is not None:
                cut.draw(shown.matrix_world, view)

    def forget(self) -> None:
        """Release what was drawn."""
        self.key, self._cut, self.masks = None, [], {}


_drawn = _Drawn()
#: By the name of a view's collection: what it was found for, and which of its names are not muted.
_names: dict[str, tuple[Any, Any]] = {}


def forget() -> None:
    """Release what was drawn."""
    global _pointed
    _pointed = None
    _drawn.forget()
    _names.clear()


def _seen_of(shown: bpy.types.Object) -> Any:
    """Return which elements of an object are to be seen, bool (n,): what is not shown can't be met."""
    chosen = shown_in(bpy.context.scene)
    if chosen.how != "alone" or not chosen:
        return None
    pickable = element_metadata.pickable_mesh(shown)
    return _drawn.masks.get(shown.name, pickable.of_any(()) if pickable is not None else None)


def _draw(view: Any, _scale: float) -> None:
    """Mute what is not chosen in the region that is being drawn, before anything is lit."""
    context = bpy.context
    if not is_page(context.scene):
        mute(context.scene, context.space_data, view, False)


def mute(scene: bpy.types.Scene, space: bpy.types.SpaceView3D, view: Any, without_depths: bool) -> None:
    """Mute what is not chosen, in what is being drawn with the matrices of a 3D view.

    ``without_depths``: the depths of the scene are not there, so nothing of it hides what is chosen.
    """
    active, chosen = settings.active_in(scene), shown_in(scene)
    if active is None or not chosen:
        return
    present = pointer.shown_in(scene, space)
    stamp = tuple((shown.name, pickable.stamp) for _, shown, pickable in present)
    _drawn.renew((stamp, chosen.entries), present, chosen)
    ground = styles.named(settings.of(active).style).background
    veil(ground, _STRENGTHS[chosen.how], without_depths or chosen.how == "alone")
    _drawn.draw(view)


_CONNECTIONS = ((explore.on_lit, _draw),)


def register() -> None:
    """Register what a scene keeps, and mute what is not chosen."""
    bpy.types.Scene.tracevis3d_legend = StringProperty(
        name="Chosen in the Legend", description="Entries of legends that are not muted, as JSON"
    )
    signals.connect(_CONNECTIONS)
    pointer.seen_of.append(_seen_of)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    pointer.seen_of.remove(_seen_of)
    forget()
    del bpy.types.Scene.tracevis3d_legend
