"""Go to a place of a call tree by its number: a call, a row, or this many rows on (SEAT, 5.3.4)."""

from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty

from . import call_tree


class TRACEVIS3D_OT_tree_go(call_tree.OnTree, bpy.types.Operator):
    """Go to a call, or to a row of the call tree, by its number, and fly to it"""

    bl_idname = "tracevis3d.tree_go"
    bl_label = "Go to Number"
    bl_options = {"REGISTER", "UNDO"}

    to: EnumProperty(
        items=(
            ("CALL", "Call", "The n-th call of the trace, from 0; its callers are expanded"),
            ("ROW", "Row", "The n-th row of the tree as it is expanded and filtered, from 1"),
            ("OFFSET", "Rows On", "This many rows after the current one; negative: before it"),
        ),
        name="To",
        default="CALL",
    )
    number: IntProperty(name="Number", description="Of the call or row, or of rows to skip")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.prop(self, "to", expand=True)
        row = self.layout.row()
        row.activate_init = True
        row.prop(self, "number")

    def execute(self, context: bpy.types.Context) -> set[str]:
        def go(navigation: Any) -> None:
            if self.to == "CALL":
                navigation.expand_to(navigation.tree.path_of(self.number)[0])
            elif self.to == "ROW":
                navigation.go(self.number)
            else:
                navigation.skip(self.number)

        return self.on_tree(context, go, selects=True, flies=True)


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_tree_go,))
