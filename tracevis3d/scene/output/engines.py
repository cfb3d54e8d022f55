"""The available render engines, and the choice of one for a picture."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import sys
from dataclasses import dataclass
from typing import Any

import bpy

from ...errors import MissingDependency, UsageError
from .. import compat

_NEED_OPENGL = ("workbench", "eevee")
_REMEDY = "install OpenGL without a screen: apt-get install libegl1 libgl1-mesa-dri (Debian, Ubuntu)"

#: Interfaces to graphics cards, the fastest first.
_CARDS = ("OPTIX", "CUDA", "HIP", "ONEAPI", "METAL")

_EGL_PLATFORM_SURFACELESS = 0x31DD


@dataclass(frozen=True)
class Engine:
    """A render engine, and whether it works here.

    Attributes
    ----------
    name : {"workbench", "eevee", "cycles"}
    ok : bool
    found : str
        Blender's identifier of it, or why it does not work.
    remedy : str
        What to do if it does not.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""


def examine() -> list[Engine]:
    """Return the availability of Workbench, EEVEE and Cycles."""
    ids = compat.engine_ids()
    trouble = _opengl_trouble()
    found = []
    for name in ("workbench", "eevee", "cycles"):
        if name not in ids:
            found.append(Engine(name, False, "not built in", "use a Blender that is built with it"))
        elif name in _NEED_OPENGL and trouble:
            found.append(Engine(name, False, trouble, _REMEDY))
        else:
            found.append(Engine(name, True, ids[name] + ("" if name in _NEED_OPENGL else " on the CPU")))
    return found


def identifier(name: str) -> str:
    """Return Blender's identifier of an engine.

    Parameters
    ----------
    name : {"workbench", "eevee", "cycles"}

    Returns
    -------
    str

    Raises
    ------
    UsageError
        If there is no engine of that name.
    MissingDependency
        If it does not work here: without OpenGL, Blender would end the whole process.
    """
    for engine in examine():
        if engine.name == name:
            if not engine.ok:
                other = "" if name == "cycles" else "; or use --engine cycles, which needs no OpenGL"
                raise MissingDependency(
                    f"The engine {name} can't render here ({engine.found}): {engine.remedy}{other}."
                )
            return compat.engine_ids()[name]
    raise UsageError(f"There is no engine {name!r}: choose auto, workbench, eevee or cycles.")


def suited(style: str, quick: bool) -> str:
    """Return the engine for a picture whose engine is left to us.

    Cycles gives ``paper`` and ``stage`` their soft light, in 20 to 30 s of processor time for 1920 x 1080.
    ``flat`` has no light, and a film has hundreds of frames: Workbench needs well under a second for each.

    Parameters
    ----------
    style : {"paper", "stage", "flat"}
    quick : bool
        For a draft or the frames of a film.

    Returns
    -------
    {"workbench", "cycles"}
    """
    working = {engine.name for engine in examine() if engine.ok}
    wanted = ("workbench", "cycles") if quick or style == "flat" else ("cycles", "workbench")
    return next((name for name in wanted if name in working), "cycles")


def choose_device(scene: Any, device: str) -> None:
    """Let Cycles render a scene with a device.

    Parameters
    ----------
    scene : bpy.types.Scene
    device : str
        One of :data:`...drawing.output.DEVICES`.

    Raises
    ------
    MissingDependency
        If there is none here.
    """
    if "cycles" not in compat.engine_ids():
        return
    if device == "cpu":
        scene.cycles.device = "CPU"
        return
    preferences: Any = bpy.context.preferences.addons["cycles"].preferences
    kinds = [kind[0] for kind in preferences.get_device_types(bpy.context)]
    wanted = _CARDS if device == "gpu" else (device.upper(),)
    for kind in (kind for kind in wanted if kind in kinds):
        preferences.compute_device_type = kind
        preferences.refresh_devices()
        found = [one for one in preferences.devices if one.type == kind]
        for one in found:
            one.use = True
        if found:
            scene.cycles.device = "GPU"
            return
    preferences.compute_device_type = "NONE"
    raise MissingDependency(
        f"--device {device}: Cycles finds none here; 'tracevis3d doctor' shows what there is."
    )


@functools.cache
def _opengl_trouble() -> str:
    """Return why OpenGL can't be had without a window, or nothing if it can.

    Asked from EGL itself before Blender asks: its own answer to a missing driver is to abort.
    """
    if not sys.platform.startswith("linux") or not bpy.app.background:
        return ""
    library = ctypes.util.find_library("EGL") or "libEGL.so.1"
    try:
        egl = ctypes.CDLL(library)
    except OSError:
        return "libEGL is not installed"
    egl.eglGetDisplay.restype = ctypes.c_void_p
    egl.eglGetDisplay.argtypes = [ctypes.c_void_p]
    egl.eglInitialize.argtypes = [ctypes.c_void_p] * 3
    egl.eglInitialize.restype = ctypes.c_uint
    display = egl.eglGetDisplay(None)
    if display and egl.eglInitialize(display, None, None):
        return ""
    try:
        ask = egl.eglGetPlatformDisplay
    except AttributeError:
        return "no EGL display"
    ask.restype = ctypes.c_void_p
    ask.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p]
    display = ask(_EGL_PLATFORM_SURFACELESS, None, None)
    if display and egl.eglInitialize(display, None, None):
        return ""
    return "no OpenGL driver answers"
