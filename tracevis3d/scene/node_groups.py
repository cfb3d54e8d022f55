"""Node groups written in code: named, with a version, reused if present."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from . import compat

_VERSION = "tracevis3d_version"


def existing(name: str, version: int) -> Any | None:
    """Return a node group, if this file has it.

    Parameters
    ----------
    name : str
    version : int

    Returns
    -------
    bpy.types.NodeTree or None
    """
    group = bpy.data.node_groups.get(name)
    return group if group is not None and group.get(_VERSION) == version else None


class Builder:
    """Fills one node tree; sockets are found by name, links run from output to input.

    Parameters
    ----------
    tree : bpy.types.NodeTree
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self._column = 0

    @classmethod
    def geometry(cls, name: str, version: int) -> Builder:
        """Start a geometry-nodes group (an outdated one of that name keeps its users and is refilled).

        Parameters
        ----------
        name : str
        version : int

        Returns
        -------
        Builder
        """
        tree: Any = bpy.data.node_groups.get(name) or bpy.data.node_groups.new(name, "GeometryNodeTree")
        tree.nodes.clear()
        tree.interface.clear()
        tree[_VERSION] = version
        return cls(tree)

    @classmethod
    def shader(cls, block: Any) -> Builder:
        """Start over the nodes of a material or a world."""
        tree = compat.node_tree(block)
        tree.nodes.clear()
        return cls(tree)

    def input(self, name: str, kind: str, default: Any = None) -> None:
        """Add an input to the group.

        Parameters
        ----------
        name : str
        kind : str
            As in ``NodeSocketFloat`` without its first ten letters.
        default : object
        """
        item = self.tree.interface.new_socket(name, in_out="INPUT", socket_type=f"NodeSocket{kind}")
        if default is not None:
            item.default_value = default

    def output(self, name: str, kind: str) -> None:
        """Add an output to the group.

        Parameters
        ----------
        name : str
        kind : str
            As for :meth:`input`.
        """
        self.tree.interface.new_socket(name, in_out="OUTPUT", socket_type=f"NodeSocket{kind}")

    def node(self, kind: str, *, feed: Mapping[Any, Any] | None = None, **settings: Any) -> Any:
        """Add a node.

        Parameters
        ----------
        kind : str
            Blender's identifier of the type.
        feed : mapping
            From inputs (names, or positions where names repeat) to sockets or values.
        **settings : object
            The node's own properties.

        Returns
        -------
        bpy.types.Node

        Raises
        ------
        KeyError
            If it has no input of a name.
        """
        node = self.tree.nodes.new(kind)
        node.location = (self._column * 190, 0)
        self._column += 1
        for setting, value in settings.items():
            setattr(node, setting, value)
        for key, value in (feed or {}).items():
            target = node.inputs[key] if isinstance(key, int) else compat.socket(node.inputs, key)
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, target)
            else:
                target.default_value = value
        return node

    def attribute(self, name: str, kind: str) -> Any:
        """Return the output of a Named Attribute node.

        Parameters
        ----------
        name : str
        kind : str
            Blender's ``data_type``.

        Returns
        -------
        bpy.types.NodeSocket
        """
        node = self.node("GeometryNodeInputNamedAttribute", data_type=kind, feed={"Name": name})
        return compat.socket(node.outputs, "Attribute")

    def math(self, operation: str, *values: Any, clamp: bool = False) -> Any:
        """Return the output of a Math node.

        Parameters
        ----------
        operation : str
            Blender's identifier.
        *values : bpy.types.NodeSocket or float
        clamp : bool
            Keep the result between 0 and 1.

        Returns
        -------
        bpy.types.NodeSocket
        """
        feed = dict(enumerate(values))
        return self.node("ShaderNodeMath", operation=operation, use_clamp=clamp, feed=feed).outputs[0]
