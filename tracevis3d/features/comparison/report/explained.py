"""Findings about two traces as sentences, figures, and the commands that make the figures."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....drawing.output import Output
from ....parameters import in_style, read
from ....progress import Progress, silent
from ....trace.model import Trace
from ....views import registry
from ..findings.evidence import Finding
from ..findings.find import KINDS, Findings
from ..matching.match import Comparison
from ..view.difference.headlines import headline, short
from .aim import settings
from .sentences import caption, sentence

if TYPE_CHECKING:
    from ....drawing.primitives import Drawing


@dataclass(frozen=True, eq=False)
class Explained:
    """The findings about two traces, in words and as parameters of the view compare.

    Attributes
    ----------
    comparison : Comparison
    findings : Findings
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
            Its style and frame are read.
        progress : Progress

        Returns
        -------
        Drawing
        """
        view, settings = registry.find("compare"), self.settings(index)
        settings = in_style(view.parameters, settings, output.style)
        return view.draw(self.traces, read(view.parameters, settings), output.frame, progress)

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
            "certainty": finding.certainty,
            "headline": headline(finding),
            "short": short(finding)[0],
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


def _trace_facts(trace: Trace) -> dict[str, Any]:
    return {
        "file": trace.source.path,
        "hash": trace.source.hash,
        "calls": len(trace.calls),
        "functions": len(trace.functions),
        "span_ns": trace.span_ns,
    }
