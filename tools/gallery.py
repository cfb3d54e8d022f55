"""Makes the pictures of the docs: the gallery and its page, a film of a difference, and those of other pages.

``python tools/gallery.py [NAME…]``: the views named, or all; ``film`` is the picture that moves at the top of
README, ``films`` are those that commands make of their findings; a file such as ``threads.jpg`` is one of
docs/pictures/commands.toml, ``pages`` are all of them; ``go.jpg`` is that of a format, ``formats`` are all of
those.
Recorded traces lie in the folder ``shared`` beside the repository, or in ``TRACEVIS3D_SHARED``.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared")) / "traces" / "recorded"
OUT = ROOT / "docs" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"
FILM = OUT / "difference.webp"
SIZE = "800x450"
#: Pictures of other pages: file -> what `tracevis3d render` is given.
PAGES = ROOT / "docs" / "pictures"
OF_PAGES: dict[str, str] = tomllib.loads((PAGES / "commands.toml").read_text("utf-8"))
PAGES_SIZE = "1600x900"
#: Pictures of examples/recipes.md: format -> what `tracevis3d render` is given.
FORMATS = PAGES / "formats"
OF_FORMATS: dict[str, str] = tomllib.loads((FORMATS / "commands.toml").read_text("utf-8"))
#: View -> traces and parameters.
PICTURES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "icicle": (("chromium_docs_page.json.gz",), {}),
    "compare": (("vt_rst2html_docutils0.20.json.gz", "vt_rst2html_docutils0.22.json.gz"), {}),
    "threads": (("sync_pillow_8w.json.gz",), {}),
    "cone": (("vt_markdown_repeat1.json.gz",), {}),
    "interactions": (("extravis_J48_weather.rsf.gz",), {}),
    "memory": (("memray_pillow_threads.records.tsv.gz",), {}),
    "matrix": (("sync_pillow_8w.json.gz",), {}),
    "ramp": (("vt_markdown_repeat1.json.gz",), {}),
    "city": (("vt_rst2html_docutils0.22.json.gz",), {}),
    "source": (("vt_markdown_repeat1.json.gz",), {}),
    "tracks": (("chromium_docs_page.json.gz",), {}),
}
#: Films of findings: file -> what it tells, the second that its picture is of, and its command.
FILMS: dict[str, tuple[str, float, str]] = {
    "difference.mp4": (
        "Two versions of docutils convert the same page", 9.0,
        "explain vt_rst2html_docutils0.20.json.gz vt_rst2html_docutils0.22.json.gz",
    ),
    "waits.mp4": (
        "Eight threads make thumbnails, and queue for one lock", 9.0, "waits sync_pillow_8w.json.gz"
    ),
    "memory.mp4": (
        "What pictures leave in memory", 9.0, "memory memray_pillow_threads.records.tsv.gz"
    ),
}  # fmt: skip
FILMS_SIZE = "960x540"
#: The film at the top of README: frames a second, size, quality of WebP, its shots, and what it leaves out.
FPS, FILM_SIZE, QUALITY = 10, "720x406", 60
SHOTS = (
    {"shot": "establish", "seconds": 2.5,
     "caption": "Two versions of docutils convert the same page: A above, B below"},
    {"shot": "fly_to", "trace": "B", "time": "240ms..360ms", "seconds": 3, "travel": 2,
     "caption": "Red and purple: what only the new version calls, or calls more often"},
    {"shot": "overview", "seconds": 2.5, "caption": "Blue: the same work, called from elsewhere"},
)  # fmt: skip
BARE = {"annotate": "0", "repeats": "0", "overview": "no"}


def command(view: str, traces: Sequence[str], settings: Mapping[str, str], style: str) -> str:
    """Return the command line that makes a picture."""
    sets = "".join(f" --set {name}={value}" for name, value in settings.items())
    words = f"tracevis3d render {view} {' '.join(traces)} -o {view}-{style}.jpg --style {style}"
    return f"{words} --engine workbench --size {SIZE}{sets}"


def draw(names: Sequence[str]) -> None:
    """Draw views in each style."""
    import tracevis3d as tv
    from tracevis3d.drawing.output import STYLES

    OUT.mkdir(parents=True, exist_ok=True)
    for view in names:
        files, settings = PICTURES[view]
        traces = [tv.load(RECORDED / file) for file in files]
        for style in STYLES:
            figure = tv.view(view, *traces, **settings)
            figure.render(OUT / f"{view}-{style}.jpg", style=style, engine="workbench", size=SIZE)
            print(f"{view}-{style}.jpg", flush=True)


def draw_pages(names: Sequence[str]) -> None:
    """Draw pictures of other pages by the command that they are listed with."""
    from tracevis3d.cli import main as tracevis3d

    for name in names:
        words = [str(RECORDED / word) if ".gz" in word else word for word in shlex.split(OF_PAGES[name])]
        look = ["-o", str(PAGES / name), "--engine", "workbench", "--size", PAGES_SIZE, "--quiet"]
        if code := tracevis3d(["render", *words, *look]):
            sys.exit(code)
        print(name, flush=True)


def recording(name: str) -> Path:
    """Return where a recording lies: among the examples, the tests' data or the recorded traces."""
    found = (path for folder in (ROOT / "examples", ROOT / "tests" / "data") for path in folder.rglob(name))
    return next(found, RECORDED / name)


def draw_formats(names: Sequence[str]) -> None:
    """Draw a picture of a recording in each format."""
    from tracevis3d.cli import main as tracevis3d

    for name in names:
        view, file, *words = shlex.split(OF_FORMATS[name])
        look = ["-o", str(FORMATS / f"{name}.jpg"), "--engine", "workbench", "--size", SIZE, "--quiet"]
        if code := tracevis3d(["render", view, str(recording(file)), *words, *look]):
            sys.exit(code)
        print(f"{name}.jpg", flush=True)


def films() -> None:
    """Make the films of findings, and a picture of each."""
    import shutil

    import tracevis3d as tv
    from tracevis3d.cli import main as tracevis3d
    from tracevis3d.scene import compat
    from tracevis3d.stories.read import read

    usual = compat.set_movie_output

    def smaller(render: Any, container: str) -> None:
        # A gallery is downloaded: half of the bytes, which is not seen but in stills.
        usual(render, container)
        render.ffmpeg.constant_rate_factor = "LOW"

    compat.set_movie_output = smaller
    with tempfile.TemporaryDirectory() as folder:
        for name, (_, second, words) in FILMS.items():
            made = Path(folder, name)
            given = [str(RECORDED / word) if ".gz" in word else word for word in words.split()]
            look = ["--film", str(made), "--size", FILMS_SIZE, "--quiet"]
            if code := tracevis3d([*given, *look]):
                sys.exit(code)
            shutil.copy(made, OUT / name)
            story = read(made.with_suffix(".yaml"))
            first, *_ = frames_of(story, {file: tv.load(file) for file in story.files}, [second])
            first.save((OUT / name).with_suffix(".jpg"), quality=85)
            print(f"{name}: {made.stat().st_size / 1e6:.1f} MB", flush=True)


def page() -> str:
    """Return the page with all pictures that are there."""
    from tracevis3d.drawing.output import STYLES
    from tracevis3d.views import registry

    parts = [
        "# Gallery",
        "Films of findings, and each view in each style, drawn from recorded programs, with their "
        "commands (`make gallery`).",
    ]
    for name, (sentence, _, words) in FILMS.items():
        if not (OUT / name).is_file():
            continue
        picture = f"gallery/{Path(name).with_suffix('.jpg')}"
        parts += [f"## {sentence}", f"[![The film {name}: {sentence}]({picture})](gallery/{name})"]
        parts.append(f"```\ntracevis3d {words} --film {name} --size {FILMS_SIZE}\n```")
    for view, (files, settings) in PICTURES.items():
        shown = [style for style in STYLES if (OUT / f"{view}-{style}.jpg").is_file()]
        if not shown:
            continue
        sentence = registry.find(view).sentence
        parts += [f"## {view}", f"{sentence}."]
        parts += [f"![{view}, {style}: {sentence}](gallery/{view}-{style}.jpg)" for style in shown]
        commands = "\n".join(command(view, files, settings, style) for style in shown)
        parts.append(f"```\n{commands}\n```")
    return "\n\n".join(parts) + "\n"


def frames_of(story: Any, traces: Mapping[str, Any], seconds: Sequence[float] = ()) -> list[Any]:
    """Return frames of a story as pictures: those at some seconds, or all."""
    from PIL import Image

    from tracevis3d.scene.films.staged import Frames
    from tracevis3d.stories.film import Film, output_of

    made = Film(story, traces, output_of(story))
    shown = [made.frames[int(at * made.output.fps)] for at in seconds] or made.frames
    with tempfile.TemporaryDirectory() as folder:
        frames = Frames(made.output, Path(folder))
        frames.make(frames.missing(shown))
        frames.close()
        return [Image.open(frames.path(one)).convert("RGB") for one in shown]


def film() -> None:
    """Make the picture that moves."""
    import tracevis3d as tv
    from tracevis3d.stories.read import from_words

    files = [str(RECORDED / file) for file in PICTURES["compare"][0]]
    words = {"view": "compare", "traces": files, "title": "Where two versions differ", "shots": list(SHOTS),
             "set": dict(BARE), "size": FILM_SIZE, "fps": FPS}  # fmt: skip
    story = from_words(words, "the film of the gallery")
    first, *others = frames_of(story, {file: tv.load(file) for file in files})
    first.save(FILM, save_all=True, append_images=others, duration=round(1000 / FPS), loop=0,
               quality=QUALITY, method=4)  # fmt: skip
    print(f"{FILM.name}: {FILM.stat().st_size / 1e6:.1f} MB", flush=True)


def main(words: Sequence[str]) -> int:
    """Make what is named; all if nothing is."""
    groups = *PICTURES, "film", "films", "pages", "formats"
    wanted = list(words) or [*groups]
    of_formats = [f"{name}.jpg" for name in OF_FORMATS]
    unknown = [name for name in wanted if name not in (*groups, *OF_PAGES, *of_formats)]
    if unknown:
        known = ", ".join(groups)
        print(f"{unknown[0]}: one of {known}, or a picture of a page is expected", file=sys.stderr)
        return 2
    if not RECORDED.is_dir():
        print(
            f"{RECORDED}: the recorded traces are not there; TRACEVIS3D_SHARED names their folder",
            file=sys.stderr,
        )
        return 1
    draw([name for name in wanted if name in PICTURES])
    if "film" in wanted:
        film()
    if "films" in wanted:
        films()
    draw_pages([name for name in OF_PAGES if name in wanted or "pages" in wanted])
    draw_formats([name for name in OF_FORMATS if f"{name}.jpg" in wanted or "formats" in wanted])
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
