"""Scene files: .blend for Blender, .glb and .usdc for everything else."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..errors import InputError, MissingDependency, UsageError
from ..progress import Progress, silent
from . import compat, materials, meshes
from .build import Built
from .nodes import Builder
from .quiet import quiet
from .render import prepare, replacing

#: What a standard initial scene of Blender holds: nobody's work.
_INITIAL: tuple[set[str], ...] = ({"Cube", "Light", "Camera"}, set())


def write(
    built: Built, path: str | os.PathLike[str], *, engine: str = "auto", progress: Progress = silent
) -> None:
    """Write a built scene to ``path``: .blend, .glb or .usdc.

    Raises
    ------
    UsageError
        If the suffix is none of these.
    InputError
        If the file can't be written.
    MissingDependency
        If this Blender is built without the format.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    writers = {".blend": _blend, ".glb": _glb, ".usdc": _usd}
    if suffix not in writers:
        raise UsageError(f"{path}: the suffix {suffix!r} is none of {' '.join(writers)}")
    progress(0.1, f"writing {suffix}")
    if suffix == ".blend":
        prepare(built, engine if engine != "auto" else _always(built), 0, transparent=False)
    with replacing(target) as partial:
        # The glTF exporter also tells its steps through Python's own stream.
        with quiet(), contextlib.redirect_stdout(io.StringIO()):
            writers[suffix](built, partial)
        if not partial.is_file():
            raise InputError(f"{target}: Blender wrote nothing there")
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
def _plain(built: Built) -> Iterator[list[Any]]:
    """Make plain meshes of everything in the collection, whose materials other programs understand.

    Each object becomes one mesh with its instances made real, a colour attribute ``Color`` and a
    material that shows it without light.
    """
    graph = bpy.context.evaluated_depsgraph_get() if bpy.context.scene is built.scene else None
    if graph is None:
        graph = built.scene.view_layers[0].depsgraph
        graph.update()
    collection = bpy.data.collections.new(f"{built.collection.name} plain")
    built.scene.collection.children.link(collection)
    material = _shown_as_is(built.style.name)
    made: list[Any] = []
    try:
        for shown in built.collection.objects:
            if shown.type != "MESH" or shown.name.endswith(" wall"):
                continue
            modifier = shown.modifiers.new("real", "NODES")
            modifier.node_group = _real_group()
            graph.update()
            mesh = bpy.data.meshes.new_from_object(shown.evaluated_get(graph), depsgraph=graph)
            shown.modifiers.remove(modifier)
            mesh.name = f"{shown.name} plain"
            mesh.materials.clear()
            mesh.materials.append(material)
            _keep_one_color(mesh)
            plain = bpy.data.objects.new(f"{shown.name} plain", mesh)
            plain.matrix_world = shown.matrix_world
            collection.objects.link(plain)
            made.append(plain)
        yield made
    finally:
        data = [plain.data for plain in made]
        bpy.data.batch_remove([*made, collection])
        bpy.data.batch_remove([*data, material])


def _keep_one_color(mesh: Any) -> None:
    """Leave the colour attribute ``Color`` as the only attribute besides the shape and ids."""
    source = mesh.color_attributes.get(materials.TINT)
    if source is not None:
        values = np.empty(4 * len(source.data), np.float32)
        source.data.foreach_get("color", values)
        domain = source.domain
        for name in (materials.TINT, materials.SHADED):
            if (old := mesh.attributes.get(name)) is not None:
                mesh.attributes.remove(old)
        meshes.set_color(mesh, "Color", domain, values, active=True)
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


def _shown_as_is(style: str) -> Any:
    """Return a material in the terms that glTF and USD know: the colour attribute as an emission."""
    material = bpy.data.materials.new(f"TraceVis3D plain {style}")
    shader = Builder.shader(material)
    color = shader.node("ShaderNodeVertexColor", layer_name="Color").outputs["Color"]
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


def _glb(built: Built, path: Path) -> None:
    import addon_utils

    if not hasattr(bpy.types, "EXPORT_SCENE_OT_gltf"):
        addon_utils.enable("io_scene_gltf2")
    if not hasattr(bpy.types, "EXPORT_SCENE_OT_gltf"):
        raise MissingDependency(
            "This Blender has no glTF exporter (add-on io_scene_gltf2): write .blend or .usdc."
        )
    with _active(built.scene), _plain(built) as plain:
        _only(built.scene, [*plain, built.camera])
        write: Any = bpy.ops.export_scene.gltf
        known = write.get_rna_type().properties.keys()
        options = {
            "export_format": "GLB",
            "use_selection": True,
            "use_active_scene": True,
            "export_cameras": True,
            "export_attributes": True,
            "export_animations": False,
            "export_vertex_color": "ACTIVE",
            "export_active_vertex_color_when_no_material": True,
            "export_normals": True,
            "export_texcoords": False,
            "export_yup": True,
        }
        write(filepath=str(path), **{k: v for k, v in options.items() if k in known})


def _usd(built: Built, path: Path) -> None:
    if not getattr(bpy.app.build_options, "usd", False):
        raise MissingDependency("This Blender is built without USD: write .blend or .glb.")
    with _active(built.scene), _plain(built) as plain:
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
        }
        write(filepath=str(path), **{k: v for k, v in options.items() if k in known})
