"""A Blender module whose extensions, settings and caches are the test's own."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "blender"


class Blender:
    """A Blender module with folders of its own, which are empty at first.

    Tests in parallel processes don't share them, but for the compiled kernels.
    """

    def __init__(self, python=sys.executable, version=""):
        # With a dot: setuptools would follow the link to the checkout in it without end.
        place = ROOT / "build" / ".tests" / os.environ.get("PYTEST_XDIST_WORKER", "alone") / "blender"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self.python, self.place, self.version = python, place, version
        cleared = {name: value for name, value in os.environ.items() if not name.startswith("TRACEVIS3D_")}
        self.environment = cleared | {
            "BLENDER_USER_EXTENSIONS": str(place / "extensions"),
            "BLENDER_USER_CONFIG": str(place / "config"),
            "BLENDER_USER_SCRIPTS": str(place / "scripts"),
        }

    @classmethod
    def with_checkout(cls):
        """Return this Python's, with the checkout as its extension: linked, as developers do."""
        made = cls()
        folder = made.place / "extensions" / "user_default"
        folder.mkdir(parents=True)
        (folder / "tracevis3d").symlink_to(ROOT)
        return made

    def python_says(self, *words, environment=None):
        """Run its Python; return the finished process."""
        return subprocess.run(
            [self.python, *map(str, words)],
            env=environment or self.environment,
            capture_output=True,
            text=True,
            timeout=500,
            cwd=self.place,
        )

    def script(self, name, *words, environment=None):
        """Run a script of ``tests/blender``; it must succeed."""
        done = self.python_says(SCRIPTS / "leaving.py", SCRIPTS / name, *words, environment=environment)
        assert done.returncode == 0, f"{name}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert done.stdout.endswith("LEFT 0\n"), done.stdout[-400:]
        return done.stdout

    def scripts(self, *turns):
        """Run scripts of ``tests/blender`` in one process, in turn.

        Each is a tuple of its name and its words. Returns what each printed, by its name.
        """
        done = self.script("in_turn.py", json.dumps(turns, default=str))
        ended = [line.split()[1] for line in done.splitlines() if line.startswith("TURN ")]
        assert ended == [name for name, *_ in turns]
        _, *parts = re.split(r"^==== (\S+)$", done, flags=re.MULTILINE)
        return dict(zip(parts[::2], parts[1::2], strict=True))

    def own_tool(self, *words):
        """Run the module's own extension tool (``validate``, ``build``)."""
        return self.python_says(self._tool, *words)

    @cached_property
    def _tool(self):
        found = self.python_says("-c", "import bpy; print('SCRIPTS', bpy.utils.system_resource('SCRIPTS'))")
        (scripts,) = [
            line.split(" ", 1)[1] for line in found.stdout.splitlines() if line.startswith("SCRIPTS ")
        ]
        return Path(scripts) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
