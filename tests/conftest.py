"""Shared fixtures. The library is imported first, so that pytest never takes the extension's root for it."""

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

import tracevis3d  # noqa: F401
from tests.support.compile_once import compile_once
from tracevis3d.places import cache_root

# Compiled kernels stay where they are found again; only the cache of traces is the tests' own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_root() / "numba"))

# No test asserts on time: a busy machine may take longer for an example, or for making one.
settings.register_profile("house", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("house")
# For tools/mutate.py: the first example that fails is enough, and no run knows of another.
settings.register_profile("mutate", phases=(Phase.explicit, Phase.generate), database=None)

# What importing and collecting thousands of tests makes stays: looking at it again and again finds nothing.
gc.disable()

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared"))


def pytest_configure(config: pytest.Config) -> None:
    """In one of several parallel processes, share what is compiled with the others."""
    if hasattr(config, "workerinput"):
        compile_once()
        # So are modules: tests start hundreds of processes.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported and collected out of garbage collection: it stays, and is large."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End at once where Blender's module was imported: its destructors may wait for ever."""
    if "bpy" in sys.modules and not hasattr(config, "workerinput"):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_ended.get("code", 1))


_ended: dict[str, int] = {}


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remember what the process is to end with."""
    _ended["code"] = int(exitstatus)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Keep the tests' cache of traces apart from the user's."""
    os.environ["TRACEVIS3D_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    # Importing Numba is no example's doing: Hypothesis would find the first one too slow.
    import tracevis3d.kernels.dispatchers  # noqa: F401


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of recordings of real programs; skips where it is absent."""
    return _folder("recorded")


@pytest.fixture(scope="session")
def public() -> Path:
    """The folder of public repositories' trace files; skips where it is absent."""
    return _folder("public")


def _folder(name: str) -> Path:
    path = SHARED / "traces" / name
    if not path.is_dir():
        pytest.skip(f"no {path}")
    return path
