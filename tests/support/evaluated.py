"""What Blender draws of a scene: triangles and objects, counted in its evaluated form."""

from dataclasses import dataclass, field

import bpy


@dataclass
class Drawn:
    """What is drawn.

    Attributes
    ----------
    triangles : dict
        Object -> triangles, those of its instances included.
    instances : int
        What geometry nodes place anew: the program goes through all of them for each picture.
    """

    triangles: dict[str, int] = field(default_factory=dict)
    instances: int = 0

    @property
    def total(self):
        return sum(self.triangles.values())


def count(graph, without=()):
    """Return what a depsgraph draws, but for objects whose parts' names begin with one of ``without``."""
    drawn, of_mesh = Drawn(), {}
    for found in graph.object_instances:
        parent = (found.parent if found.is_instance else found.object).original
        part = str(parent.get("tracevis3d_part", ""))
        if found.object.type != "MESH" or part.startswith(without or ("\0",)):
            continue
        mesh = found.object.data
        key = mesh.as_pointer()
        if key not in of_mesh:
            of_mesh[key] = len(mesh.loop_triangles)
        drawn.instances += found.is_instance
        drawn.triangles[parent.name] = drawn.triangles.get(parent.name, 0) + of_mesh[key]
    return drawn


class _Counting(bpy.types.RenderEngine):
    """An engine that counts what it is given to render."""

    bl_idname, bl_label = "TRACEVIS3D_COUNTING", "Counting"
    drawn, without = Drawn(), ()

    def render(self, depsgraph):
        type(self).drawn = count(depsgraph, self.without)


def in_window(built, without=()):
    """Return what a 3D view draws of a built scene."""
    graph = built.scene.view_layers[0].depsgraph
    graph.update()
    return count(graph, without)


def in_picture(built, without=()):
    """Return what a still draws of a built scene."""
    bpy.utils.register_class(_Counting)
    _Counting.without = without
    render = built.scene.render
    before = render.engine
    try:
        render.engine = _Counting.bl_idname
        bpy.ops.render.render(scene=built.scene.name)
    finally:
        render.engine = before
        bpy.utils.unregister_class(_Counting)
    return _Counting.drawn
