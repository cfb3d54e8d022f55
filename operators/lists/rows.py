"""Lists of a view's parts, as views declare them: rows kept with the view, an operator for their buttons."""

from typing import Any

import bpy
from bpy.props import CollectionProperty, EnumProperty, IntProperty, StringProperty

from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.lists import ListRow, RowList
from .. import preconditions, signals
from ..mixin import OperatorMixin
from ..overlay import framing
from ..state import settings
from ..views.rebuild import Rebuilding


class TRACEVIS3D_PG_row(bpy.types.PropertyGroup):
    """A row of a list."""

    key: StringProperty(description="As parameters name it")
    title: StringProperty(description="Displayed name")
    place: IntProperty(default=-1, description="Its place in the drawing; -1: not shown")


def declared() -> dict[str, RowList]:
    """Return the lists that views declare, by their names."""
    return {one.name: one for view in views.loadable() for one in view.lists}


def list_of(collection: bpy.types.Collection, name: str) -> RowList | None:
    """Return a view's list of that name; None if it declares none."""
    try:
        view = views.find(settings.of(collection).view)
    except TraceVisError:
        return None
    return next((one for one in view.lists if one.name == name), None)


def stored(collection: bpy.types.Collection, name: str) -> Any:
    """Return the rows of a list that are kept with a view."""
    return getattr(collection, f"tracevis3d_{name}_rows")


def read(collection: bpy.types.Collection, name: str) -> list[ListRow]:
    """Return the rows of a list that are kept with a view, as its declaration takes them."""
    return [ListRow(row.key, row.title, row.place) for row in stored(collection, name)]


def store(_scene: Any, collection: bpy.types.Collection, traces: list[Any], drawing: Any) -> None:
    """Keep the rows of a view that was drawn."""
    for name in declared():
        stored(collection, name).clear()
        shown = list_of(collection, name)
        if shown is None:
            continue
        for given in shown.rows(traces, drawing, settings.values(collection)):
            row = stored(collection, name).add()
            row.key, row.title, row.place = given.key, given.title, given.place


class OnRow(OperatorMixin):
    """An operator that does with a row what its list declares."""

    list: RowList
    key: StringProperty(options={"SKIP_SAVE"})
    do: str

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(
            cls,
            context,
            preconditions.LIBRARY,
            preconditions.IDLE,
            preconditions.VIEW,
            preconditions.INSTALLED,
            preconditions.OWN,
        )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        return str(properties.rna_type.properties["do"].enum_items[properties.do].description)

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        shown, every = list_of(collection, self.list.name), read(collection, self.list.name)
        row = next((row for row in every if row.key == self.key), None)
        if row is None or shown is None:
            self.report({"ERROR"}, f"The view has no {self.list.name} {self.key}: rebuild it")
            return {"CANCELLED"}
        return self.change(
            context, collection, shown.change(row, self.do, every, settings.values(collection))
        )

    def change(self, context: bpy.types.Context, collection: bpy.types.Collection, values: Any) -> set[str]:
        """Give the view's parameters new values."""
        group = settings.require_parameters(collection)
        for name, value in values.items():
            setattr(group, name, value)
        return {"FINISHED"}


class OnDrawnRow(OnRow, Rebuilding):
    """The same, which draws the view again and turns the 3D view to it."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and preconditions.poll(cls, context, *preconditions.REBUILD)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return Rebuilding.invoke(self, context, event)

    def change(self, context: bpy.types.Context, collection: bpy.types.Collection, values: Any) -> set[str]:
        """Draw the view with other values of its parameters."""
        values = {**settings.values(collection), **values}
        return self.rebuild(context, collection, values, assign=True, then=framing.look)


_registered: list[type] = []


def register() -> None:
    """Register the rows and hang them on collections, with an operator for each list."""
    bpy.utils.register_class(TRACEVIS3D_PG_row)
    for name, one in declared().items():
        setattr(bpy.types.Collection, f"tracevis3d_{name}_rows", CollectionProperty(type=TRACEVIS3D_PG_row))
        items = [(choice.name, choice.title, choice.sentence) for choice in one.choices]
        members = {
            "bl_idname": f"tracevis3d.{name}_change",
            "bl_label": f"Change {one.title}",
            "bl_options": {"REGISTER", "UNDO"},
            "__doc__": one.sentence,
            "__annotations__": {"do": EnumProperty(items=items, name="What", options={"SKIP_SAVE"})},
            "list": one,
        }
        base = OnDrawnRow if one.redraws else OnRow
        _registered.append(type(f"TRACEVIS3D_OT_{name}_change", (base, bpy.types.Operator), members))
        bpy.utils.register_class(_registered[-1])
    signals.on_show.connect(store)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_show.disconnect(store)
    while _registered:
        operator = _registered.pop()
        bpy.utils.unregister_class(operator)
        delattr(bpy.types.Collection, f"tracevis3d_{operator.list.name}_rows")  # type: ignore[attr-defined]
    bpy.utils.unregister_class(TRACEVIS3D_PG_row)
