"""Findings about two traces, and their forms: facts, a report, figures and a scene."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....atomic import write_text
from ....drawing.output import Output
from ....errors import InputError
from ....parameters import read
from ....places import check_folder
from ....progress import Progress, part, silent
from ....trace.model import Trace
from ....views import registry
from ..findings.evidence import Finding
from ..findings.find import KINDS, TOP, Findings, find
from ..matching.match import Comparison, compare
from .aim import settings
from .markdown import report
from .sentences import caption, sentence
from .viewpoints import write_scene

if TYPE_CHECKING:
    from ....drawing.primitives import Drawing


@dataclass(frozen=True, eq=False)
class Story:
    r"""The findings about two traces.

    Attributes
    ----------
    comparison : Comparison
    findings : Findings

    Examples
    --------
    >>> import tracevis3d as tv
    >>> story = tv.explain(tv.load("old.json.gz"), tv.load("new.json.gz"))
    >>> print("\n".join(story.sentences))
    >>> story.write("explained")
    """

    comparison: Comparison
    findings: Findings

    def __len__(self) -> int:
        return len(self.findings.found)

    def __getitem__(self, index: int) -> Finding:
        return self.findings.found[index]

    @property
    def traces(self) -> tuple[Trace, Trace]:
        """A and B."""
        return self.comparison.traces

    @property
    def sentences(self) -> list[str]:
        """One plain sentence for each finding, the most important first."""
        return [sentence(finding).replace("`", "") for finding in self.findings.found]

    @property
    def names(self) -> list[str]:
        """File names of the figures."""
        return [f"{i:02}-{finding.kind}.png" for i, finding in enumerate(self.findings.found, 1)]

    def settings(self, index: int) -> dict[str, str]:
        """Return the parameters of the view compare that show a finding."""
        return settings(self.findings, self[index])

    def drawing(self, index: int, output: Output, progress: Progress = silent) -> Drawing:
        """Return the figure of a finding.

        Parameters
        ----------
        index : int
            Which finding, from 0.
        output : Output
            Its frame is read.
        progress : Progress

        Returns
        -------
        Drawing
        """
        view = registry.find("compare")
        return view.draw(self.traces, read(view.parameters, self.settings(index)), output.frame, progress)

    def command(self, index: int, output: Output, size: str | None = None) -> str:
        """Return the command line that renders the figure of a finding.

        Parameters
        ----------
        index : int
            Which finding, from 0.
        output : Output
            Style and engine.
        size : str, optional
            Of the figure, as text; None: the usual one.

        Returns
        -------
        str
        """
        words = ["tracevis3d", "render", "compare", *(trace.source.path for trace in self.traces)]
        words += ["-o", self.names[index]]
        for option, value, usual in (("style", output.style, "paper"), ("engine", output.engine, "auto")):
            if value != usual:
                words += [f"--{option}", value]
        if size:
            words += ["--size", size]
        for name, value in self.settings(index).items():
            words += ["--set", f"{name}={value}"]
        return shlex.join(words)

    def facts(self) -> dict[str, Any]:
        """Return everything as plain values, as ``findings.json`` holds it."""
        evidence = self.findings.evidence
        return {
            "traces": [_trace_facts(trace) for trace in self.traces],
            "tau": float(self.comparison.settings.tau),
            "measure": self.comparison.settings.measure,
            "identity": self.comparison.identity.kind,
            "identity_reason": self.comparison.identity.reason,
            "pace": evidence.pace,
            "varies": evidence.noise,
            "left_out": self.findings.left_out,
            "findings": [self._finding_facts(i) for i in range(len(self))],
        }

    def _finding_facts(self, index: int) -> dict[str, Any]:
        finding = self[index]
        return {
            "kind": finding.kind,
            "title": KINDS[finding.kind],
            "score": finding.score,
            "sentence": self.sentences[index],
            "caption": caption(finding),
            "functions": list(finding.functions),
            "path": list(finding.path),
            "calls": list(finding.calls),
            "time_ns": list(finding.time_ns),
            "below": list(finding.below),
            "ranges_ns": [list(span) if span else None for span in finding.ranges],
            "examples": [call if call >= 0 else None for call in finding.examples],
            "group": list(finding.group) if finding.group else None,
            "details": finding.details,
            "figure": self.names[index],
            "settings": self.settings(index),
        }

    def write(
        self,
        folder: str | os.PathLike[str],
        output: Output | None = None,
        *,
        figures: bool = True,
        scene: bool = True,
        walk: str = "",
        size: str | None = None,
        progress: Progress = silent,
    ) -> list[Path]:
        """Write ``report.md``, ``findings.json``, a figure per finding and ``story.blend``.

        Parameters
        ----------
        folder : path
            It is made if it isn't there.
        output : Output, optional
            Style, engine and size of the figures.
        figures, scene : bool
            Whether to write these; they need Blender's module.
        walk : str
            A call path, or the number of a group in the legend, whose match is walked from its root to what
            explains it: the tour of the scene.
        size : str, optional
            The size of ``output``, as it was written, for the commands in the report.
        progress : Progress

        Returns
        -------
        list of Path
            The written files.

        Raises
        ------
        InputError
            If the folder can't be written to.
        """
        output = output or Output()
        place = made_folder(folder)
        written = [place / "findings.json", place / "report.md"]
        write_text(written[0], json.dumps(self.facts(), indent=2, ensure_ascii=False) + "\n")
        write_text(written[1], report(self, output, figures=figures, scene=scene, size=size))
        steps = len(self) * figures + scene
        if figures:
            from ....scene.output.produce import produce

            for i, name in enumerate(self.names):
                mine = part(progress, i / steps, (i + 1) / steps)
                drawing = self.drawing(i, output, part(mine, 0.0, 0.3))
                produce(drawing, place / name, output, progress=part(mine, 0.3, 1.0))
                written.append(place / name)
        if scene:
            path = place / "story.blend"
            write_scene(
                self, path, replace(output, transparent=False), walk, part(progress, 1 - 1 / steps, 1.0)
            )
            written.append(path)
        progress(1.0, "reported")
        return written


def _trace_facts(trace: Trace) -> dict[str, Any]:
    return {
        "file": trace.source.path,
        "hash": trace.source.hash,
        "calls": len(trace.calls),
        "functions": len(trace.functions),
        "span_ns": trace.span_ns,
    }


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder, made if it wasn't there.

    Parameters
    ----------
    folder : path
        With its parents.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If it can't be made or written to.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made ({error.strerror or error})") from None
    check_folder(place / "report.md")
    return place


def tell(comparison: Comparison, top: int = TOP, progress: Progress = silent) -> Story:
    """Find the differences between two compared traces.

    Parameters
    ----------
    comparison : Comparison
    top : int
        How many findings.
    progress : Progress

    Returns
    -------
    Story
    """
    return Story(comparison, find(comparison, top, progress))


def explain(a: Trace, b: Trace, *, top: int = TOP, progress: Progress = silent, **settings: Any) -> Story:
    """Compare two traces, with the settings of :func:`..matching.match.compare`, and return the findings.

    Parameters
    ----------
    a, b : Trace
    top : int
        How many findings.
    progress : Progress
    **settings : object
        ``tau``, ``identity``, ``measure`` and more.

    Returns
    -------
    Story
    """
    comparison = compare(a, b, **settings, progress=part(progress, 0.0, 0.5))
    return tell(comparison, top, part(progress, 0.5, 1.0))
