"""Binary glTF 2.0, written here: a mesh per object, its colours as they appear, no light needed.

(Blender's own exporter, in a process that has run Numba code, keeps the Python module ``bpy`` from being
freed, and then the process never ends. It also needs far longer than NumPy.)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .instanced import Instanced, Part, Said

_GLB, _JSON, _BIN = 0x46546C67, 0x4E4F534A, 0x004E4942
_ARRAY, _ELEMENTS = 34962, 34963
_FLOAT, _USHORT, _UINT = 5126, 5123, 5125
#: From z up to y up.
_UPRIGHT = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]


@dataclass
class Scene:
    """A glTF file that is being built.

    Attributes
    ----------
    nodes, meshes, cameras, accessors, views : list of dict
        As glTF describes them; ``views`` are its buffer views.
    roots : list of int
        The nodes that are no others' children.
    chunks : list of bytes
        The parts of the buffer.
    length : int
        Bytes of all of them.
    """

    nodes: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    cameras: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)
    length: int = 0

    def _accessor(self, values: NDArray[Any], component: int, kind: str, target: int, **more: Any) -> int:
        data = np.ascontiguousarray(values).tobytes()
        data += b"\0" * (-len(data) % 4)
        self.views.append({"buffer": 0, "byteOffset": self.length, "byteLength": len(data), "target": target})
        self.chunks.append(data)
        self.length += len(data)
        self.accessors.append(
            {
                "bufferView": len(self.views) - 1,
                "componentType": component,
                "count": len(values),
                "type": kind,
                **more,
            }
        )
        return len(self.accessors) - 1

    def add_mesh(
        self,
        name: str,
        matrix: NDArray[np.float64],
        position: NDArray[np.float32],
        color: NDArray[np.float32],
        triangle: NDArray[np.uint32],
        extras: dict[str, Any] | None = None,
    ) -> None:
        """Add a mesh.

        Parameters
        ----------
        name : str
        matrix : float64 (4, 4)
            Where it is.
        position : float32 (v, 3)
        color : float32 (v, 4)
            Linear.
        triangle : uint32 (t, 3)
        extras : dict, optional
            What else is said of it.
        """
        if not len(triangle):
            return
        mesh = self._mesh(name, position, color, triangle)
        self._root({"name": name, "mesh": mesh, "matrix": _column_major(matrix)}, extras)

    def add_instances(
        self,
        name: str,
        matrix: NDArray[np.float64],
        parts: Iterable[tuple[Part, NDArray[np.int64]]],
        instances: Instanced,
        said: Said,
        extras: dict[str, Any],
    ) -> None:
        """Add nodes that share meshes, below one of their own.

        Parameters
        ----------
        name : str
        matrix : float64 (4, 4)
            Where all of them are.
        parts : iterable of (Part, int64 (k,))
            Each mesh, and which instances it shows.
        instances : Instanced
            Where each is, and how large.
        said : Said
            The name of each, and its call.
        extras : dict
            What is said of all of them.
        """
        children = []
        for k, (part, rows) in enumerate(parts):
            mesh = self._mesh(f"{name} {k}", part.position, part.color, part.triangle)
            for row in rows.tolist():
                node = {
                    "name": said.name[row],
                    "mesh": mesh,
                    "translation": _short(instances.position[row]),
                    "scale": _short(instances.size[row]),
                }
                self.nodes.append({**node, "extras": found} if (found := said.extras(row)) else node)
                children.append(len(self.nodes) - 1)
        self._root({"name": name, "matrix": _column_major(matrix), "children": children}, extras)

    def _root(self, node: dict[str, Any], extras: dict[str, Any] | None) -> None:
        self.nodes.append({**node, "extras": extras} if extras else node)
        self.roots.append(len(self.nodes) - 1)

    def _mesh(
        self,
        name: str,
        position: NDArray[np.float32],
        color: NDArray[np.float32],
        triangle: NDArray[np.uint32],
    ) -> int:
        low, high = position.min(axis=0).tolist(), position.max(axis=0).tolist()
        # 16 bits a channel: 8 would not distinguish dark colours, because they are linear.
        light = np.round(np.clip(color, 0, 1) * 65_535).astype(np.uint16)
        primitive = {
            "attributes": {
                "POSITION": self._accessor(position.astype("<f4"), _FLOAT, "VEC3", _ARRAY, min=low, max=high),
                "COLOR_0": self._accessor(light.astype("<u2"), _USHORT, "VEC4", _ARRAY, normalized=True),
            },
            "indices": self._accessor(triangle.reshape(-1).astype("<u4"), _UINT, "SCALAR", _ELEMENTS),
            "material": 0,
        }
        self.meshes.append({"name": name, "primitives": [primitive]})
        return len(self.meshes) - 1

    def add_camera(self, name: str, matrix: NDArray[np.float64], camera: dict[str, Any]) -> None:
        """Add a camera.

        Parameters
        ----------
        name : str
        matrix : float64 (4, 4)
            Where it is.
        camera : dict
            As glTF describes it.
        """
        self.cameras.append(camera)
        node = {"name": name, "camera": len(self.cameras) - 1, "matrix": _column_major(matrix)}
        self._root(node, None)

    def write(self, path: Path, generator: str, extras: dict[str, Any]) -> None:
        """Write the file.

        Parameters
        ----------
        path : Path
        generator : str
            The program that is named in it.
        extras : dict
            What is said of the scene.
        """
        children = self.roots
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": generator},
            "extensionsUsed": ["KHR_materials_unlit"],
            "scene": 0,
            "scenes": [{"nodes": [len(self.nodes)], "extras": extras}],
            "nodes": [
                *self.nodes,
                {"name": "TraceVis3D", "rotation": _UPRIGHT, **({"children": children} if children else {})},
            ],
            "materials": [
                {
                    "name": "TraceVis3D",
                    "doubleSided": True,
                    "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0},
                    "extensions": {"KHR_materials_unlit": {}},
                }
            ],
        }
        for key in ("meshes", "cameras", "accessors"):
            if getattr(self, key):
                content[key] = getattr(self, key)
        if self.views:
            content["bufferViews"], content["buffers"] = self.views, [{"byteLength": self.length}]
        text = json.dumps(content, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        with path.open("wb") as file:
            total = 12 + 8 + len(text) + (8 + self.length if self.length else 0)
            file.write(struct.pack("<III", _GLB, 2, total))
            file.write(struct.pack("<II", len(text), _JSON) + text)
            if self.length:
                file.write(struct.pack("<II", self.length, _BIN))
                for chunk in self.chunks:
                    file.write(chunk)


def _column_major(matrix: NDArray[np.float64]) -> list[float]:
    found: list[float] = np.asarray(matrix).T.reshape(-1).tolist()
    return found


def _short(row: NDArray[np.float32]) -> list[float]:
    """Return numbers with as many digits as 32 bits hold."""
    return [float(f"{x:.7g}") for x in row]
