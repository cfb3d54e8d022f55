"""The parts of a built drawing: unchanged ones are kept, changed ones are rewritten or made again.

This is decided by the scene alone: each object has the name of its part and a digest of what it was made
from. So it works after undo and in a .blend that was opened again, and Python keeps no state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .geometry import instances
from .geometry.instances import Instances

#: Prefix of the parts with functions' names.
NAMES = "names "
PART, MADE_FROM = "tracevis3d_part", "tracevis3d_made_from"
#: Digest of what it was made from, without the positions of points.
STILL = "tracevis3d_still"


def names_part(source: int) -> str:
    """Return the part that holds the functions' names on the boxes of one of the view's traces."""
    return f"{NAMES}{source}"


class Parts:
    """The parts of one build, beside those of the build before in ``collection``.

    Existing objects are not touched before :meth:`settle`.

    Parameters
    ----------
    collection : bpy.types.Collection or None
        The build before; None: there is none.

    Attributes
    ----------
    made, kept : list of bpy.types.Object
        New objects, not linked yet, and those that stay.
    rewritten : int
        How many of ``kept`` get other values.
    """

    def __init__(self, collection: Any | None) -> None:
        objects = collection.objects if collection is not None else ()
        self._before = {shown[PART]: shown for shown in objects if PART in shown}
        self._rewriting: list[Callable[[], None]] = []
        self._names: dict[str, str] = {}
        self.made: list[Any] = []
        self.kept: list[Any] = []

    @property
    def rewritten(self) -> int:
        """How many of :attr:`kept` get other values."""
        return len(self._rewriting)

    def whole(self, part: str, name: str, key: str, make: Callable[[], Any | None]) -> Any | None:
        """Keep the object of ``part`` if it was made from the same, else ``make`` another.

        Parameters
        ----------
        part : str
            The same from build to build.
        name : str
            Of the object.
        key : str
            :func:`.digest.digest` of all that ``make`` depends on.
        make : callable
            Returns the object, or None if there is nothing to show.

        Returns
        -------
        bpy.types.Object or None
        """
        part = self._free(part)
        shown = self._before.get(part)
        if shown is not None and shown.get(MADE_FROM) == key:
            self._keep(part, name, shown)
            return shown
        shown = make()
        if shown is not None:
            self._add(part, name, key, shown)
        return shown

    def moving(
        self,
        part: str,
        name: str,
        keys: tuple[str, str],
        make: Callable[[], Any],
        move: Callable[[Any], None],
    ) -> Any:
        """As :meth:`whole`, but where only points have moved, ``move`` the object's.

        Parameters
        ----------
        part, name
        keys : (str, str)
            Digests of all that ``make`` depends on, and of that without the places of points.
        make, move : callable

        Returns
        -------
        bpy.types.Object
        """
        part = self._free(part)
        shown = self._before.get(part)
        if shown is not None and shown.get(STILL) == keys[1]:
            self._keep(part, name, shown)
            if shown.get(MADE_FROM) != keys[0]:
                self._rewriting.append(partial(self._move, shown, keys[0], move))
            return shown
        shown = make()
        shown[STILL] = keys[1]
        self._add(part, name, keys[0], shown)
        return shown

    @staticmethod
    def _move(shown: Any, key: str, move: Callable[[Any], None]) -> None:
        move(shown)
        shown[MADE_FROM] = key

    def instanced(self, part: str, name: str, wanted: Instances) -> Any:
        """Keep the object of a part and rewrite what differs in it; make it if there is none.

        Parameters
        ----------
        part : str
            The same from build to build.
        name : str
            Of the object.
        wanted : Instances

        Returns
        -------
        bpy.types.Object
        """
        part = self._free(part)
        shown = self._before.get(part)
        if shown is not None and instances.is_placed(shown):
            self._keep(part, name, shown)
            if instances.differs(shown, wanted) or shown.get(MADE_FROM) != wanted.key:
                self._rewriting.append(partial(self._rewrite, shown, wanted))
            return shown
        shown = instances.placed(name, wanted)
        self._add(part, name, wanted.key, shown)
        return shown

    def settle(self) -> list[Any]:
        """Rewrite changed objects; return the objects of the last build that are no longer used."""
        for rewrite in self._rewriting:
            rewrite()
        return list(self._before.values())

    def name(self) -> None:
        """Give all objects their names, after those that had them were removed."""
        for shown in (*self.made, *self.kept):
            if shown.name != (name := self._names[shown[PART]]):
                shown.name = name

    @staticmethod
    def _rewrite(shown: Any, wanted: Instances) -> None:
        instances.rewrite(shown, wanted, shown.get(MADE_FROM) != wanted.key)
        shown[MADE_FROM] = wanted.key

    def _free(self, part: str) -> str:
        """Return ``part``, numbered if there is one of that name already."""
        name, n = part, 2
        while name in self._names:
            name, n = f"{part} {n}", n + 1
        return name

    def _keep(self, part: str, name: str, shown: Any) -> None:
        del self._before[part]
        self._names[part] = name
        self.kept.append(shown)

    def _add(self, part: str, name: str, key: str, shown: Any) -> None:
        shown[PART], shown[MADE_FROM] = part, key
        self._names[part] = name
        self.made.append(shown)
