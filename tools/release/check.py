"""What a release must do once it is installed: tried in fresh environments, away from the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import library, native, repository
from .extension import ROOT, BuildError

_TRACE = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
_PROGRAM = "import sys\n\ndef f(n):\n    return n and f(n - 1)\n\nf(int((sys.argv + ['20'])[1]))\n"


def check_library(folder: Path) -> None:
    """Install the package in a fresh environment of each Python, and the archive in one, and use them.

    Parameters
    ----------
    folder : Path
        Of the archive and the wheels.

    Raises
    ------
    BuildError
        If anything is not as it must be.
    """
    packages = sorted(folder.iterdir())
    library.must([sys.executable, "-m", "twine", "check", "--strict", *packages])
    pythons = list(library.pythons())
    for minor, python in pythons:
        # pip takes the wheel that fits best, as it would from an index.
        _try(
            python,
            f"Python 3.{minor}, wheel",
            ["--find-links", folder, "--no-binary=:none:", "tracevis3d[live]"],
            True,
        )
    (archive,) = folder.glob("*.tar.gz")
    (plain,) = folder.glob("*-none-any.whl")
    minor, python = pythons[0]
    _try(python, f"Python 3.{minor}, source archive", [archive], True)
    _try(python, f"Python 3.{minor}, wheel without C", [plain], False)


def _try(python: Path, what: str, packages: list[str | Path], has_c: bool) -> None:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        library.must([python, "-m", "venv", home / "env"])
        inside = home / "env" / ("Scripts" if os.name == "nt" else "bin")
        # Nothing that lies elsewhere may count as installed.
        words = [inside / "python", "-m", "pip", "install", "--quiet", *packages]
        library.must(words, {"PYTHONPATH": ""}, home)
        installed = time.perf_counter() - started
        # Nothing of the user's: no settings, no cache.
        clean = {"HOME": place, "TRACEVIS3D_CACHE": str(home / "cache"), "PYTHONPATH": ""}
        command = inside / "tracevis3d"
        facts = json.loads(library.must([command, "info", _TRACE, "--json", "--quiet"], clean, home))
        if facts["calls"] < 1000:
            raise BuildError(f"{what}: info finds {facts['calls']} calls in {_TRACE.name}")
        (home / "program.py").write_text(_PROGRAM, "utf-8")
        library.must([command, "record", "--quiet", "-o", "run.json", "program.py"], clean, home)
        recorded = json.loads(library.must([command, "info", "run.json", "--json"], clean, home))
        if recorded["calls"] < 21:
            raise BuildError(f"{what}: record finds {recorded['calls']} calls, 21 are made")
        library.must([command, "record", "--quiet", "-o", "more.json", "program.py", "30"], clean, home)
        library.must(
            [command, "explain", "run.json", "more.json", "-o", "found", "--no-figures", "--quiet"],
            clean,
            home,
        )
        found = json.loads((home / "found" / "findings.json").read_text("utf-8"))["findings"]
        if not any("f (" in str(one) or "f " in str(one) for one in found):
            raise BuildError(f"{what}: explain finds nothing about f between 20 and 30 calls: {found}")
        library.must([command, "convert", "run.json", "run.tv3", "--quiet"], clean, home)
        converted = json.loads(library.must([command, "info", "run.tv3", "--json"], clean, home))
        if converted["calls"] != recorded["calls"]:
            raise BuildError(f"{what}: convert keeps {converted['calls']} of {recorded['calls']} calls")
        if "live" in str(packages[-1]):
            _watch(command, what, recorded["calls"], clean, home)
        code = "from tracevis3d.record.fast import BLOCKS, MODULE; print(None not in (BLOCKS, MODULE))"
        if library.must([inside / "python", "-c", code], clean, home).strip() != str(has_c):
            raise BuildError(f"{what}: the part in C is {'missing' if has_c else 'in it'}")
        words = [command, "render", "icicle", _TRACE, "-o", "run.png"]
        done = subprocess.run(words, cwd=home, env={**os.environ, **clean}, capture_output=True, text=True)
        if done.returncode != 1 or "Blender" not in done.stderr or len(done.stderr.splitlines()) != 1:
            raise BuildError(f"{what}: render without Blender says:\n{done.stderr}")
        took = time.perf_counter() - started
        print(f"{what}: installed in {installed:.0f} s, works after {took:.0f} s", flush=True)


def _watch(command: Path, what: str, calls: int, clean: dict[str, str], home: Path) -> None:
    """Record a program that waits for its viewer, and watch it."""
    environment = {**os.environ, **clean}
    words = [command, "record", "--live", "tcp://127.0.0.1:*", "--wait", "program.py"]
    with subprocess.Popen(words, cwd=home, env=environment, stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        endpoint = program.stderr.readline().split()[-1]
        try:
            library.must([command, "watch", endpoint, "-o", "live.tv3", "--quiet"], clean, home)
        finally:
            program.terminate()
        program.stderr.read()
    watched = json.loads(library.must([command, "info", "live.tv3", "--json"], clean, home))
    if watched["calls"] != calls:
        raise BuildError(f"{what}: watch finds {watched['calls']} calls, {calls} are made")


def check_extension(folder: Path) -> None:
    """Let Blender's own tool read each zip of a repository, the listing name it, and see what it loads.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    BuildError
        If a zip is refused or not listed for its platform and Python, or lacks a library or processor's code.
    """
    data = json.loads((folder / "index.json").read_text("utf-8"))["data"]
    listed = {(tuple(one["platforms"]), tuple(one["python_versions"])): one["archive_url"] for one in data}
    for path in sorted(folder.glob("*.zip")):
        repository.validate(path)
        place, _, tag = path.stem.rpartition("-cp3")
        system = "-".join(place.split("-")[-2:])
        if listed.get(((system,), (f"3.{tag}",))) != f"./{path.name}":
            raise BuildError(f"{path.name} is not listed for {system} and Python 3.{tag}: {listed}")
        if wrong := list(native.problems(path, system, int(tag))):
            raise BuildError(f"{path.name}: {'; '.join(wrong)}")
