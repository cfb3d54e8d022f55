"""Try the extension in real Blender programs, from validation to disabling, with and without a window.

    python tools/test_blender.py [--only 4.3] [--match WORDS] [--all] [--screen 1920x1080]

What they write is kept in ``build/test-blender/VERSION``: logs, pictures and screenshots.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import example_plugins
import used_programs
from real_blender import OUTPUT, PROGRAMS, Program, SetupFailed
from release import extension

ROOT = Path(__file__).resolve().parents[1]
#: A small trace for the whole way, and the one that takes long enough to be stopped (of the folder beside
#: the repository, where it is there).
EXAMPLES = ROOT / "examples"
SMALL = EXAMPLES / "vt_markdown_repeat1.json.gz"
LARGE = (
    Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared"))
    / "traces/recorded/vt_pylint_0.9M.json.gz"
)
#: Calls of a trace that is made up where the large one isn't: so many groups of so many.
_GROUPS, _LEAVES = 900, 1000
_TIMEOUT = 420.0
#: Characters of a folder's name.
_LONGEST = 120
#: Where a program keeps compiled kernels from one run to the next.
_KERNELS = "/var/cache/tracevis3d"
#: Software draws each pixel: the large one takes twice as long as the small one. What explains a view needs
#: the middle one.
_SCREEN, _MIDDLE_SCREEN, _LARGE_SCREEN = "1280x800", "1600x900", "1920x1080"
#: What Blender prints of a file in which something is amiss, and what it prints of a machine without devices.
_COMPLAINT = re.compile(r"error|warning|traceback|not found|unknown", re.IGNORECASE)
_OF_THE_MACHINE = re.compile(r"\b(system\.path|cycles|EGL_BAD_MATCH)\b")


Item = TypeVar("Item")


class Failed(Exception):
    """A step went wrong; the message names it and its log."""


class Turn:
    """A step that is a script of ``tests/blender``, taken after others in one Blender.

    Attributes
    ----------
    what : str
        The step's name.
    script : str
        The script's file name.
    words : tuple of str
        What it is given.
    done : str
        The file that it writes if all went well, where it drives a window.
    """

    def __init__(self, what: str, script: str, *words: str, done: str = "") -> None:
        self.what, self.script, self.words, self.done = what, script, words, done

    def into(self, folder: str) -> Turn:
        """Return the step with the folder that it writes to as its last word."""
        return Turn(self.what, self.script, *self.words, folder, done=self.done)


@dataclass
class Way:
    """The steps in one program; with ``match``, those after installing whose name holds one of its words.

    Attributes
    ----------
    screen : str
        Width and height of all windows' screen in pixels, with an "x" between; what each step needs if empty.
    share : int
        Of what is tried in the same way (views, walks through them, programs that are watched), this program
        takes each second one, beginning with this one: 0 or 1. All where it is negative.
    """

    program: Program
    place: Path
    match: tuple[str, ...] = ()
    screen: str = ""
    share: int = -1
    _installed: bool = False
    _failed: list[str] = field(default_factory=list)

    def walk(self) -> None:
        """Take all steps, in order; raise :class:`Failed` at the end if scripts failed."""
        self._walk()
        if self._failed:
            raise Failed("\n".join(self._failed))

    def _walk(self) -> None:
        archive = self.install()
        trace = self.outside(SMALL)
        self.files(trace)
        self.commands(trace)
        self.lists(trace)
        self.in_windows(trace)
        self.live()
        self.plugins(trace)
        self.script("disable and enable", "install/disable.py")
        self.repository(archive, trace)

    def install(self) -> Path:
        """Validate, build and install the extension; return its zip."""
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)
        python = self.program.python.replace(".", "")
        archive = extension.build(extension.Target.parse(f"linux-x64-cp{python}"), self.place)
        self.step("validate the checkout", ["--command", "extension", "validate", "/mnt/project"])
        self.step("validate the zip", ["--command", "extension", "validate", f"/mnt/out/{archive.name}"])
        checkout = ["--source-dir", "/mnt/project", "--output-dir", "/mnt/out"]
        self.step("build with Blender's own builder", ["--command", "extension", "build", *checkout])
        install = ["extension", "install-file", "-r", "user_default", "--enable", f"/mnt/out/{archive.name}"]
        self.step("install", ["--command", *install])
        self._installed = True
        return archive

    def files(self, trace: str) -> None:
        """Save files, and open them with less than they were made with."""
        self.script("import, change, undo, render, save", "files/whole_way.py", trace, "/mnt/out")
        self.script("reopen without the trace", "files/reopen.py", "/mnt/out")
        self.step(
            "render without the extension",
            ["-b", "--factory-startup", *self.python("files/without.py", "/mnt/out")],
        )

    def commands(self, trace: str) -> None:
        """Run the command line inside Blender."""
        command = ["--background", "--command", "tracevis3d"]
        picture = "/mnt/out/command.png"
        # Each program has a command that goes well and one that fails.
        taken = self.shared(
            ("command: info", ["info", trace, "--json"], 0),
            ("command: render", ["render", "icicle", trace, "-o", picture, "--size", "480x270"], 0),
            ("command: an absent trace", ["info", "/mnt/out/absent.json"], 1),
            ("command: a wrong word", ["rendre"], 2),
        )
        for what, words, wanted in taken:
            self.step(what, [*command, *words], wanted)
            if what == "command: render" and not self.passed_over(what):
                self.must_be_there("command.png")

    @property
    def pair(self) -> list[str]:
        """Two runs that do the same."""
        return [self.outside(EXAMPLES / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2)]

    @property
    def sphinx(self) -> list[str]:
        """Two runs that differ."""
        return [self.outside(EXAMPLES / f"vt_sphinxtext_{name}.json.gz") for name in "EF"]

    @property
    def threaded(self) -> str:
        """A trace of several threads that wait."""
        return self.outside(EXAMPLES / "sync_pillow_8w.json.gz")

    @property
    def drum(self) -> str:
        """A trace that is drawn as a drum."""
        return self.outside(EXAMPLES / "weka_parallel_9t.tsv.gz")

    @property
    def memory(self) -> str:
        """A recording of memory; empty where the folder beside the repository is absent."""
        path = LARGE.with_name("memray_pillow_threads.records.tsv.gz")
        return self.outside(path) if path.is_file() else ""

    def lists(self, trace: str) -> None:
        """Take what needs no window: lists, selections, undo."""
        pair, sphinx, threaded = self.pair, self.sphinx, self.threaded
        # The tests take them all in Blender's module, too.
        self.scripts(
            *self.shared(
                Turn("views, search, bookmarks, presets, undo", "working.py", *pair, "/mnt/out/views"),
                Turn("call tree and filters", "lists/tree.py", trace, "/mnt/out/tree"),
                Turn("lists, library, going", "lists/lists.py", *pair, "/mnt/out/lists"),
                Turn("the list of differences", "lists/differences.py", *sphinx),
                Turn("the list of findings", "lists/findings.py", threaded),
                Turn("landmarks for a headset", "explore/immersion.py", threaded),
                Turn("a film on the timeline", "explore/film.py", trace, "/mnt/out/film"),
                Turn("what lights up together", "explore/related.py", *pair, threaded),
                Turn("whatever is greyed out says why", "explore/reasons.py", *pair),
                Turn("undo while detail is shown", "explore/detail_undo.py", trace),
                Turn("undo after each entry of the menu", "explore/menu_undo.py", *pair),
                Turn("the Text editor's templates", "install/templates.py", *pair, "/mnt/out/scripts"),
            )
        )

    def in_windows(self, trace: str) -> None:
        """Drive a window with a mouse and keys."""
        pair, sphinx, threaded = self.pair, self.sphinx, self.threaded
        large = self.outside(LARGE) if LARGE.is_file() else self.generated()
        at_live_views = Turn(
            "point at live views in a window",
            "watching/live_memory.py",
            # The view of memory takes longest: one program arranges it, zooms, and flies into a recording.
            "" if self.share == 0 else self.memory,
            *self.shared("icicle", "interactions", "threads"),
            done="pointed",
        )
        strips = self.shared(
            f"one={trace}", f"two={','.join(sphinx)}", f"threads={threaded}", f"drum={self.drum}"
        )
        self.windows(
            # Looking at what takes long to be read takes software long, too: one program does.
            Turn(
                "import in a window, ESC, undo",
                "windows/importing.py",
                large,
                trace if self.share == 1 else large,
                done="passed",
            ),
            Turn("explore in a window", "windows/exploring.py", trace, done="explored"),
            *self.shared(
                Turn("go along a time drum in a window", "windows/drum.py", self.drum, done="drummed"),
                Turn("turn a cone tree in a window", "windows/cone.py", trace, done="turned"),
                Turn("drag what a wall shows in a window", "windows/slab.py", *pair, done="dragged"),
                Turn("threads as on paper in a window", "sight/paper.py", self.threaded, done="split"),
                Turn("a row of several threads in a window", "sight/groups.py", self.threaded, done="opened"),
                Turn("walk through the call tree in a window", "windows/tree.py", trace, done="walked"),
            ),
            *self.shared(
                Turn(
                    "walk, fly, compare, search in a window", "windows/going.py", *pair, threaded, done="gone"
                ),
                Turn(
                    "from two files to what differs, in a window",
                    "windows/five_minutes.py",
                    *sphinx,
                    done="found",
                ),
            ),
            self.linking(trace),
            Turn("the time strip in a window", "windows/strip.py", *strips, done="stripped"),
            *[at_live_views] * bool(self.memory),
            *self.shared(
                Turn("forms of views in a window", "sight/forms.py", threaded, sphinx[0], done="formed"),
                Turn("stand in a view with a headset", "sight/immersion.py", threaded, done="stood"),
            ),
            Turn("explore by the tool in a window", "windows/tool.py", done="tooled"),
        )
        self.windows(
            self.overlays(trace),
            Turn("an overlay on other screens", "windows/overlay_screens.py", trace, done="screened"),
            *self.shared(
                Turn("cut a slab out in a window", "sight/slabs.py", trace, done="cut"),
                Turn("see more of a view in a window", "sight/seeing.py", trace, done="seen"),
                Turn("open source files from a window", "windows/source.py", done="sourced"),
            ),
            screen=_MIDDLE_SCREEN,
        )
        self.windows(
            Turn("the workspace in a window", "windows/workspace.py", trace, *sphinx, done="worked"),
            *self.shared(
                Turn("align, brush, move, in a window", "sight/moving.py", *sphinx, done="moved"),
                Turn(
                    "read an icicle of several threads in a window",
                    "sight/reading.py",
                    self.drum,
                    done="read",
                ),
            ),
            screen=_LARGE_SCREEN,
        )
        self.without_extension()

    def without_extension(self) -> None:
        """Open what was saved in a window where the extension is absent: nothing is to be complained of."""
        saved = self.place / "workspace.blend"
        if self.passed_over(what := "a saved file in a window without the extension") or not saved.is_file():
            return
        said = self.log.stat().st_size
        turn = Turn(what, "windows/without.py", f"/mnt/out/{saved.name}", done="opened-without")
        self.windows(turn, screen=_LARGE_SCREEN, words=("--factory-startup",))
        with self.log.open(errors="replace") as log:
            log.seek(said)
            lines = [line.strip() for line in log if not _OF_THE_MACHINE.search(line)]
        complaints = [line for line in lines if _COMPLAINT.search(line)]
        if complaints:
            name = f"Blender {self.program.version}"
            self._failed.append(f"{name}: {what!r} made it complain: {complaints[0]}: see {self.log}")

    def overlays(self, trace: str) -> Turn:
        """Return the step that looks at what explains each view."""
        one = self.sphinx[0]
        views = self.shared(
            ("icicle", trace),
            ("cone", trace),
            ("threads", self.threaded),
            ("interactions", self.drum),
            ("compare", ",".join(self.sphinx)),
            *[("memory", self.memory)] * bool(self.memory),
            ("tracks", self.threaded),
            ("matrix", one),
            ("city", one),
            ("ramp", self.threaded),
            ("source", one),
        )
        words = [word for view in views for word in view]
        return Turn(
            "what explains a view, in a window", "windows/overlay.py", *words, done=f"laid-{words[0]}"
        )

    def linking(self, trace: str) -> Turn:
        """Return the step that looks at what lights up together."""
        views = self.shared(
            f"compare={','.join(self.sphinx)}",
            f"icicle={trace}",
            f"threads={self.threaded}",
            f"interactions={self.drum}",
            f"cone={trace}",
        )
        return Turn("what is linked lights up, in a window", "sight/linking.py", *views, done="linked")

    def shared(self, *items: Item) -> tuple[Item, ...]:
        """Return what this program takes of what the two programs share."""
        return items if self.share < 0 else items[self.share :: 2]

    def live(self) -> None:
        """Watch a recording played as a feed, and programs while they run."""
        self.replayed()
        watched = [("watch a web server in a window", used_programs.documentation_server, "threads,memory")]
        if used_programs.editor():
            watched.append(("watch a text editor in a window", used_programs.text_editor, "memory"))
        for what, program, views in self.shared(*watched):
            self.watch(what, program, views)

    def plugins(self, trace: str) -> None:
        """Use plug-ins from a folder."""
        ways = ("packages", example_plugins.as_packages), ("modules", example_plugins.as_modules)
        for how, lay in self.shared(*ways):
            (self.place / how).mkdir(exist_ok=True)
            lay(self.place / how)
            folder, picture = f"/mnt/out/{how}", f"/mnt/out/plugins-{how}.png"
            self.script(
                f"plug-ins from a folder, as {how}", "install/plugins.py", folder, trace, picture, "0"
            )

    def repository(self, archive: Path, trace: str) -> None:
        """Install the extension from a repository in a folder, update it there, and remove it."""
        # Of two programs the newer one: what it does to a repository is Blender's own, our part is the same.
        if self.share == 0 or self.passed_over(what := "repository"):
            return
        folder = self.place / what
        folder.mkdir()
        shutil.copyfile(archive, folder / archive.name)
        self._for_windows(archive, folder / "windows.zip")
        generate = ["server-generate", "--repo-dir", f"/mnt/out/{what}", "--html"]
        add = ["repo-add", "--url", f"file:///mnt/out/{what}/index.json", "tracevis3d_org"]
        here = extension.Target.parse(f"linux-x64-cp{self.program.python.replace('.', '')}")
        version = tomllib.loads((ROOT / extension.MANIFEST).read_text("utf-8"))["version"]
        check = "install/from_repository.py"
        self.run(["--command", "extension", "remove", "tracevis3d"])
        self.step(f"{what}: list", ["--command", "extension", *generate])
        self.step(f"{what}: add", ["--command", "extension", *add])
        install = ["extension", "install", "--sync", "--enable", "tracevis3d"]
        self.step(f"{what}: install", ["--online-mode", "--command", *install])
        # What who installs it wants to see first.
        picture = "/mnt/out/difference.png"
        draw = ["render", "compare", *self.sphinx, "-o", picture, "--draft", "--size", "960x540"]
        self.step(f"{what}: draw a difference", ["--background", "--command", "tracevis3d", *draw])
        self.must_be_there("difference.png")
        self.script(f"{what}: use", check, version, trace)
        # Of two versions in a repository Blender takes either one.
        (folder / archive.name).unlink()
        extension.build(here, folder, version="99.0.0")
        self.run(["--command", "extension", *generate])
        self.step(f"{what}: update", ["--online-mode", "--command", "extension", "update", "--sync"])
        self.script(f"{what}: use what is newer", check, "99.0.0", trace)
        self.step(f"{what}: remove", ["--command", "extension", "remove", "tracevis3d"])
        self.script(f"{what}: nothing is left", check, "none", trace)

    def must_be_there(self, picture: str) -> None:
        """Raise :class:`Failed` unless a picture was written."""
        if not (self.place / picture).is_file():
            raise Failed(f"Blender {self.program.version}: it wrote no {picture}: see {self.log}")

    @staticmethod
    def _for_windows(archive: Path, other: Path) -> None:
        """Write a zip of another platform, which must not be chosen."""
        with zipfile.ZipFile(archive) as packed, zipfile.ZipFile(other, "w") as written:
            manifest = packed.read(extension.MANIFEST).decode()
            written.writestr(extension.MANIFEST, manifest.replace("linux-x64", "windows-x64"))
            written.writestr("__init__.py", "")

    def scripts(self, *turns: Turn) -> None:
        """Run scripts in one Blender without a window, one after the other."""
        self.in_turn(["-b"], turns)

    def windows(self, *turns: Turn, screen: str = "", words: tuple[str, ...] = ()) -> None:
        """Drive one Blender in a window on a screen of its own; each script writes the file ``done``.

        It is started with ``words``, among others.
        """
        screen = self.screen or screen or _SCREEN
        turns = tuple(turn.into("/mnt/out") for turn in turns)
        geometry = ("--window-geometry", "0", "0", *screen.split("x"))
        before = ["sh", "/mnt/project/tests/blender/on_screen.sh", screen, "blender"]
        self.in_turn([*words, "--enable-event-simulate", *geometry], turns, before)

    def in_turn(self, words: list[str], turns: tuple[Turn, ...], before: list[str] | None = None) -> None:
        """Take those steps that are asked for in one Blender; those behind one that fails in another."""
        turns = tuple(turn for turn in turns if not self.passed_over(turn.what))
        while turns:
            ended, failure = self._take(words, turns, before)
            missed = turns[ended:] or tuple(
                t for t in turns if t.done and not (self.place / t.done).is_file()
            )
            if missed or failure:
                what = missed[0].what if missed else turns[-1].what
                self._failed.append(f"Blender {self.program.version}: {what!r} failed: see {self.log}")
            turns = turns[ended + 1 :]

    def _take(
        self, words: list[str], turns: tuple[Turn, ...], before: list[str] | None
    ) -> tuple[int, Failed | None]:
        """Take steps in one Blender; return how many ended, and why Blender did not end well."""
        given = json.dumps([[turn.script, *turn.words] for turn in turns])
        said = self.log.stat().st_size
        failure = None
        try:
            self.run(
                [*words, *self.python("in_turn.py", given)], before=before, timeout=_TIMEOUT * len(turns)
            )
        except Failed as error:
            failure = error
        with self.log.open(errors="replace") as log:
            log.seek(said)
            ended = [line.split() for line in log if line.startswith("TURN ")]
        for turn, (_, _, seconds, *_) in zip(turns, ended):
            self.say(turn.what, float(seconds))
        return len(ended), failure

    def replayed(self) -> None:
        """Watch a recording played as a feed, in a window of the program."""
        if self.passed_over(what := "watch a live feed in a window"):
            return
        recording, endpoint = SMALL.with_name("sync_pillow_8w.json.gz"), used_programs.free_endpoint()
        how = ["--live", endpoint, "--speed", "0.012", "--quiet"]
        words = ["-m", "tracevis3d", "replay", str(recording), *how]
        feed = subprocess.Popen([sys.executable, *words], cwd=ROOT)
        try:
            self.windows(Turn(what, "watching/live.py", endpoint, done="live"))
        finally:
            feed.kill()
            feed.wait()

    def watch(self, what: str, use: Callable[[str, Path], AbstractContextManager[None]], views: str) -> None:
        """Watch a program in a window while it is used."""
        if self.passed_over(what):
            return
        endpoint = used_programs.free_endpoint()
        with use(endpoint, self.place):
            self.windows(Turn(what, "watching/watched.py", endpoint, use.__name__, views, done=use.__name__))

    def passed_over(self, what: str) -> bool:
        """Whether a step was not asked for."""
        return self._installed and bool(self.match) and not any(words in what for words in self.match)

    def outside(self, path: Path) -> str:
        """Return the path inside of a file outside."""
        if path.is_relative_to(ROOT):
            return f"/mnt/project/{path.relative_to(ROOT).as_posix()}"
        return f"/mnt/traces/{path.name}"

    def generated(self) -> str:
        """Write a trace that takes so long to be read that this can be stopped; return its path inside."""
        path = self.place / "long.json"
        with path.open("w") as file:
            file.write('{"traceEvents": [\n')
            end = _GROUPS * _LEAVES
            file.write(f'{{"ph":"X","pid":1,"tid":1,"ts":0,"dur":{end},"name":"main (/made/up.py:1)"}}')
            for group in range(_GROUPS):
                start = group * _LEAVES
                rows = [(start, _LEAVES, f"parse_file_{group % 7}")]
                rows += [(start + i, 0.5, f"parse_{i % 40}") for i in range(_LEAVES)]
                for at, lasts, name in rows:
                    where = f'"ph":"X","pid":1,"tid":1,"ts":{at},"dur":{lasts}'
                    file.write(f',\n{{{where},"name":"{name} (/made/up.py:9)"}}')
            file.write("]}\n")
        return f"/mnt/out/{path.name}"

    @staticmethod
    def python(script: str, *words: str) -> list[str]:
        """Return Blender's words for running a script of ``tests/blender``."""
        return ["--python-exit-code", "3", "--python", f"/mnt/project/tests/blender/{script}", "--", *words]

    def script(self, what: str, script: str, *words: str) -> None:
        """Run a script in Blender without a window."""
        self.step(what, ["-b", *self.python(script, *words)])

    def step(self, what: str, words: list[str], wanted: int = 0) -> None:
        """Run Blender with ``words``; raise :class:`Failed` unless it exits with ``wanted``."""
        if self.passed_over(what):
            return
        started = time.perf_counter()
        try:
            self.run(words, wanted)
        except Failed as error:
            raise Failed(f"{error}: in {what!r}") from None
        self.say(what, time.perf_counter() - started)

    def run(
        self,
        words: list[str],
        wanted: int = 0,
        before: list[str] | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        """Run Blender with ``words``, which go to the log with all that it says."""
        folders = {"/mnt/project": (ROOT, False), "/mnt/out": (self.place, True)}
        if LARGE.is_file():
            folders["/mnt/traces"] = (LARGE.parent, False)
        home = {"HOME": "/mnt/out/home", "LIBGL_ALWAYS_SOFTWARE": "1", "NUMBA_CACHE_DIR": _KERNELS}
        (self.place / "home").mkdir(exist_ok=True)
        with self.log.open("a") as log:
            log.write(f"\n==== blender {' '.join(words)}\n")
        command = [*(before or ["blender"]), *words]
        name = f"Blender {self.program.version}"
        try:
            done = self.program.run(command, folders=folders, environment=home, timeout=timeout, log=self.log)
        except subprocess.TimeoutExpired:
            raise Failed(f"{name}: it took more than {timeout:.0f} s: see {self.log}") from None
        if done.returncode != wanted:
            raise Failed(f"{name}: it exited with {done.returncode}, not {wanted}: see {self.log}")

    def say(self, what: str, seconds: float) -> None:
        """Report that a step went well."""
        print(f"Blender {self.program.version}  {seconds:6.1f} s  {what}", flush=True)

    @property
    def log(self) -> Path:
        """The file that everything is written to."""
        return self.place / "log.txt"


def place_of(version: str, match: Sequence[str]) -> Path:
    """Return the folder of a program in which steps whose names hold ``match`` are taken."""
    return OUTPUT / "-".join([version, *" ".join(match).split()])[:_LONGEST]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Try the extension in real Blender programs.")
    parser.add_argument("--only", choices=[p.version for p in PROGRAMS], help="one of the programs")
    parser.add_argument(
        "--match", action="append", default=[], metavar="WORDS",
        help="only steps whose name holds this, after installing; may be repeated",
    )  # fmt: skip
    parser.add_argument("--screen", default="", metavar="WIDTHxHEIGHT", help="pixels of all windows' screen")
    parser.add_argument(
        "--all",
        action="store_true",
        help="each step in each program; else they share views and walks",
    )
    words = parser.parse_args(arguments)
    programs = [p for p in PROGRAMS if words.only in (None, p.version)]
    for program in programs:
        if obstacle := program.obstacle():
            print(f"test_blender: {obstacle}", file=sys.stderr)
            return 1

    def walk(program: Program) -> bool:
        try:
            place = place_of(program.version, words.match)
            program.prepare()
            share = -1 if words.all or len(programs) == 1 else programs.index(program)
            Way(program, place, tuple(words.match), words.screen, share).walk()
        except (Failed, SetupFailed, extension.BuildError) as error:
            print(f"test_blender: {error}", file=sys.stderr, flush=True)
            return False
        return True

    # Side by side: each program has a folder, a screen and ports of its own.
    with ThreadPoolExecutor(len(programs)) as side_by_side:
        return 0 if all(list(side_by_side.map(walk, programs))) else 1


if __name__ == "__main__":
    sys.exit(main())
