"""Binary glTF 2.0, written here: a mesh per object, its colours as they appear, no light needed.

(Blender's own exporter, in a process that has run Numba code, keeps the Python module ``bpy`` from being
freed, and then the process never ends. It also needs far longer than NumPy.)
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        where = np.asarray(matrix).T.reshape(-1).tolist()
        node = {"name": name, "mesh": len(self.meshes) - 1, "matrix": where}
        self.nodes.append({**node, "extras": extras} if extras else node)

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
        where = np.asarray(matrix).T.reshape(-1).tolist()
        self.nodes.append({"name": name, "camera": len(self.cameras) - 1, "matrix": where})

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
        children = list(range(len(self.nodes)))
        content: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": generator},
            "extensionsUsed": ["KHR_materials_unlit"],
            "scene": 0,
            "scenes": [{"nodes": [len(children)], "extras": extras}],
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
