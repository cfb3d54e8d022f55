"""Begins the recording of an interpreter that a recorded program has started, then makes way.

Python imports ``sitecustomize`` when it starts. Ours is found first, takes all that led to it back, and lets
the one be imported that would have been without it.
"""

import os
import sys


def _begin() -> None:
    import importlib
    import json

    said = json.loads(os.environ.pop("TRACEVIS3D_CHILD", "{}"))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    if not said:
        return
    if said["path"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = said["path"]
    sys.path.insert(0, said["root"])
    try:
        child = importlib.import_module(said["module"])
    finally:
        sys.path.remove(said["root"])
    child.begin(said["options"], said["folder"])


_begin()
sys.modules.pop("sitecustomize", None)
# If there is none, that error is what Python expects, and passes over.
import sitecustomize  # type: ignore[import-not-found,unused-ignore]  # noqa: E402, F401
