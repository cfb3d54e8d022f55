"""Links and relations as a .blend holds them: beside the elements, and on the view's collection."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...drawing.links import Ints, Link, Relation

_PREFIX = "tracevis3d_"
_RELATION = _PREFIX + "relation_"
_PARTS = ("thing", "first", "stop")
_LARGEST = 2**31 - 1
_stamp = 0


def write(mesh: Any, links: Sequence[Link]) -> None:
    """Write the links of a mesh's elements.

    Parameters
    ----------
    mesh : bpy.types.Mesh
    links : sequence of Link
        Each with a row for each element.
    """
    mesh[_PREFIX + "links"] = [
        f"{link.sort}\n{link.role}\n{int(link.asks)}{int(link.answers)}\n{link.source}" for link in links
    ]
    for i, link in enumerate(links):
        for part in _PARTS:
            if len(values := getattr(link, part)):
                mesh[f"{_PREFIX}link_{part}_{i}"] = _packed(values)


def read(mesh: Any) -> list[Link]:
    """Return the links of the elements of a mesh; those that can't be read are left out."""
    found = []
    for i, text in enumerate(mesh.get(_PREFIX + "links", ())):
        words = str(text).split("\n")
        if len(words) == 4:
            parts = {part: _unpacked(mesh.get(f"{_PREFIX}link_{part}_{i}")) for part in _PARTS}
            role: Any = words[1]
            asks, answers = (each == "1" for each in words[2])
            found.append(Link(words[0], role=role, asks=asks, answers=answers, source=int(words[3]), **parts))
    return found


def write_relations(collection: Any, relations: Sequence[Relation]) -> None:
    """Write the relations of a drawing.

    Parameters
    ----------
    collection : bpy.types.Collection
        That it is shown in.
    relations : sequence of Relation
    """
    global _stamp
    _stamp += 1
    for key in [name for name in collection.keys() if name.startswith(_RELATION)]:  # noqa: SIM118 - no dict
        del collection[key]
    if relations:
        # Changes whenever the content may have changed; undo restores it.
        collection[_RELATION + "stamp"] = f"{time.time_ns():x}-{_stamp}"
    for i, relation in enumerate(relations):
        words = (*relation.sorts, *map(str, relation.sources), relation.role)
        collection[f"{_RELATION}{i}"] = "\n".join(words)
        collection[f"{_RELATION}pair_{i}"] = _packed(relation.pair.reshape(-1))


#: The relations that were read last, by their collections, with their stamps.
_kept: dict[int, tuple[str, list[Relation]]] = {}
_MOST_KEPT = 64


def relations_of(collection: Any) -> list[Relation]:
    """Return the relations of the drawing that a view shows."""
    texts: list[str] = []
    while (text := collection.get(f"{_RELATION}{len(texts)}")) is not None:
        texts.append(str(text))
    if not texts:
        return []
    stamp = str(collection.get(_RELATION + "stamp", ""))
    known = _kept.get(collection.session_uid)
    if known is None or known[0] != stamp:
        found = []
        for i, text in enumerate(texts):
            a, b, one, other, word = text.split("\n")
            role: Any = word
            pair = _unpacked(collection.get(f"{_RELATION}pair_{i}")).reshape(-1, 2)
            found.append(Relation((a, b), (int(one), int(other)), pair, role))
        known = _kept[collection.session_uid] = stamp, found
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    return known[1]


def forget() -> None:
    """Forget everything that was read."""
    _kept.clear()


def _packed(values: Ints) -> Any:
    """Return whole numbers as Blender keeps them: as text where they don't fit into its own."""
    if len(values) and (values.min() < -_LARGEST or values.max() > _LARGEST):
        return " ".join(map(str, values.tolist()))
    return values.tolist()


def _unpacked(kept: Any) -> Ints:
    if kept is None:
        return np.empty(0, np.int64)
    return np.array(kept.split() if isinstance(kept, str) else kept[:], np.int64)
