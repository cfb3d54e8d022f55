"""The API for scripts: load a trace, choose a view, render it.

Examples
--------
>>> import tracevis3d as tv
>>> trace = tv.load("run.tsv")
>>> tv.icicle(trace, color="function").render("run.png", style="stage")  # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import parameters as declarations
from .atomic import write_text
from .drawing.animation import Change, eased, read_changes
from .drawing.frame import Frame
from .drawing.output import FILMS, PAGES, Output, need_blender
from .drawing.output import check as check_output
from .drawing.primitives import Drawing
from .errors import InputError, TraceVisError, UsageError
from .formats.files import check_writable, load, save
from .progress import Progress, part, silent
from .trace.model import ALLOC, IO, RELEASE, WAIT, Trace
from .trace.names import known_from
from .units import duration
from .version import __version__

if TYPE_CHECKING:
    from .analysis.search import Found
    from .features.comparison.matching.many_traces import Similarities
    from .features.comparison.matching.match import Comparison
    from .features.comparison.report.story import Story
    from .queries.database import Answer
    from .tables.table import Table

__all__ = [
    "Figure",
    "Output",
    "check_font",
    "check_output",
    "check_writable",
    "explain",
    "film",
    "filtered",
    "info",
    "load",
    "match",
    "memory_facts",
    "panels",
    "patterns",
    "phases",
    "save",
    "query",
    "search",
    "similarity",
    "table",
    "view",
    "write_report",
]


#: Maximum number of times that a picture is drawn again for its exact scale, and the tolerance of the latter.
_MEASURED, _SAME_SCALE = 3, 1e-4


def filtered(trace: Trace, stack: str) -> Trace:
    """Return ``trace`` without the calls that a filter stack hides.

    Parameters
    ----------
    trace : Trace
    stack : str
        Filters with ``;`` between them, such as ``"utilities; name(pattern=log, what=call)"``; they are
        listed by ``tracevis3d filters``.

    Raises
    ------
    UsageError
        If the stack can't be read.
    InputError
        If no call is left.

    Returns
    -------
    Trace

    Examples
    --------
    >>> import tracevis3d as tv
    >>> len(tv.filtered(tv.load("run.tsv"), "name(pattern=parse)").calls)
    2
    """
    from .filters.facts import Facts
    from .filters.reduce import reduced
    from .filters.stack import apply, parse

    return reduced(trace, apply(parse(stack), Facts(trace)))


def info(trace: Trace, progress: Progress = silent) -> dict[str, Any]:
    """Return the facts of a trace, as ``tracevis3d info --json`` prints them.

    Parameters
    ----------
    trace : Trace
    progress : Progress

    Returns
    -------
    dict
        Counts, what a profile's samples add up to by kind, the file's format and hash, times in
        nanoseconds, and the problems that were repaired.
        ``distinct_sets`` is None where they are too many to find in seconds.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> facts = tv.info(tv.load("run.tsv"))
    >>> facts["calls"], facts["functions"], facts["span_ns"]
    (4, 3, 1000)
    """
    from .analysis.sets import distinct_sets
    from .analysis.subtrees import distinct_subtrees
    from .trace.profile import totals

    progress(0.0, "finding distinct subtrees")
    subtrees = distinct_subtrees(trace.calls)
    progress(0.6, "finding distinct sets")
    try:
        sets: int | None = len(distinct_sets(subtrees))
    except InputError:  # a trace made so that its sets take forever: the other facts still hold
        sets = None
    kinds = np.bincount(trace.sync.kind, minlength=3)
    return {
        "file": trace.source.path,
        "format": trace.source.format,
        "hash": trace.source.hash,
        "origin_ns": trace.origin_ns,
        "span_ns": trace.span_ns,
        "calls": len(trace.calls),
        "threads": int(np.count_nonzero(trace.threads.count)),
        "functions": len(trace.functions),
        "max_depth": int(trace.calls.depth.max(initial=0)),
        "distinct_subtrees": len(subtrees),
        "distinct_sets": sets,
        "waits": int(kinds[WAIT]),
        "releases": int(kinds[RELEASE]),
        "io": int(kinds[IO]),
        "allocations": int(np.count_nonzero(trace.memory.kind == ALLOC)),
        "counters": len(trace.counters),
        "spans": len(trace.spans),
        "flows": len(trace.flows),
        "instants": len(trace.instants),
        "samples": totals(trace),
        "problems": trace.problems.as_dict(),
    }


def match(a: Trace, b: Trace, **settings: Any) -> Comparison:
    """Compare two traces: which calls match, how many, in which groups.

    The definitions are those of TraceDiff (Trümper, Döllner, Telea), section III.

    Parameters
    ----------
    a, b : Trace
    **settings
        ``tau``, ``identity``, ``measure`` and more: see :func:`.features.comparison.matching.match.compare`.

    Returns
    -------
    Comparison
        :func:`.features.comparison.matching.summary.summary` returns its facts.

    Raises
    ------
    UsageError
        If a setting is invalid.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> comparison = tv.match(tv.load("run.tsv"), tv.load("new.tsv"))
    >>> comparison.call_pairs, comparison.groups.count
    (9, 1)
    """
    from .features.comparison.matching.match import compare

    return compare(a, b, **settings)


def explain(a: Trace, b: Trace, *, top: int = 10, progress: Progress = silent, **settings: Any) -> Story:
    """Find the differences between two traces, the most important first.

    Parameters
    ----------
    a, b : Trace
    top : int
        Maximum number of findings.
    progress : Progress
    **settings
        Of :func:`.features.comparison.matching.match.compare`.

    Returns
    -------
    Story
        ``story.sentences`` describes the findings, ``story.write("folder")`` writes a report with figures and
        a scene.

    Raises
    ------
    UsageError
        If a setting is invalid.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> story = tv.explain(tv.load("run.tsv"), tv.load("new.tsv"))
    >>> story[0].kind, story[0].functions
    ('repetitions', ('parse', 'parse'))
    """
    from .features.comparison.report.story import explain as find

    return find(a, b, top=top, progress=progress, **settings)


def phases(
    trace: Trace, *, level: str = "auto", by: str = "auto", least: float | None = None, outliers: int = 10
) -> dict[str, Any]:
    """Return the phases of a run, as ``tracevis3d phases --json`` prints them.

    Parameters
    ----------
    trace : Trace
    level : {"auto", "function", "class", "module"}
        What the elements are that call each other.
    by : {"auto", "packages", "folders", "threads"}
        What contains them.
    least : float, optional
        Share of the variation that each cut has to explain; less finds more phases.
    outliers : int
        Maximum number of rare interactions listed.

    Returns
    -------
    dict

    Raises
    ------
    UsageError
        If ``least`` is not above 0 and at most 1.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> facts = tv.phases(tv.load("run.tsv"), level="function")
    >>> facts["elements"], facts["calls"]
    (3, 3)
    """
    from .features.interactions.patterns import phase_facts
    from .features.interactions.phases import LEAST

    return phase_facts(trace, level, by, LEAST if least is None else least, outliers)


def patterns(
    trace: Trace,
    *,
    stretch: tuple[int, int] | None = None,
    level: str = "auto",
    by: str = "auto",
    similarity: float = 0.8,
) -> dict[str, Any]:
    """Return what recurs in a run, as ``tracevis3d patterns --json`` prints it.

    Parameters
    ----------
    trace : Trace
    stretch : (int, int), optional
        Nanoseconds: a marked stretch, whose exact and near repeats are found too.
    level, by : str
        As for :func:`phases`.
    similarity : float
        Share of the calls that a repeat of the stretch has in common with it.

    Returns
    -------
    dict

    Examples
    --------
    >>> import tracevis3d as tv
    >>> facts = tv.patterns(tv.load("run.tsv"))
    >>> facts["distinct_subtrees"]
    3
    """
    from .features.interactions.patterns import pattern_facts

    start, end = stretch or (None, None)
    return pattern_facts(trace, start, end, level, by, similarity)


def query(sql: str, *traces: Trace) -> Answer:
    """Run an SQL query on traces.

    Parameters
    ----------
    sql : str
        A SELECT, or the name of a ready query; ``tracevis3d query --list`` shows the tables and the names.
    *traces : Trace
        With several, each table has a column ``trace``: A, B, ….

    Returns
    -------
    Answer
        Its ``rows``, or :meth:`~.queries.database.Answer.to_pandas` and similar;
        ``calls()`` are the calls that a column ``id`` selects.

    Raises
    ------
    UsageError
        If the query can't be run, or DuckDB or pyarrow is missing.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.query("SELECT count(*) AS calls FROM calls", tv.load("run.tsv")).rows  # doctest: +SKIP
    [{'calls': 4}]
    """
    from .queries.database import run

    return run(sql, traces)


def table(name: str, *traces: Trace) -> Table:
    """Return one of the tables that queries read, for other libraries.

    Parameters
    ----------
    name : str
        Such as ``calls``, ``waits`` or ``blocks`` of one trace, ``matches`` or ``findings`` of two.
    *traces : Trace

    Returns
    -------
    Table
        See :meth:`~.tables.table.Table.to_arrow`, ``to_pandas`` and ``to_polars``.

    Raises
    ------
    UsageError
        If there is none of that name, or it is about more or fewer traces.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.table("functions", tv.load("run.tsv")).only(["name", "calls"]).as_rows()[0]
    {'name': 'main', 'calls': 1}
    """
    from .queries.sources import table as find

    return find(name, traces)


def search(
    trace: Trace, pattern: str, *, start: int | None = None, end: int | None = None, **how: Any
) -> Found:
    """Find the calls of the functions whose names match ``pattern``.

    Parameters
    ----------
    trace : Trace
    pattern : str
    start, end : int, optional
        Nanoseconds: calls that start from ``start`` on and before ``end``.
    **how
        ``kind``, ``full`` and ``case``: see :class:`.analysis.search.Query`.

    Returns
    -------
    Found
        How many there are; the first, the last, the next and the previous ones.

    Raises
    ------
    UsageError
        If the pattern is empty or no regular expression where ``kind="regex"``.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> found = tv.search(tv.load("run.tsv"), "par*", kind="wildcard")
    >>> found.count, found.first(1).tolist()
    (2, [1])
    """
    from .analysis.search import Query
    from .analysis.search import search as find

    return find(trace, Query(pattern, **how), start, end)


def similarity(*traces: Trace, **settings: Any) -> Similarities:
    """Compare each trace with each other one: how similar they are as a whole.

    Parameters
    ----------
    *traces : Trace
        Two or more.
    **settings
        ``tau``, ``identity``, ``measure`` and more: see
        :func:`.features.comparison.matching.many_traces.similarities`.

    Returns
    -------
    Similarities
        ``best_order`` of :mod:`.features.comparison.matching.many_traces` orders the traces by it,
        ``clusters`` joins them.

    Raises
    ------
    UsageError
        If there are fewer than two traces, or a setting is invalid.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> found = tv.similarity(tv.load("run.tsv"), tv.load("new.tsv"))
    >>> found.functions.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    from .features.comparison.matching.many_traces import similarities

    return similarities(traces, **settings)


def waits(
    trace: Trace,
    *,
    rules: Sequence[str] = (),
    every: bool = False,
    end: str | None = None,
    at: str | None = None,
) -> dict[str, Any]:
    """Return who waits for whom, as ``tracevis3d waits --json`` prints it.

    Parameters
    ----------
    trace : Trace
    rules : sequence of path
        Files of rules that say which functions wait, release and transfer; they go before the built-in ones.
    every : bool
        List waits that did not block too.
    end : str, optional
        The thread whose end the critical path leads to: its name or id; by default that which ends last.
    at : str, optional
        The moment that it leads to, such as ``1.5s``; by default the end of the thread's last call.

    Raises
    ------
    InputError
        If a rule file can't be read.
    UsageError
        If no thread is called ``end``, or ``at`` is not a time.

    Returns
    -------
    dict

    Examples
    --------
    >>> import tracevis3d as tv
    >>> facts = tv.waits(tv.load("run.tsv"))
    >>> facts["waits"]
    []
    """
    from .features.waits.summary import waits_facts

    return waits_facts(trace, rules=rules, every=every, end=end, at=at)


def memory_facts(trace: Trace, *, most: int = 20) -> dict[str, Any]:
    """Return what is in memory, and the findings about it, as ``tracevis3d memory --json`` prints it.

    Parameters
    ----------
    trace : Trace
    most : int
        Maximum number of call sites listed, those that allocate most first.

    Returns
    -------
    dict
        Bytes, and times in nanoseconds.

    Raises
    ------
    InputError
        If the trace has no allocations.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> facts = tv.memory_facts(tv.load("memory.tv3"))
    >>> facts["blocks"], facts["call_sites"]
    (2, 1)
    """
    from .features.memory import summary as allocation_summary
    from .features.memory.view.arrangement import memory_use

    return allocation_summary.memory_facts(memory_use(trace), most)


@dataclass(repr=False)
class Figure:
    """A view of traces with its parameters: what can be drawn and rendered.

    Attributes
    ----------
    name : str
        The view's name.
    traces : tuple of Trace
    settings : dict
        Values, or texts, of the view's parameters; the others keep their defaults.
    stages : dict
        Seconds that each stage has taken, for the report.
    filters : str
        A filter stack: what it hides is left out.
    select : str
        A query whose column ``id`` names calls: all other calls are drawn as ghosts.

    Raises
    ------
    UsageError
        If there is no such view, or a parameter is invalid.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> figure = Figure("icicle", (tv.load("run.tsv"),), {"opening": 0})
    >>> figure.drawing().counts["calls"]
    4
    """

    name: str
    traces: tuple[Trace, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)
    filters: str = ""
    select: str = ""

    def __post_init__(self) -> None:
        from .views import registry as views  # with the metadata of elements: reading does not need it

        self.view = views.find(self.name)
        self.parameters: Any = declarations.read(self.view.parameters, self.settings)

    def of(self, *traces: Trace) -> Figure:
        """Return the same figure of other traces.

        Parameters
        ----------
        *traces : Trace

        Returns
        -------
        Figure

        Examples
        --------
        >>> import tracevis3d as tv
        >>> tv.view("icicle", tv.load("run.tsv")).of(tv.load("new.tsv")).drawing().counts["calls"]
        3
        """
        return replace(self, traces=traces, stages=dict(self.stages))

    def drawing(self, frame: Frame | None = None, progress: Progress = silent) -> Drawing:
        """Compute the drawing for a picture of a size.

        Parameters
        ----------
        frame : Frame, optional
            The size of the picture; default 1920 x 1080.
        progress : Progress

        Returns
        -------
        Drawing

        Raises
        ------
        UsageError
            If the view takes more or fewer traces, or a parameter does not fit them.
        """
        least, most = self.view.traces
        if not least <= len(self.traces) <= most:
            raise UsageError(f"the view {self.name!r} takes {least} to {most} traces, not {len(self.traces)}")
        started = time.perf_counter()
        if self.filters.strip():
            from .views import filtering

            drawing = filtering.draw(
                self.view, self.traces, self.parameters, self.filters, frame or Frame(), progress
            )
        else:
            drawing = self.view.draw(self.traces, self.parameters, frame or Frame(), progress)
        if self.select.strip():
            drawing = self._selected(drawing)
        late = max(map(known_from, self.traces), default=0)
        if late:
            # First, since all else is to be read with it.
            note = f"the viewer joined {duration(late)} after the feed began: what was before is not known"
            # Not all styles have notes, and long titles are cut at their end.
            title = f"Known from {duration(late)} on: {drawing.title}" if drawing.title else ""
            drawing = replace(drawing, title=title, notes=(note, *drawing.notes))
        self.stages["draw"] = time.perf_counter() - started
        return drawing

    def _selected(self, drawing: Drawing) -> Drawing:
        """Return the drawing with all that the query does not select as ghosts."""
        from .drawing.filtered import thinned
        from .filters.stack import FADED, SHOWN
        from .queries.database import run

        answer = run(self.select, self.traces)
        states, count = {}, 0
        for source, trace in enumerate(self.traces):
            calls = answer.calls(source)
            calls = calls[(calls >= 0) & (calls < len(trace.calls))]
            states[source] = np.full(len(trace.calls), FADED, np.uint8)
            states[source][calls] = SHOWN
            count += len(calls)
        if not count:
            raise UsageError("--select: the query selects no call")
        lit = thinned(drawing, states)
        return replace(
            lit, notes=(*lit.notes, f"{count:,} calls are selected; the others are drawn as ghosts")
        )

    def _repr_png_(self) -> bytes | None:
        """Return a draft for a notebook to show; None where it can't be rendered."""
        import tempfile

        with tempfile.TemporaryDirectory(prefix="tracevis3d-") as folder:
            path = Path(folder) / "draft.png"
            try:
                self.render(path, draft=True, frame=Frame(1280, 720))
            except TraceVisError as error:
                print(error)
                return None
            return path.read_bytes()

    def __repr__(self) -> str:
        of = ", ".join(trace.source.name for trace in self.traces)
        return f"<Figure {self.name} of {of or 'no trace yet'}>"

    def render(
        self,
        path: str | os.PathLike[str],
        output: Output | None = None,
        *,
        animate: Mapping[str, Any] | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> dict[str, Any]:
        """Render into a picture, film or scene file, by the suffix of ``path``.

        Parameters
        ----------
        path : path
            .png .jpg .exr .webp, .svg .pdf, .mp4 .mkv, .blend .glb .usdc, .html
        output : Output, optional
            Style, engine, size and so on; ``options`` are fields of it, ``size`` may be a text
            such as ``180mmx100mm`` (with ``dpi``).
        animate : dict, optional
            For films: parameters that change -> ``(from, to)``, or ``"from..to"``: numbers or times.
        progress : Progress
        **options : object
            Fields of :class:`Output`, in place of those of ``output``; ``dpi`` goes with ``size``;
            ``font`` and ``font_size`` as for :meth:`.drawing.frame.Frame.set_in`.

        Returns
        -------
        dict
            The report: what was drawn, how long each stage took, from which sources.

        Raises
        ------
        UsageError
            If an option is invalid.
        InputError
            If the file can't be written.
        MissingDependency
            If Blender is not there.
        """
        output = _output(path, output, options)
        if output.is_picture(path):
            settings = declarations.in_style(self.view.parameters, self.settings, output.style)
            if settings != dict(self.settings):
                styled = replace(self, settings=settings)
                return styled.render(path, output, animate=animate, progress=progress)
        changes = self.changes(path, animate)
        if changes and output.sound:
            raise UsageError("--sound: where parameters change (--animate) no time runs that could be heard")
        if Path(path).suffix.lower() in PAGES:
            return self._page(path, output, progress)
        from .figures import recipe as recipes
        from .scene.output.produce import produce

        changing = self._changing(changes, output.composed.frame) if changes else None
        first = part(progress, 0.0, 0.2)
        drawing = changing(0.0) if changing is not None else self._measured(output, first)
        produced = produce(
            drawing,
            path,
            output,
            changing=changing,
            recipe=recipes.as_text(self.recipe(path, output, animate)),
            traces=self.traces,
            progress=part(progress, 0.2, 1.0),
        )
        self.stages.update(produced.stages)
        return self._report(drawing, output, produced.counts)

    def _measured(self, output: Output, progress: Progress) -> Drawing:
        """Return the drawing, drawn again where a pixel is not as wide as it was taken to be."""
        from .scene.build import pixels_of_unit

        output = output.composed
        drawing = self.drawing(output.frame, progress)
        for _ in range(_MEASURED):
            if not drawing.pixels_per_unit:
                break
            taken = pixels_of_unit(drawing, output.style, output.frame)
            if taken is None or abs(taken / drawing.pixels_per_unit - 1) < _SAME_SCALE:
                break
            drawing = self.drawing(replace(output.frame, pixels_per_unit=taken), progress)
        return drawing

    def _page(self, path: str | os.PathLike[str], output: Output, progress: Progress) -> dict[str, Any]:
        from .figures import caption
        from .web import page

        drawing = self.drawing(output.frame, part(progress, 0.0, 0.6))
        started = time.perf_counter()
        said = caption.sentences(drawing.title, self.view.sentence, drawing.notes)
        counts = page.write(drawing, self.traces, path, output.style, said)
        self.stages["page"] = time.perf_counter() - started
        progress(1.0, "done")
        return self._report(drawing, output, counts)

    def recipe(
        self, path: str | os.PathLike[str], output: Output, animate: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return all that is needed to make a picture again, as ``tracevis3d again`` reads it.

        Parameters
        ----------
        path : path
            The picture: traces are named by where they lie from it.
        output : Output
        animate : mapping of str to object, optional
            As for :meth:`render`.

        Returns
        -------
        dict
            Ready for JSON.

        Examples
        --------
        >>> import tracevis3d as tv
        >>> tv.view("icicle", tv.load("run.tsv")).recipe("run.png", Output())["traces"][0]["file"]
        'run.tsv'
        """
        folder = Path(path).absolute().parent
        frame, changing = output.frame, animate or {}
        words = {
            "style",
            "engine",
            "samples",
            "transparent",
            "seconds",
            "fps",
            "draft",
            "stereo",
            "panorama",
            "device",
        }
        return {
            "tracevis3d": __version__,
            "view": self.name,
            "traces": [
                {"file": _from(folder, trace.source.path), "sha256": trace.source.hash}
                for trace in self.traces
            ],
            "parameters": asdict(self.parameters),
            "filters": self.filters,
            "select": self.select,
            "animate": {n: v if isinstance(v, str) else list(v) for n, v in changing.items()},
            "output": {
                "size": f"{frame.width}x{frame.height}",
                "dpi": frame.dpi,
                "font_size": frame.points,
                "font": _from(folder, frame.font) if Path(frame.font).suffix else frame.font,
                **{name: value for name, value in asdict(output).items() if name in words},
            },
        }

    def changes(self, path: str | os.PathLike[str], animate: Mapping[str, Any] | None) -> tuple[Change, ...]:
        """Return the parameters that change in the film ``path``.

        Parameters
        ----------
        path : path
            The film.
        animate : mapping of str to object or None
            As :meth:`render` takes it; None or empty: nothing changes.

        Returns
        -------
        tuple of Change

        Raises
        ------
        UsageError
            If it is not a film, or the words don't fit.

        Examples
        --------
        >>> import tracevis3d as tv
        >>> [change.name for change in tv.view("icicle").changes("run.mp4", {"opening": "0..1"})]
        ['opening']
        """
        if not animate:
            return ()
        if Path(path).suffix.lower() not in FILMS:
            raise UsageError(f"{path}: only films ({' '.join(FILMS)}) can show parameters that change")
        return read_changes(self.view.parameters, animate)

    def _changing(self, changes: Sequence[Change], frame: Frame) -> Callable[[float], Drawing]:
        """Return what draws the figure at a share of a film, the last drawing again where nothing changes."""
        last: list[tuple[float, Drawing]] = []

        def draw(share: float) -> Drawing:
            gone = eased(share)
            if not last or last[0][0] != gone:
                values = {**self.settings, **{change.name: change.at(gone) for change in changes}}
                figure = replace(self, settings=values, stages={})
                last[:] = [(gone, figure.drawing(frame))]
                self.stages["draw"] = self.stages.get("draw", 0.0) + figure.stages["draw"]
            return last[0][1]

        return draw

    def _report(self, drawing: Drawing, output: Output, counts: Mapping[str, Any]) -> dict[str, Any]:
        from .figures import caption

        elements: dict[str, int] = {}
        for element in drawing.elements:
            elements[element.kind] = elements.get(element.kind, 0) + len(element)
        return {
            "view": self.name,
            "elements": elements,
            "clusters": elements.get("cluster", 0),
            "caption": caption.sentences(drawing.title, self.view.sentence, drawing.notes),
            **drawing.counts,
            **counts,
            "stages": {name: round(seconds, 4) for name, seconds in self.stages.items()},
            "sources": [asdict(trace.source) for trace in self.traces],
            "parameters": asdict(self.parameters),
            "filters": self.filters,
            "select": self.select,
            "output": asdict(output),
            "problems": [trace.problems.as_dict() for trace in self.traces],
        }


def panels(
    figures: Sequence[Figure],
    path: str | os.PathLike[str],
    output: Output | None = None,
    *,
    across: int = 2,
    spans: Sequence[int] = (),
    same_scale: bool = True,
    same_legend: bool = True,
    title: str = "",
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Render several figures as the panels of one, with the letters a, b, c, and so on.

    Parameters
    ----------
    figures : sequence of Figure
    path : path
        .svg, .pdf or .png
    output : Output, optional
        Its frame is that of the whole figure.
    across : int
        Number of columns.
    spans : sequence of int
        How many columns each panel takes; empty: 1, and the last all that is left of its row.
    same_scale : bool
        A second is as long in all panels of one view that have a ruler of time.
    same_legend : bool
        What has one name in the legends has one colour, and such legends stand above the panels, once.
    title : str
        A line above the panels.
    progress : Progress
    **options : object
        As for :meth:`Figure.render`.

    Returns
    -------
    dict
        The report: ``panels`` has one for each panel, ``caption`` is about all of them.

    Raises
    ------
    UsageError
        If an option is invalid.
    InputError
        If the file can't be written.
    MissingDependency
        If Blender is not there.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> figures = [tv.icicle(tv.load("run.tsv")), tv.icicle(tv.load("new.tsv"))]
    >>> report = tv.panels(figures, "both.pdf", size="180mmx60mm", style="flat")  # doctest: +SKIP
    """
    output = _output(path, output, options)
    from .figures import caption
    from .figures import panels as grid
    from .figures import recipe as recipes
    from .scene.output import panels as shown
    from .scene.text.shared_legend import share

    frame = output.frame
    if output.is_picture(path):
        figures = [
            replace(each, settings=declarations.in_style(each.view.parameters, each.settings, output.style))
            for each in figures
        ]
    columns = [*spans, *[1] * len(figures)][: len(figures)]
    if figures and not spans:
        columns[-1] += -len(figures) % max(across, 1)
    places = grid.cells(columns, across, frame.width, frame.height)
    drawings = []
    for i, (figure, cell) in enumerate(zip(figures, places)):
        here = part(progress, 0.3 * i / len(figures), 0.3 * (i + 1) / len(figures))
        drawings.append(figure.drawing(replace(frame, width=cell.width, height=cell.height), here))
    header = None
    explained = drawings
    # The caption says what the notes say.
    drawings = [replace(drawing, notes=()) for drawing in drawings]
    if same_legend:
        drawings, header = share(drawings)
    if title:
        header = replace(header or Drawing(drawings[0].palette, (), drawings[0].camera), title=title)
    left = frame.height - shown.header_height(header, output.style, frame)
    places = grid.cells(columns, across, frame.width, left)
    frames = [replace(frame, width=cell.width, height=cell.height) for cell in places]
    if same_scale:
        drawings = shown.one_scale(drawings, [figure.name for figure in figures], frames, output.style)
    parts = [figure.recipe(path, output) for figure in figures]
    layout = {"across": across, "spans": columns, "same_scale": same_scale, "same_legend": same_legend}
    made = {**parts[0], "view": "panels", "panels": parts, "layout": {**layout, "title": title}}
    counts = shown.produce_panels(
        drawings,
        places,
        header,
        Path(path),
        output,
        recipes.as_text(made),
        part(progress, 0.3, 1.0),
    )
    said = [
        f"({grid.letter(i)}) " + caption.sentences(drawing.title, figure.view.sentence, drawing.notes)
        for i, (drawing, figure) in enumerate(zip(explained, figures))
    ]
    reports = [figure._report(drawing, output, {}) for figure, drawing in zip(figures, explained)]
    return {**counts, "caption": " ".join([*filter(None, [title and f"{title}."]), *said]), "panels": reports}


def film(
    story: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    preview: bool = False,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Progress = silent,
    **look: Any,
) -> dict[str, Any]:
    """Make a film of several shots from a story.

    Parameters
    ----------
    story : path
        .yaml, .toml or .json: see docs/films.md.
    path : path
        .mp4 or .mkv; captions are written beside it as subtitles (.srt).
    preview : bool
        480 pixels high, with few frames a second.
    jobs : int, optional
        Number of processes: 1, or for ``scheduler="local"`` as many as there are cores.
    scheduler : str
        Of Dask, whose workers render: an address such as ``tcp://host:8786``, or ``local``.
    progress : Progress
    **look : object
        ``style``, ``engine``, ``size`` and ``fps``, in place of what the story says.

    Returns
    -------
    dict
        ``frames``, how many of them were ``rendered``, ``engine``, ``seconds`` and ``subtitles``.

    Raises
    ------
    UsageError
        If something in the story is unknown, or selects nothing.
    InputError
        If a file can't be read or written.
    MissingDependency
        If Blender is not there, or Dask where it is wanted.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.film("story.yaml", "talk.mp4", preview=True)  # doctest: +SKIP
    """
    from .stories import film as films
    from .stories.hands import checked
    from .stories.read import read

    films.check_path(path)
    hands = checked(jobs, scheduler)
    shots = read(story)
    films.check(shots)
    output = films.output_of(shots, preview, **look)
    check_output(path, output)
    need_blender()
    return films.make(shots, {name: load(name) for name in shots.files}, path, output, hands, progress)


def _output(path: str | os.PathLike[str], output: Output | None, options: dict[str, Any]) -> Output:
    """Return the settings that ``options`` change, checked."""
    size, dpi = options.pop("size", None), options.pop("dpi", None)
    points, font = options.pop("font_size", 0.0), options.pop("font", "")
    if size is not None:
        options["frame"] = size if isinstance(size, Frame) else Frame.parse(size, dpi)
    try:
        output = replace(output or Output(), **options)
    except TypeError as error:
        raise UsageError(f"render: {error}") from None
    output = replace(output, frame=output.frame.set_in(points, str(font)))
    check_output(path, output)
    if Path(path).suffix.lower() in PAGES:
        return output
    need_blender()
    check_font(path, output.frame)
    return output


def check_font(path: str | os.PathLike[str], frame: Frame) -> None:
    """Raise if the frame's font was not found, or a PDF can't hold it.

    Parameters
    ----------
    path : path
        Path of the picture.
    frame : Frame

    Raises
    ------
    UsageError

    Examples
    --------
    >>> check_font("run.pdf", Frame())
    """
    if not frame.font:
        return
    from .figures.fonts import Font
    from .scene.text.glyphs import font_files

    file = font_files(frame.font)[0]
    if file is not None and Path(path).suffix.lower() == ".pdf" and not Font(file, 0).is_true_type:
        raise UsageError(f"--font {frame.font}: a .pdf holds TrueType fonts alone (.ttf), not {file.name}")


def _from(folder: Path, path: str) -> str:
    """Return where a file lies from a folder; its name alone on another drive."""
    if not path:
        return ""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return Path(path).name


def view(name: str, *traces: Trace, **settings: Any) -> Figure:
    """Return a figure.

    Parameters
    ----------
    name : str
        The name of a view, such as ``icicle``.
    *traces : Trace
    **settings
        Parameters of the view.

    Returns
    -------
    Figure

    Raises
    ------
    UsageError
        If there is no such view, or a parameter is invalid.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.view("icicle", tv.load("run.tsv"), opening=0).parameters.opening
    0.0
    """
    return Figure(name, traces, settings)


def __getattr__(name: str) -> Callable[..., Figure]:
    """Return the function that makes figures of the view called ``name``, such as ``tv.icicle``."""
    from .views import registry as views

    if name.startswith("_") or not views.has(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    shown = views.find(name)

    def make(*traces: Trace, **settings: Any) -> Figure:
        return view(name, *traces, **settings)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{shown.sentence}.\n\nParameters\n----------\n*traces : Trace\n**settings\n" + "".join(
        f"    {p.name} : {p.described()}\n" for p in declarations.declared(shown.parameters)
    )
    # Later accesses find it without this function.
    globals()[name] = make
    return make


def __dir__() -> list[str]:
    from .views import registry as views

    return sorted({*globals(), *views.names()})


def write_report(report: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a report as JSON.

    Parameters
    ----------
    report : mapping
        As :meth:`Figure.render` returns it.
    path : path

    Examples
    --------
    >>> write_report({"view": "icicle"}, "report.json")
    >>> print(open("report.json").read(), end="")
    {
      "view": "icicle"
    }
    """
    write_text(path, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
