"""The zips of the Blender extension: one per platform and Python.

    python -m tools.release extension                 for this machine's platform and Python, into dist/
    python -m tools.release extension --all           for every target of tools/release/wheels.toml
    python -m tools.release extension --target linux-x64-cp313
    python -m tools.release extension --update        choose the newest wheels and write wheels.toml

Blender reads the Pythons that an extension supports from the names of its wheels and refuses the whole
extension on any other, and takes the highest version of a package that any extension brings. So each zip
has the wheels of one Python, pinned with their SHA-256 in ``wheels.toml``, without what the extension never
loads (``slim.py``); NumPy is Blender's own and is never among them.
"""

from __future__ import annotations

import argparse
import email
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from . import slim

ROOT = Path(__file__).resolve().parents[2]
LOCK = Path(__file__).with_name("wheels.toml")
WHEELS = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
MANIFEST = "blender_manifest.toml"

#: What is brought along. isal and the Perfetto pair are small and make formats fast or readable at all, pyzmq
#: (BSD licence, with ZeroMQ itself under MPL 2.0 in it) is for live feeds.
PACKAGES = ("numba", "llvmlite", "msgspec", "isal", "perfetto", "protobuf", "pyzmq")
#: What Blender brings itself.
BLENDERS_OWN = frozenset({"numpy", "requests", "zstandard"})
#: What a newcomer opens with a click: see operators/workspace/welcome.py.
EXAMPLE = "examples/vt_markdown_repeat1.json.gz"
#: Folders and files of the repository that go into a zip.
CONTENT = (MANIFEST, "__init__.py", "LICENSE", EXAMPLE, "operators", "panels", "tracevis3d")
#: Blender's name of a platform -> pip's names, and the ends of the platform tags that fit.
PLATFORMS = {
    "linux-x64": (*(f"manylinux_2_{n}_x86_64" for n in (28, 27, 26, 24, 17)), "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_12_0_arm64",),
    "macos-x64": ("macosx_12_0_x86_64",),
}
#: Blender 4.2 to 5.0 carry Python 3.11, 5.1 on 3.13; distributions have others; Blender 5.0 left Intel Macs.
TARGETS = (
    "linux-x64-cp311",
    "linux-x64-cp313",
    "linux-x64-cp314",
    "windows-x64-cp311",
    "windows-x64-cp313",
    "windows-x64-cp314",
    "macos-arm64-cp311",
    "macos-arm64-cp313",
    "macos-arm64-cp314",
    "macos-x64-cp311",
)
#: How the pinned wheels are renewed.
_UPDATE = "python -m tools.release extension --update"
# So that the same sources give the same zip.
_TIMESTAMP = (2020, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """The zip can't be built; the message is one sentence for people."""


@dataclass(frozen=True)
class Target:
    """A platform and a Python that a zip is for."""

    platform: str
    minor: int

    @classmethod
    def parse(cls, name: str) -> Target:
        """Read ``linux-x64-cp313``."""
        known, _, tag = name.rpartition("-cp3")
        if known not in PLATFORMS or not tag.isdigit():
            raise BuildError(f"{name!r} is no target: there are {', '.join(TARGETS)}")
        return cls(known, int(tag))

    @classmethod
    def here(cls) -> Target:
        """Return the target of the running Python."""
        machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
            platform.machine().lower(), platform.machine().lower()
        )
        system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
        return cls.parse(f"{system}-{machine}-cp3{sys.version_info.minor}")

    def __str__(self) -> str:
        return f"{self.platform}-cp3{self.minor}"

    def download(self, requirement: str, folder: Path) -> None:
        """Fetch the wheel that pip finds for ``requirement`` on this target into ``folder``."""
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--implementation", "cp", "--python-version", f"3.{self.minor}", "--dest", str(folder)]
        for name in PLATFORMS[self.platform]:
            command += ["--platform", name]
        done = subprocess.run([*command, requirement], capture_output=True, text=True)
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            reason = (errors or done.stderr.splitlines() or ["no reason given"])[-1]
            raise BuildError(f"pip can't download {requirement} for {self}: {reason}")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its words."""
    parser.add_argument("--all", action="store_true", help="build every target, not only this machine's")
    parser.add_argument("--target", action="append", default=[], help=f"one of {', '.join(TARGETS)}")
    parser.add_argument("--output", type=Path, default=DIST, help="folder for the zips (default dist/)")
    parser.add_argument("--update", action="store_true", help="choose the newest wheels; write wheels.toml")


def run(words: argparse.Namespace) -> None:
    """Build the zips that are asked for."""
    targets = [Target.parse(name) for name in (TARGETS if words.all else words.target)]
    if words.update:
        update(targets or [Target.parse(name) for name in TARGETS])
        return
    for target in targets or [Target.here()]:
        path = build(target, words.output)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


def build(target: Target, output: Path = DIST, version: str = "") -> Path:
    """Write the zip for ``target`` into the folder ``output`` and return its path.

    Parameters
    ----------
    target : Target
    output : Path
    version : str
        In place of the manifest's, to try how an update goes.

    Returns
    -------
    Path

    Raises
    ------
    BuildError
        If a wheel can't be had, is not the pinned one, or needs what neither the zip nor Blender has.
    """
    wheels = fetch(target)
    check_wheels(wheels, target)
    content = sources(wheels, target)
    if version:
        content[MANIFEST] = re.sub(
            rb'(?m)^version = ".*"', f'version = "{version}"'.encode(), content[MANIFEST]
        )
    version = tomllib.loads(content[MANIFEST].decode())["version"]
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"tracevis3d-{version}-{target}.zip"
    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, one in sorted(content.items()):
            _add(archive, name, one, zipfile.ZIP_DEFLATED)
        for wheel in wheels:
            # Wheels are zips already.
            _add(archive, f"wheels/{wheel.name}", _slimmed(wheel), zipfile.ZIP_STORED)
    os.replace(partial, path)
    return path


def sources(wheels: list[Path], target: Target) -> dict[str, bytes]:
    """Return name in the zip -> content of everything but the wheels."""
    found: dict[str, bytes] = {}
    for top in CONTENT:
        start = ROOT / top
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            hidden = any(
                part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts
            )
            # What was built here is for this machine.
            if path.is_file() and not hidden and path.suffix != ".so":
                found[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    found[MANIFEST] = manifest(found[MANIFEST].decode("utf-8"), wheels, target).encode("utf-8")
    return found


def manifest(text: str, wheels: list[Path], target: Target) -> str:
    """Return the manifest of git with the platform and the wheels of ``target`` written in."""
    listed = "".join(f'  "./wheels/{wheel.name}",\n' for wheel in wheels)
    head, bracket, tail = text.partition("\n[permissions]")
    if not bracket:
        raise BuildError(f"{MANIFEST} has no [permissions] section to write the wheels before")
    # How a checkout is built says nothing about the zip.
    tail = tail.partition("\n[build]")[0]
    return f'{head}\nplatforms = ["{target.platform}"]\nwheels = [\n{listed}]\n{bracket}{tail}'


def _slimmed(wheel: Path) -> bytes:
    """Return a wheel without what the extension never loads; it is made once."""
    rules = hashlib.sha256(Path(slim.__file__).read_bytes()).hexdigest()[:12]
    kept = wheel.parent / f"slim-{rules}" / wheel.name
    if not kept.is_file():
        kept.parent.mkdir(exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}")
        partial.write_bytes(slim.slimmed(wheel))
        os.replace(partial, kept)
    return kept.read_bytes()


def fetch(target: Target) -> list[Path]:
    """Return the pinned wheels of ``target``, downloaded unless they lie in ``build/wheels``."""
    pinned = _lock().get(str(target))
    if not pinned:
        raise BuildError(f"tools/release/wheels.toml has no wheels for {target}: run {_UPDATE}")
    WHEELS.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, digest in sorted(pinned.items()):
        path = WHEELS / name
        if not path.is_file():
            project, version, *_ = parse_wheel_filename(name)
            with tempfile.TemporaryDirectory(dir=WHEELS) as folder:
                target.download(f"{project}=={version}", Path(folder))
                (downloaded,) = Path(folder).glob("*.whl")
                if downloaded.name != name:
                    raise BuildError(
                        f"pip chose {downloaded.name} where tools/release/wheels.toml pins {name}"
                    )
                os.replace(downloaded, path)
        if _digest(path) != digest:
            path.unlink()
            raise BuildError(
                f"{name} is not the file that tools/release/wheels.toml pins: its SHA-256 differs"
            )
        paths.append(path)
    return paths


def check_wheels(wheels: list[Path], target: Target) -> None:
    """Raise :class:`BuildError` unless the wheels fit ``target`` and each other."""
    versions = {}
    for wheel in wheels:
        project, version, _, tags = parse_wheel_filename(wheel.name)
        if project in BLENDERS_OWN:
            raise BuildError(f"{project} comes with Blender and is not to be bundled")
        versions[project] = version
        if not any(_fits(tag.interpreter, tag.abi, tag.platform, target) for tag in tags):
            raise BuildError(f"{wheel.name} is not for {target}")
    for wheel in wheels:
        for requirement in _requirements(wheel, target):
            project = canonicalize_name(requirement.name)
            if project in BLENDERS_OWN:
                continue
            if project not in versions:
                raise BuildError(f"{wheel.name} needs {requirement}, which is not bundled")
            if not requirement.specifier.contains(versions[project], prereleases=True):
                raise BuildError(f"{wheel.name} needs {requirement}, but {versions[project]} is bundled")


def _fits(interpreter: str, abi: str, tag: str, target: Target) -> bool:
    python = interpreter in (f"cp3{target.minor}", "py3") or (
        abi == "abi3" and interpreter.startswith("cp3") and int(interpreter[3:]) <= target.minor
    )
    machine = {
        "linux-x64": "_x86_64",
        "windows-x64": "win_amd64",
        "macos-arm64": "_arm64",
        "macos-x64": "_x86_64",
    }
    system = {"linux": "manylinux", "windows": "win", "macos": "macosx"}[target.platform.split("-")[0]]
    place = tag == "any" or (
        tag.startswith(system)
        and (tag.endswith(machine[target.platform]) or (system == "macosx" and tag.endswith("universal2")))
    )
    return python and place


def _requirements(wheel: Path, target: Target) -> list[Requirement]:
    """Return what ``wheel`` always needs on ``target``."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    environment = {
        "python_version": f"3.{target.minor}",
        "python_full_version": f"3.{target.minor}.0",
        "extra": "",
    }
    found = [Requirement(line) for line in metadata.get_all("Requires-Dist") or []]
    return [r for r in found if r.marker is None or r.marker.evaluate(environment)]


def update(targets: list[Target]) -> None:
    """Write the newest wheels of some targets into ``wheels.toml``; those of the others stay."""
    pinned = _lock()
    for target in targets:
        with tempfile.TemporaryDirectory() as folder:
            for package in PACKAGES:
                target.download(package, Path(folder))
            chosen = _matching_llvmlite(sorted(Path(folder).glob("*.whl")), target, Path(folder))
            check_wheels(chosen, target)
            pinned[str(target)] = {wheel.name: _digest(wheel) for wheel in chosen}
    lines = [f"# Written by {_UPDATE}: file name of each wheel = its SHA-256.\n"]
    for name in TARGETS:
        lines.append(f"\n[{name}]\n")
        lines += [f'"{wheel}" = "{digest}"\n' for wheel, digest in pinned.get(name, {}).items()]
    LOCK.write_text("".join(lines), "utf-8")
    print(LOCK)


def _matching_llvmlite(wheels: list[Path], target: Target, folder: Path) -> list[Path]:
    """Replace llvmlite by the newest that this numba takes; each numba takes one minor version only."""
    numba = next(wheel for wheel in wheels if wheel.name.startswith("numba-"))
    (needed,) = [r for r in _requirements(numba, target) if r.name == "llvmlite"]
    own = folder / "llvmlite"
    own.mkdir()
    target.download(str(needed).split(";")[0], own)
    kept = [wheel for wheel in wheels if not wheel.name.startswith("llvmlite-")]
    return sorted([*kept, *own.glob("*.whl")], key=lambda wheel: wheel.name)


def _lock() -> dict[str, dict[str, str]]:
    return tomllib.loads(LOCK.read_text("utf-8")) if LOCK.is_file() else {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add(archive: zipfile.ZipFile, name: str, content: bytes, compression: int) -> None:
    entry = zipfile.ZipInfo(name, _TIMESTAMP)
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
