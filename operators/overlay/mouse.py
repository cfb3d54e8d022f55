"""What lies over the scene answers the mouse before the scene behind it does."""

from dataclasses import dataclass

import bpy

from ...tracevis3d import units
from ...tracevis3d.drawing.picked import Description, PickedElement
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.overlay.items import Target
from ...tracevis3d.overlay.ramps import choices
from ..explore import actions, acts
from ..explore import overlay as explore
from ..explore.place import Place
from . import callouts, draw, legend
from .content import contents


def _at(place: Place) -> tuple[str, Target] | None:
    """Return the view and the target under the mouse; the smallest of those that lie on each other."""
    known = draw.regions.get(place.region.as_pointer())
    found = [
        (name, target)
        for name, made in (known.shown.items() if known is not None else ())
        for target in made.targets
        if target.box[0] <= place.x < target.box[2] and target.box[1] <= place.y < target.box[3]
    ]
    return min(found, key=lambda one: one[1].box[3] - one[1].box[1], default=None)


@dataclass(frozen=True)
class _Name:
    """The name of something under the mouse, and what a click on it does."""

    view: bpy.types.Collection
    text: str
    label: str
    element: PickedElement


def _name_at(place: Place) -> _Name | None:
    """Return the name under the mouse, if a click on it does anything."""
    known = draw.regions.get(place.region.as_pointer())
    for name, made in known.shown.items() if known is not None else ():
        collection = bpy.data.collections.get(name)
        content = contents.of(collection) if collection is not None else None
        if content is None:
            continue
        groups = content.groups
        for (group, row), (text, _, _) in made.lettered.items():
            # Names may have been made anew since they were drawn.
            if group >= len(groups) or row >= len(groups[group].id):
                continue
            box = made.texts[text].box
            if not (box[0] <= place.x < box[2] and box[1] <= place.y < box[3]):
                continue
            of = groups[group]
            element = PickedElement(of.kind, of.source, int(of.id[row]))
            try:
                given = actions.state_of(collection, source=of.source, element=element)
            except TraceVisError:
                return None
            found = (one for one in actions.declared_of(collection) if "click" in one.triggers)
            action = next((one for one in found if one.applies(given)), None)
            return _Name(collection, of.text[row], action.label, element) if action is not None else None
    return None


class _Cover(explore.Cover):
    def point(self, place: Place | None) -> list[Description] | None:
        found = _at(place) if place is not None else None
        if found is None:
            legend.point(None)
            named = _name_at(place) if place is not None else None
            return [Description(named.text, "", [("click", named.label)])] if named is not None else None
        name, target = found
        collection = bpy.data.collections.get(name)
        content = contents.of(collection) if collection is not None else None
        if content is not None and target.kind == "callout":
            legend.point(None)
            return [Description("A click goes there")]
        if content is None or target.kind != "entry":
            legend.point(None)
            return []
        k, i = target.index
        entry = choices(content.explained.legends[k])[i]
        elements = legend.count(collection, entry.selector)
        if not elements:
            legend.point(None)
            return [Description(entry.text, "nothing of it is in this picture")]
        legend.point(legend.words_of(content.explained, k, i))
        rows = [("click", "mutes everything else; again: shows all"), ("double click", "shows it alone")]
        return [Description(entry.text, units.counted(elements, "element"), rows)]

    def click(self, context: bpy.types.Context, place: Place, double: bool, extend: bool) -> None:
        found = _at(place)
        if found is None:
            if (named := _name_at(place)) is not None:
                explore.state.descriptions = []
                source = named.element.source
                acts.trigger(named.view, "click", say=explore.say, source=source, element=named.element)
            return
        name, target = found
        collection = bpy.data.collections.get(name)
        content = contents.of(collection) if collection is not None else None
        if target.kind == "legend":
            draw.fold(name, target.index[0])
        elif target.kind == "callout" and content is not None:
            explore.state.descriptions = []  # another element will be under the mouse
            callouts.go(context, place.area, collection, content.explained, target.index[0])
        elif target.kind == "entry" and content is not None:
            k, i = target.index
            if legend.count(collection, choices(content.explained.legends[k])[i].selector):
                legend.click(context, legend.words_of(content.explained, k, i), double, extend)

    def restore(self, context: bpy.types.Context) -> bool:
        return legend.restore(context)


_cover = _Cover()


def register() -> None:
    """Answer the mouse from now on."""
    explore.covers.append(_cover)


def unregister() -> None:
    """Undo :func:`register`."""
    explore.covers.remove(_cover)
