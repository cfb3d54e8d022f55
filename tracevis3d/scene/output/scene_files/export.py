"""Scene files: .blend for Blender, .glb and .usdc for everything else."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ....atomic import Incomplete, replacing
from ....errors import MissingDependency, UsageError
from ....places import check_folder
from ....progress import Progress, silent
from ....trace.model import Trace
from ... import compat, materials
from ...build import Built
from ...geometry import forms, meshes
from ...geometry.forms import Form
from ...node_groups import Builder
from ...parts import PART
from .. import eyes
from ..redirect import captured_output
from ..render import prepare, reason
from ..verify import verify
from .glb import Scene
from .instanced import Instanced, Part, Said, instanced, said_of

#: Boxes and marks of a .glb that are objects of their own: programs draw one mesh faster than more of them.
_MOST_NODES = 10_000
#: Meshes of a .usdc that instances share; Blender takes minutes to write a thousand.
_MOST_SHAPES = 128
#: The colour attribute of a .glb's meshes.
_COLOR = "Color"
#: Bytes of an object, a vertex and a corner in a .usdc at most: places, sizes, colours, normals, ids.
_HEAD, _PER_VERTEX, _PER_CORNER = 4096, 64, 16
#: Contents of Blender's default scene, which may be removed.
_INITIAL: tuple[set[str], ...] = ({"Cube", "Light", "Camera"}, set())


def write(
    built: Built,
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    traces: Sequence[Trace] = (),
    progress: Progress = silent,
) -> None:
    """Write a built scene as a file.

    Parameters
    ----------
    built : Built
    path : path
        .blend, .glb or .usdc
    engine : {"auto", "workbench", "eevee", "cycles"}
        What a .blend is set to.
    traces : sequence of Trace
        Those that are drawn: .glb and .usdc name each box by its function.
    progress : Progress

    Raises
    ------
    UsageError
        If the suffix is none of these.
    InputError
        If the file can't be written.
    MissingDependency
        If this Blender is built without the format, or the engine does not work here.
    Incomplete
        If Blender did not write the file to its end; :func:`...atomic.replacing` makes an InputError of it.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    writers: Mapping[str, Callable[[Built, Path], None]] = {
        ".blend": _blend,
        ".glb": functools.partial(_glb, traces=traces),
        ".usdc": functools.partial(_usd, traces=traces),
    }
    if suffix not in writers:
        raise UsageError(f"{path}: the suffix {suffix!r} is not one of {' '.join(writers)}")
    progress(0.1, f"writing {suffix}")
    if suffix == ".blend":
        prepare(built, engine if engine != "auto" else _always(built), 0, transparent=False)
    check_folder(target)
    with replacing(target) as partial:
        # Operators print what they did to Python's own standard output.
        with captured_output(), contextlib.redirect_stdout(io.StringIO()):
            try:
                writers[suffix](built, partial)
            except RuntimeError as error:
                raise Incomplete(reason(str(error))) from None
            finally:
                # Blender writes a .blend under this name first.
                partial.with_name(f"{partial.name}@").unlink(missing_ok=True)
        verify(partial)
    progress(1.0, "written")


def _always(built: Built) -> str:
    """Return the engine that a .blend is set to: it is not rendered here."""
    return "workbench" if built.style.name == "flat" and "workbench" in compat.engine_ids() else "cycles"


def _blend(built: Built, path: Path) -> None:
    others = [scene for scene in bpy.data.scenes if scene is not built.scene]
    window = bpy.context.window
    before = window.scene if window is not None else None
    if window is not None:
        window.scene = built.scene
    _show_in_viewports()
    if bpy.app.background and not bpy.data.filepath and len(others) == 1 and _is_initial(others[0]):
        bpy.data.batch_remove([*others[0].objects, *others[0].collection.children_recursive, others[0]])
        before = None
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=True)
    if window is not None and before is not None:
        window.scene = before


def _is_initial(scene: Any) -> bool:
    return {shown.name for shown in scene.objects} in _INITIAL


def _show_in_viewports() -> None:
    """Let 3D views show what the picture shows: through the camera, with the data's colours."""
    for screen in bpy.data.screens:
        for area in screen.areas:
            space: Any
            for space in area.spaces:
                if space.type == "VIEW_3D":
                    space.shading.type = "SOLID"
                    space.shading.light, space.shading.color_type = "FLAT", "VERTEX"
                    space.shading.background_type = "WORLD"
                    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
                    space.overlay.show_extras = space.overlay.show_cursor = False
                    if space.region_3d is not None:
                        space.region_3d.view_perspective = "CAMERA"


@contextlib.contextmanager
def _plain(
    built: Built,
    color: str,
    apart: Mapping[str, tuple[Instanced, Said]],
    left_out: Collection[str] = (),
) -> Iterator[list[Any]]:
    """Make plain meshes of everything in the collection, whose materials other programs understand.

    Each object becomes one mesh with its instances made real, and a colour attribute: the colours that
    Workbench shows, with the light in them. Those named in ``apart`` become points at which others stand,
    those in ``left_out`` nothing.
    """
    graph = bpy.context.evaluated_depsgraph_get() if bpy.context.scene is built.scene else None
    if graph is None:
        graph = built.scene.view_layers[0].depsgraph
        graph.update()
    collection = bpy.data.collections.new(f"{built.collection.name} plain")
    built.scene.collection.children.link(collection)
    material = _shown_as_is(built.style.name, color)
    # Other programs frame all that is there: texts before the lens would leave the data a corner.
    nearer = eyes.before_data(built)
    counts: dict[str, int] = {}
    for element in built.drawing.elements:
        counts[element.kind] = counts.get(element.kind, 0) + len(element)
    made: list[Any] = []
    forms.show(built.collection.objects, Form.FULL)
    try:
        for shown in built.collection.objects:
            if shown.type != "MESH" or shown.get(PART) == "wall" or shown.name in left_out:
                continue
            if shown.name in apart:
                pose = shown.evaluated_get(graph).matrix_world.copy()
                made += _scattered(collection, *apart[shown.name], pose, material, color)
                continue
            modifier = shown.modifiers.new("real", "NODES")
            modifier.node_group = _real_group()
            graph.update()
            evaluated = shown.evaluated_get(graph)
            mesh = bpy.data.meshes.new_from_object(evaluated, depsgraph=graph)
            # Only in the window's scene the object itself knows where its parent takes it.
            pose = evaluated.matrix_world.copy()
            shown.modifiers.remove(modifier)
            mesh.name = f"{shown.name} plain"
            mesh.materials.clear()
            mesh.materials.append(material)
            _keep_one_color(mesh, color)
            plain = bpy.data.objects.new(f"{shown.name} plain", mesh)
            plain.matrix_world = nearer @ pose if shown.parent == built.camera else pose
            if kind := shown.get("tracevis3d_kind"):
                plain["tracevis3d_kind"], plain["tracevis3d_elements"] = str(kind), counts.get(str(kind), 0)
            collection.objects.link(plain)
            made.append(plain)
        yield made
    finally:
        forms.show(built.collection.objects, Form.SUITED)
        data = [plain.data for plain in made]
        groups = [modifier.node_group for plain in made for modifier in plain.modifiers]
        bpy.data.batch_remove([*made, collection])
        bpy.data.batch_remove([*data, *groups, material])


def _scattered(
    collection: Any, one: Instanced, said: Said, pose: Any, material: Any, color: str
) -> list[Any]:
    """Make an object for each mesh that instances share, and one of the points where they stand."""
    made: list[Any] = []
    for k, (part, rows) in enumerate(one.parts()):
        name = f"{one.shown.name} {k}"
        mesh = _mesh_of(f"{name} shape", part, color)
        mesh.materials.append(material)
        shape = bpy.data.objects.new(f"{name} shape", mesh)
        points = meshes.points(name, one.position[rows])
        meshes.set_attribute(points, "size", "FLOAT_VECTOR", "POINT", one.size[rows])
        meshes.set_attribute(points, "call", "INT", "POINT", said.call[rows])
        meshes.set_attribute(points, "calls", "INT", "POINT", said.count[rows])
        for time, values in (("start_ms", said.start), ("duration_ms", said.lasts)):
            meshes.set_attribute(points, time, "FLOAT", "POINT", np.maximum(values[rows], -1) / 1e6)
        placed = bpy.data.objects.new(name, points)
        placed.modifiers.new("scattered", "NODES").node_group = _scattering(shape)
        placed.matrix_world = pose
        placed["tracevis3d_kind"] = one.element.kind
        placed["tracevis3d_names"] = json.dumps([said.name[row] for row in rows.tolist()])
        for each in (shape, placed):
            collection.objects.link(each)
            made.append(each)
    return made


def _mesh_of(name: str, part: Part, color: str) -> Any:
    triangle = part.triangle.astype(np.int32)
    first = np.arange(0, triangle.size, 3, dtype=np.int32)
    mesh = meshes.polygons(name, part.position, triangle.reshape(-1), first)
    meshes.set_color(mesh, color, "POINT", part.color, active=True)
    return mesh


def _scattering(shape: Any) -> Any:
    """Return a node group that shows an object at each point, as large as the point's ``size``."""
    make = Builder.geometry(shape.name, 1)
    make.input("Geometry", "Geometry")
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs["Geometry"]
    info = make.node("GeometryNodeObjectInfo", feed={"Object": shape, "As Instance": True})
    feed = {"Points": given, "Instance": info.outputs["Geometry"]}
    feed["Scale"] = make.attribute("size", "FLOAT_VECTOR")
    placed = make.node("GeometryNodeInstanceOnPoints", feed=feed)
    make.node("NodeGroupOutput", feed={0: placed.outputs[0]})
    return make.tree


def _keep_one_color(mesh: Any, color: str) -> None:
    """Leave a colour attribute as the only attribute besides the shape and ids."""
    source = mesh.color_attributes.get(materials.SHADED)
    if source is not None:
        values = np.empty(4 * len(source.data), np.float32)
        source.data.foreach_get("color", values)
        domain = source.domain
        for name in (materials.TINT, materials.SHADED):
            if (old := mesh.attributes.get(name)) is not None:
                mesh.attributes.remove(old)
        meshes.set_color(mesh, color, domain, values, active=True)
    for name in ("part", "size", "start", "end"):
        if (old := mesh.attributes.get(name)) is not None:
            mesh.attributes.remove(old)


def _real_group() -> Any:
    name = "TraceVis3D Make real"
    if (tree := bpy.data.node_groups.get(name)) is not None:
        return tree
    make = Builder.geometry(name, 1)
    make.input("Geometry", "Geometry")
    make.output("Geometry", "Geometry")
    given = make.node("NodeGroupInput").outputs["Geometry"]
    real = make.node("GeometryNodeRealizeInstances", feed={"Geometry": given}).outputs[0]
    make.node("NodeGroupOutput", feed={0: real})
    return make.tree


def _shown_as_is(style: str, name: str) -> Any:
    """Return a material in the terms that glTF and USD know: the colour attribute as an emission."""
    material = bpy.data.materials.new(f"TraceVis3D plain {style}")
    shader = Builder.shader(material)
    color = shader.node("ShaderNodeVertexColor", layer_name=name).outputs["Color"]
    principled = shader.node("ShaderNodeBsdfPrincipled", feed={"Base Color": color, "Roughness": 1.0})
    shader.node("ShaderNodeOutputMaterial", feed={"Surface": principled.outputs[0]})
    return material


@contextlib.contextmanager
def _active(scene: Any) -> Iterator[None]:
    """Let the exporters, which write the window's scene, see ``scene``."""
    window = bpy.context.window
    before: Any = window.scene if window is not None else None
    if window is not None:
        window.scene = scene
    try:
        if window is not None:
            yield
        else:
            with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
                yield
    finally:
        if window is not None:
            window.scene = before


def _only(scene: Any, wanted: list[Any]) -> None:
    for shown in scene.objects:
        shown.select_set(shown in wanted, view_layer=scene.view_layers[0])


def _glb(built: Built, path: Path, traces: Sequence[Trace]) -> None:
    scene = Scene()
    apart = {one.shown.name: one for one in instanced(built)}
    if sum(len(one.element) for one in apart.values()) > _MOST_NODES:
        apart = {}
    with _plain(built, _COLOR, {}, left_out=apart.keys()) as plain:
        for shown in plain:
            position, color, triangle = _triangles(shown.data)
            said = {key: value for key, value in shown.items() if key.startswith("tracevis3d")}
            scene.add_mesh(shown.name, np.array(shown.matrix_world), position, color, triangle, said)
    for name, one in apart.items():
        known = said_of(built.drawing, one.element, traces)
        about = {"tracevis3d_kind": one.element.kind, "tracevis3d_elements": len(one.element)}
        scene.add_instances(name, np.array(one.shown.matrix_world), one.parts(), one, known, about)
    eye, view = built.camera, built.view
    near, far = float(eye.data.clip_start), float(eye.data.clip_end)
    ratio = built.frame.width / built.frame.height
    words: dict[str, Any]
    if view.perspective:
        tall = 2 * math.atan(view.tangent / ratio)
        lens = {"aspectRatio": ratio, "yfov": tall, "znear": near, "zfar": far}
        words = {"name": eye.name, "type": "perspective", "perspective": lens}
    else:
        lens = {"xmag": view.tangent, "ymag": view.tangent / ratio, "znear": near, "zfar": far}
        words = {"name": eye.name, "type": "orthographic", "orthographic": lens}
    scene.add_camera(eye.name, np.array(eye.matrix_world), words)
    drawing = built.drawing
    legends = [
        {"title": legend.title, "entries": [entry.text for entry in legend.entries]}
        for legend in drawing.legends
    ]
    scene.write(
        path, "TraceVis3D", {"title": drawing.title, "notes": list(drawing.notes), "legends": legends}
    )


def _triangles(mesh: Any) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint32]]:
    """Return vertices, linear colours and triangles of a mesh, a vertex per corner if colours need it."""
    position = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", position)
    position = position.reshape(-1, 3)
    attribute = mesh.color_attributes[_COLOR]
    color = np.empty(4 * len(attribute.data), np.float32)
    attribute.data.foreach_get("color", color)
    mesh.calc_loop_triangles()
    triangle = np.empty(3 * len(mesh.loop_triangles), np.int32)
    if attribute.domain == "CORNER":
        mesh.loop_triangles.foreach_get("loops", triangle)
        vertex = np.empty(len(mesh.loops), np.int32)
        mesh.attributes[".corner_vert"].data.foreach_get("value", vertex)
        position = position[vertex]
    else:
        mesh.loop_triangles.foreach_get("vertices", triangle)
    return position, color.reshape(-1, 4), triangle.astype(np.uint32).reshape(-1, 3)


def _usd(built: Built, path: Path, traces: Sequence[Trace]) -> None:
    if not getattr(bpy.app.build_options, "usd", False):
        raise MissingDependency("This Blender is built without USD: write .blend or .glb.")
    apart = {}
    if compat.exports_instances():
        ones = sorted(instanced(built), key=lambda one: len(np.unique(one.part)))
        shapes = np.cumsum([len(np.unique(one.part)) for one in ones])
        apart = {
            one.shown.name: (one, said_of(built.drawing, one.element, traces))
            for one, count in zip(ones, shapes)
            if count <= _MOST_SHAPES
        }
    # What USD's own viewers show has this name.
    with _active(built.scene), _plain(built, "displayColor", apart) as plain:
        _only(built.scene, [*plain, built.camera])
        write: Any = bpy.ops.wm.usd_export
        known = write.get_rna_type().properties.keys()
        options = {
            "selected_objects_only": True,
            "export_animation": False,
            "export_materials": True,
            "generate_preview_surface": True,
            "export_mesh_colors": True,
            "export_custom_properties": True,
            "export_textures": False,
            "export_textures_mode": "KEEP",
            "convert_world_material": False,
            "export_lights": False,
            "use_instancing": bool(apart),
        }
        _reserve(path, sum(map(_bytes_of, plain)))
        write(filepath=str(path), **{k: v for k, v in options.items() if k in known})


def _bytes_of(shown: Any) -> int:
    """Return how many bytes an object takes in a .usdc at most: its arrays are not packed there."""
    mesh = shown.data
    names = sum(len(str(value)) for key, value in shown.items() if key.startswith("tracevis3d"))
    return _HEAD + names + _PER_VERTEX * len(mesh.vertices) + _PER_CORNER * len(mesh.loops)


def _reserve(path: Path, size: int) -> None:
    """Make sure that a file may have so many bytes, and leave none: USD crashes where there is no room."""
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
    path.unlink()
