"""The real Blender programs of two Debian releases, each in a folder of its own that is kept and reused.

Needs root, ``mmdebstrap`` and ``unshare``, which are installed where ``apt-get`` is. Everything is mounted
in a namespace of the command that runs, so nothing stays mounted behind it.

    python3 tools/real_blender.py       # sets them up; needs nothing but Python
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

#: What Blender needs beside itself to render and to open a window where there is neither GPU nor screen.
_COMMON = (
    "blender",
    "python3-numpy",
    "python3-requests",
    "python3-zstandard",
    "libegl1",
    "libgl1-mesa-dri",
    "xvfb",
    "xauth",
    "xclip",
)

#: Where a set-up logs what its commands print.
OUTPUT = Path(__file__).resolve().parents[1] / "build" / "test-blender"
#: The tools that set them up, and the Debian packages that hold those.
_TOOLS = {"mmdebstrap": "mmdebstrap", "unshare": "util-linux", "chroot": "coreutils"}


def _install(tool: str, package: str) -> bool:
    """Install a Debian package for a tool; return whether the tool is there then."""
    if shutil.which("apt-get") is None:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update", "-qq"], ["install", "-qq", "--yes", "--no-install-recommends", package]):
        # tools/setup.sh may be at it, too.
        command = ["flock", "/run/lock/tracevis3d-apt", "apt-get", *words]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    return shutil.which(tool) is not None


def cache_folder() -> Path:
    """Return the folder that keeps the programs: ``TRACEVIS3D_BLENDERS``, or one in the user's cache."""
    if given := os.environ.get("TRACEVIS3D_BLENDERS"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tracevis3d-blenders"


class SetupFailed(Exception):
    """A program could not be set up; the message names the log."""


@dataclass(frozen=True)
class Program:
    """A Blender of one Debian release.

    Attributes
    ----------
    version : str
        Blender's, as ``4.3``.
    suite : str
        Debian's name of the release.
    python : str
        The Python inside it, as ``3.13``.
    packages : tuple of str
        Debian packages that this one needs beyond the common ones.
    """

    version: str
    suite: str
    python: str
    packages: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        """The folder that the release lies in."""
        return cache_folder() / self.suite

    def obstacle(self) -> str:
        """Say in one sentence why it can't be set up here; empty if it can. Installs tools that it needs."""
        if os.geteuid() != 0:
            return "setting up the real Blender programs needs root (chroot, mount)"
        for tool, package in _TOOLS.items():
            if shutil.which(tool) is None and not _install(tool, package):
                return f"setting up the real Blender programs needs {tool}: apt-get install {package}"
        return ""

    def prepare(self) -> None:
        """Set the program up unless that was done before; takes about a minute and 1.3 GB.

        Raises
        ------
        SetupFailed
            If a command of it fails; the message names the file with what it printed.
        """
        OUTPUT.mkdir(parents=True, exist_ok=True)
        log = OUTPUT / f"{self.version}-setup.txt"
        wanted = (*_COMMON, *self.packages)
        stamp = self.root / "tracevis3d-ready"
        key = hashlib.sha256(" ".join(wanted).encode()).hexdigest()
        if stamp.is_file() and stamp.read_text() == key:
            return
        shutil.rmtree(self.root, ignore_errors=True)
        partial = self.root.with_name(f"{self.suite}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        # The mirror may be a snapshot whose lists have expired.
        old_lists = "--aptopt=Acquire::Check-Valid-Until false"
        chosen = ["--mode=root", "--variant=minbase", f"--include={','.join(wanted)}", old_lists]
        source = f"deb http://deb.debian.org/debian {self.suite} main"
        with log.open("w") as said:
            words = ["mmdebstrap", *chosen, self.suite, str(partial), source]
            if subprocess.run(words, stdout=said, stderr=said).returncode:
                raise SetupFailed(f"Blender {self.version} can't be set up: see {log}")
        partial.rename(self.root)
        stamp.write_text(key)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        folders: Mapping[str, tuple[Path, bool]] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float | None = None,
        log: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``command`` inside.

        Parameters
        ----------
        command
            Program and arguments, with paths as they are inside.
        folders
            Path inside -> (folder outside, whether it may be written to).
        environment
            Added to a bare environment.
        timeout
            Seconds after which the command and all that it started is killed.
        log
            File that standard output and error are written to instead of the terminal.
        """
        quoted = shlex.quote
        lines = ["set -e", f"mount -t proc proc {quoted(str(self.root / 'proc'))}"]
        lines.append(f"mount --rbind /dev {quoted(str(self.root / 'dev'))}")
        for inside, (outside, writable) in (folders or {}).items():
            target = self.root / inside.lstrip("/")
            target.mkdir(parents=True, exist_ok=True)
            lines.append(f"mount --bind {quoted(str(outside))} {quoted(str(target))}")
            if not writable:
                lines.append(f"mount -o remount,bind,ro {quoted(str(target))}")
        inner = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
        inner |= environment or {}
        settings = " ".join(quoted(f"{name}={value}") for name, value in inner.items())
        words = " ".join(quoted(str(word)) for word in command)
        # Not "exec": an X server sends no signal to a parent that is process 1, and xvfb-run waits for it.
        lines.append(f"chroot {quoted(str(self.root))} /usr/bin/env -i {settings} {words}")
        resolv = Path("/etc/resolv.conf")
        if resolv.is_file():
            shutil.copyfile(resolv, self.root / "etc/resolv.conf")
        # A process namespace of its own: whatever Blender leaves running ends with the command.
        outer = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
        handle = log.open("a") if log else None
        try:
            return subprocess.run(
                [*outer, "sh", "-c", "\n".join(lines)],
                text=True,
                stdout=handle,
                stderr=subprocess.STDOUT if handle else None,
                timeout=timeout,
            )
        finally:
            if handle:
                handle.close()


#: Python is asked of the program itself when it runs; here it says which zip to build.
PROGRAMS = (
    Program("4.3", "trixie", "3.13"),
    Program("5.2", "sid", "3.14", ("python3-cattr",)),
)


def main() -> int:
    """Set all programs up side by side; return the exit code."""
    for program in PROGRAMS:
        if obstacle := program.obstacle():
            print(f"real_blender: {obstacle}", file=sys.stderr)
            return 1
    try:
        with ThreadPoolExecutor(len(PROGRAMS)) as side_by_side:
            list(side_by_side.map(Program.prepare, PROGRAMS))
    except SetupFailed as error:
        print(f"real_blender: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
