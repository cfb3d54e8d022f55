"""Every difference between Blender 4.2 and 5.2 that the scene meets, each decided by checking what exists."""

from __future__ import annotations

from typing import Any

import bpy

from ..errors import UsageError


def engine_ids() -> dict[str, str]:
    """Return our names of the render engines with Blender's identifiers, as far as this Blender has them."""
    engine: Any = bpy.types.RenderSettings.bl_rna.properties["engine"]
    known = {item.identifier for item in engine.enum_items}
    # The enum lists built-in engines only; Cycles is an add-on that registers itself.
    found = {"workbench": "BLENDER_WORKBENCH"}
    for identifier in ("BLENDER_EEVEE_NEXT", "BLENDER_EEVEE"):
        if identifier in known:
            found["eevee"] = identifier
            break
    if hasattr(bpy.types.Scene, "cycles") or _enable_cycles():
        found["cycles"] = "CYCLES"
    return found


def _enable_cycles() -> bool:
    import addon_utils

    try:
        addon_utils.enable("cycles")
    except Exception:  # an add-on's start-up can raise any exception
        return False
    return hasattr(bpy.types.Scene, "cycles")


def node_tree(block: Any) -> Any:
    """Return the node tree of a material or world, made if this Blender does not make it by itself."""
    if block.node_tree is None:
        block.use_nodes = True
    return block.node_tree


def socket(sockets: Any, name: str) -> Any:
    """Return the enabled socket of a name: positions and hidden twins differ between versions.

    Parameters
    ----------
    sockets : bpy.types.NodeInputs or bpy.types.NodeOutputs
    name : str

    Returns
    -------
    bpy.types.NodeSocket

    Raises
    ------
    KeyError
        If there is none.
    """
    for candidate in sockets:
        if candidate.name == name and candidate.enabled:
            return candidate
    raise KeyError(f"no socket {name!r} among {[s.name for s in sockets if s.enabled]}")


def _identifier(modifier: Any, name: str) -> str:
    for item in modifier.node_group.interface.items_tree:
        if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == name:
            return str(item.identifier)
    raise KeyError(f"{modifier.node_group.name} has no input {name!r}")


def has_input(modifier: Any, name: str) -> bool:
    """Return whether a modifier is a node group with an input of a name.

    Parameters
    ----------
    modifier : bpy.types.Modifier
    name : str

    Returns
    -------
    bool
    """
    return (
        modifier.type == "NODES"
        and modifier.node_group is not None
        and any(
            item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == name
            for item in modifier.node_group.interface.items_tree
        )
    )


def set_input(modifier: Any, name: str, value: Any) -> None:
    """Set an input of a geometry-nodes modifier.

    Parameters
    ----------
    modifier : bpy.types.NodesModifier
    name : str
    value : object

    Raises
    ------
    KeyError
        If the node group has no such input.
    """
    identifier = _identifier(modifier, name)
    inputs = getattr(getattr(modifier, "properties", None), "inputs", None)
    if inputs is not None:
        getattr(inputs, identifier).value = value
    else:
        modifier[identifier] = value


def get_input(modifier: Any, name: str) -> Any:
    """Return the value of an input of a geometry-nodes modifier.

    Parameters
    ----------
    modifier : bpy.types.NodesModifier
    name : str

    Returns
    -------
    object

    Raises
    ------
    KeyError
        If the node group has no such input.
    """
    identifier = _identifier(modifier, name)
    inputs = getattr(getattr(modifier, "properties", None), "inputs", None)
    return getattr(inputs, identifier).value if inputs is not None else modifier[identifier]


def set_still_output(settings: Any, file_format: str) -> None:
    """Let image settings write a still image.

    Parameters
    ----------
    settings : bpy.types.ImageFormatSettings
    file_format : str
        Blender's identifier, such as ``PNG``.
    """
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = file_format


def set_movie_output(render: Any, container: str) -> None:
    """Let render settings write an H.264 film.

    Parameters
    ----------
    render : bpy.types.RenderSettings
    container : {"MPEG4", "MKV"}

    Raises
    ------
    UsageError
        If this Blender is built without FFmpeg.
    """
    settings = render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "VIDEO"
    try:
        settings.file_format = "FFMPEG"
    except TypeError:
        raise UsageError(
            "This Blender is built without FFmpeg: render .png stills instead of a film."
        ) from None
    settings.color_mode = "RGB"
    render.ffmpeg.format = container
    render.ffmpeg.codec = "H264"
    render.ffmpeg.constant_rate_factor = "HIGH"
    render.ffmpeg.ffmpeg_preset = "GOOD"
    # A film stands still while a caption is read: a whole picture twice a second would be most of its size.
    render.ffmpeg.gopsize = 250


def strips(scene: Any) -> Any:
    """Return the strips of a scene's sequencer, which were called sequences before 4.4."""
    editor = scene.sequence_editor
    return editor.strips if hasattr(editor, "strips") else editor.sequences


def curves(block: Any) -> list[Any]:
    """Return the curves of a datablock's keyframes; ``Action.fcurves`` no longer exists in 5.0."""
    data = block.animation_data
    if data is None or data.action is None:
        return []
    found = getattr(data.action, "fcurves", None)
    if found is None:
        bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
        found = bag.fcurves if bag else ()
    return list(found)


def ease(block: Any) -> None:
    """Let the keyframes of a datablock start and end gently."""
    for curve in curves(block):
        for key in curve.keyframe_points:
            key.interpolation, key.easing = "SINE", "EASE_IN_OUT"


def stored(block: Any, name: str) -> Any:
    """Return what an extension's property holds on a data-block, registered or not.

    Up to Blender 4.5 such values lie among the custom properties, from 5.0 on apart from them.

    Parameters
    ----------
    block : bpy.types.ID
    name : str
        Of the property.

    Returns
    -------
    object
        None: nothing.
    """
    if hasattr(block, "bl_system_properties_get"):
        group = block.bl_system_properties_get()
        return None if group is None else group.get(name)
    return block.get(name)


def exports_instances() -> bool:
    """Return whether this Blender writes instances of node groups into .usdc files as such."""
    return bool(bpy.app.version >= (4, 5, 0))
