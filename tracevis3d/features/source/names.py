"""Short names of files that tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

#: Names that say nothing without their folder.
_VAGUE = ("__init__.py", "__main__.py", "index.js", "mod.rs")


def file_titles(files: Sequence[str]) -> list[str]:
    """Return the last parts of paths, as few as tell each file from the others.

    Parameters
    ----------
    files : sequence of str
        Paths in the style of any system.

    Returns
    -------
    list of str

    Examples
    --------
    >>> file_titles(["/a/one/util.py", "/a/two/util.py", "/a/core.py", "/a/one/__init__.py"])
    ['one/util.py', 'two/util.py', 'core.py', 'one/__init__.py']
    """
    parts = [file.replace("\\", "/").rstrip("/").split("/") for file in files]
    many = [2 if one[-1] in _VAGUE else 1 for one in parts]
    for _ in range(max(map(len, parts), default=0)):
        names = ["/".join(one[-k:]) for one, k in zip(parts, many, strict=True)]
        often = Counter(names)
        many = [k + (often[name] > 1) for k, name in zip(many, names, strict=True)]
    return ["/".join(one[-k:]) or "(unnamed)" for one, k in zip(parts, many, strict=True)]
