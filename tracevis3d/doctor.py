"""The capabilities of this machine: engines, GPU, codecs, Blender, Numba's cache; and how to get more."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .errors import TraceVisError
from .places import cache_root
from .units import byte_size


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: ``remedy`` says what to do if it is not ``ok``.

    Attributes
    ----------
    what : str
        What was looked at.
    ok : bool
    found : str
        What is there.
    remedy : str
        What to do if it is not ``ok``.
    """

    what: str
    ok: bool
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Look at this machine; takes about a second, because Blender's module is loaded."""
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _python,
        _numba,
        _libraries,
        _recorder,
        _cache,
        _plugins,
        _blender,
    )
    return [finding for check in checks for finding in check()]


def _python() -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("Python", True, f"{platform.python_version()} on {platform.platform()}, {cores} cores")
    import numpy

    yield Finding("NumPy", True, numpy.__version__)


def _numba() -> Iterator[Finding]:
    try:
        from .kernels.dispatchers import VERSION
    except TraceVisError as error:
        yield Finding("Numba", False, "not found", str(error))
        return
    folder = os.environ.get("NUMBA_CACHE_DIR", "")
    kernels = sum(name.endswith(".nbc") for _, _, names in os.walk(folder) for name in names)
    yield Finding("Numba", True, f"{VERSION}, {kernels} compiled kernels stored in {folder}")


def _libraries() -> Iterator[Finding]:
    for module, what, package in (
        ("msgspec", "JSON (checked readers)", "msgspec"),
        ("isal", "fast gzip", "isal"),
        ("zstandard", "zstd", "zstandard"),
        ("perfetto", "Perfetto's protobuf", "perfetto"),
    ):
        if module == "zstandard" and sys.version_info >= (3, 14):
            yield Finding(what, True, "compression.zstd")
            continue
        try:
            loaded = __import__(module)
        except ImportError:
            yield Finding(what, False, f"{module} is not installed", f"pip install {package}")
        else:
            yield Finding(what, True, f"{module} {getattr(loaded, '__version__', '')}".rstrip())


def _recorder() -> Iterator[Finding]:
    from .record.engines.choice import best
    from .record.fast import MODULE

    engine = best()
    if MODULE is None and os.name == "posix":
        remedy = (
            "install a C compiler, then TraceVis3D again: without it, recording slows programs down several "
            "times as much"
        )
        yield Finding("recording", False, f"by {engine}: the part in C was not built", remedy)
    else:
        yield Finding("recording", True, f"by {engine}")


def _cache() -> Iterator[Finding]:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        remedy = "set TRACEVIS3D_CACHE to a folder that you can write to"
        yield Finding("cache", False, f"{folder} can't be written to", remedy)
        return
    from .trace.storage import cache

    free = shutil.disk_usage(folder).free
    yield Finding("cache", True, f"{byte_size(cache.size())} in {folder}, {byte_size(free)} free")


def _plugins() -> Iterator[Finding]:
    from . import plugins
    from .filters import registry as filters
    from .formats import registry as formats
    from .views import registry as views

    found = sorted(name for registry in (views, formats, filters) for name in registry.others())
    broken = plugins.broken()
    yield Finding("plug-ins", True, ", ".join(found) or "none found")
    for sentence in broken:
        yield Finding("plug-in", False, sentence, "repair or remove it")


def _blender() -> Iterator[Finding]:
    try:
        import bpy
    except ImportError as error:
        program = shutil.which("blender")
        remedy = (
            f"install the extension into {program} and run 'blender --background --command tracevis3d …'"
            if program
            else "pip install bpy (Python 3.11 or 3.13), or install Blender and the extension"
        )
        yield Finding("Blender", False, f"the module bpy can't be imported ({error})", remedy)
        return
    yield Finding("Blender", True, bpy.app.version_string + (" (module)" if bpy.app.module else ""))
    from .scene.output import engines

    for engine in engines.examine():
        yield Finding(f"engine {engine.name}", engine.ok, engine.found, engine.remedy)
    gpus = list(_gpus(bpy))
    yield Finding(
        "GPU for Cycles", bool(gpus), ", ".join(gpus) or "none found", "not needed: Cycles renders on the CPU"
    )
    codecs = bpy.app.ffmpeg
    yield Finding(
        "films (FFmpeg)",
        codecs.supported,
        codecs.avcodec_version_string.strip() if codecs.supported else "not built in",
        "use a Blender that is built with FFmpeg, or render to .png",
    )
    for name, attribute in (("USD", "usd"), ("OpenXR (headsets)", "xr_openxr")):
        built_in = bool(getattr(bpy.app.build_options, attribute, False))
        yield Finding(name, built_in, "built in" if built_in else "not built in", "use Blender's own build")


def _gpus(bpy) -> Iterator[str]:  # type: ignore[no-untyped-def]
    with contextlib.suppress(KeyError, AttributeError, TypeError, ValueError):
        preferences = bpy.context.preferences.addons["cycles"].preferences
        for kind in ("CUDA", "OPTIX", "HIP", "METAL", "ONEAPI"):
            with contextlib.suppress(ValueError, TypeError):
                for device in preferences.get_devices_for_type(kind):
                    if device.type != "CPU":
                        yield f"{device.name} ({kind})"
