"""What the extension keeps in a .blend, read through Blender's properties, without the extension's code."""

import hashlib

import bpy

#: All that the extension registers begins so.
PREFIX = "tracevis3d"
#: What opening a file finds out anew: where the traces are.
SESSION = {"state"}
#: Longer texts are stored as their beginning, length and SHA-256.
LONG = 400


def stored():
    """Return all that the open file keeps for the extension, as JSON holds it.

    Returns
    -------
    dict
        ``scenes``, ``views``, ``live`` and ``traces``, by name: properties, and the objects that show them.
    """
    homes = [c for c in bpy.data.collections if len(c.tracevis3d_traces)]
    return {
        "scenes": {scene.name: scene_of(scene) for scene in bpy.data.scenes},
        "views": {view.name: view_of(view) for view in bpy.data.collections if view.tracevis3d.view},
        "live": {c.name: parts_of(c) for c in bpy.data.collections if "tracevis3d_live" in c},
        "traces": [group(record) for home in homes for record in home.tracevis3d_traces],
    }


def scene_of(scene):
    """Return what is kept on a scene, and what the extension sets there of Blender's own."""
    render = scene.render
    return own(scene) | {
        "camera": scene.camera.name if scene.camera else None,
        "size": [render.resolution_x, render.resolution_y],
        "frames": [scene.frame_start, scene.frame_end, scene.frame_current],
        "engine": render.engine,
        "collections": sorted(c.name for c in scene.collection.children_recursive),
    }


def view_of(view):
    """Return what is kept on a view's collection: the parameters of its own kind, and its elements."""
    kept = own(view)
    settings = kept["tracevis3d"]
    groups = [p.identifier for p in view.tracevis3d.bl_rna.properties if _is_group(p)]
    kept["tracevis3d"] = {n: v for n, v in settings.items() if n not in groups or n == settings["view"]}
    return kept | {"elements": elements_of(view), "parts": parts_of(view)}


def elements_of(view):
    """Return how many elements of each kind a view shows: ``kind source`` -> count."""
    counts = {}
    for shown in view.objects:
        if (kind := shown.get("tracevis3d_kind")) is None or shown.data is None:
            continue
        sections = shown.data.get("tracevis3d_sections")
        name = f"{kind} {shown.get('tracevis3d_source', 0)}"
        counts[name] = counts.get(name, 0) + len(shown.data.vertices if sections is None else sections)
    return dict(sorted(counts.items()))


def parts_of(collection):
    """Return the objects of a collection: name -> type, number of vertices, whether it is rendered."""
    return {
        shown.name: [
            shown.type,
            len(shown.data.vertices) if shown.type == "MESH" else 0,
            not shown.hide_render,
        ]
        for shown in sorted(collection.objects, key=lambda shown: shown.name)
    }


def own(block):
    """Return the properties on a block of Blender's that the extension has registered."""
    return {
        prop.identifier: value_of(block, prop)
        for prop in block.bl_rna.properties
        if prop.identifier.startswith(PREFIX)
    }


def group(properties):
    """Return all properties of a group."""
    return {
        prop.identifier: value_of(properties, prop)
        for prop in properties.bl_rna.properties
        if prop.identifier not in {"rna_type", *SESSION}
    }


def value_of(owner, prop):
    """Return a property's value: groups as dict, blocks by their names, numbers with six digits."""
    value = getattr(owner, prop.identifier)
    if prop.type == "COLLECTION":
        return [group(item) for item in value]
    if prop.type == "POINTER":
        return value.name if isinstance(value, bpy.types.ID) else None if value is None else group(value)
    if prop.type == "FLOAT":
        return [_short(v) for v in value] if prop.is_array else _short(value)
    if prop.type == "ENUM" and prop.is_enum_flag:
        return sorted(value)
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:60]}… {len(value)} {hashlib.sha256(value.encode()).hexdigest()}"
    return list(value) if getattr(prop, "is_array", False) else value


def differences(kept, found, where=""):
    """Return where ``found`` lacks something of ``kept`` or has something else; more may be there."""
    if isinstance(kept, dict) and isinstance(found, dict):
        missing = [f"{where}/{name} is gone" for name in kept if name not in found]
        both = [name for name in kept if name in found]
        return missing + [d for n in both for d in differences(kept[n], found[n], f"{where}/{n}")]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        return [
            d
            for i, pair in enumerate(zip(kept, found, strict=True))
            for d in differences(*pair, f"{where}/{i}")
        ]
    return [] if kept == found else [f"{where} was {kept!r}, is {found!r}"]


def _is_group(prop):
    return prop.type == "POINTER" and prop.identifier != "rna_type" and not _is_block(prop)


def _is_block(prop):
    return isinstance(prop.fixed_type, bpy.types.ID)


def _short(value):
    return float(f"{value:.6g}")
