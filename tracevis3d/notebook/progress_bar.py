"""Progress of long work as a bar of tqdm, which notebooks and terminals show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..progress import Progress, silent


@contextmanager
def bar(what: str = "") -> Iterator[Progress]:
    """Yield progress that is shown by tqdm; where that is missing, nothing is shown.

    Parameters
    ----------
    what : str
        Stands before the bar.

    Yields
    ------
    Progress

    Examples
    --------
    >>> import tracevis3d as tv
    >>> from tracevis3d.notebook.progress_bar import bar
    >>> with bar("reading") as progress:  # doctest: +SKIP
    ...     trace = tv.load("run.tsv")
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield silent
        return

    class Bar(tqdm):  # type: ignore[misc]
        # Without tqdm's thread, which would wait in what is recorded later.
        monitor_interval = 0

    with Bar(total=100, desc=what, leave=False, bar_format="{l_bar}{bar}| {postfix} {remaining}") as shown:

        def report(done: float, what: str) -> None:
            percent = round(100 * done)
            if percent != shown.n:
                shown.set_postfix_str(what, refresh=False)
                shown.n = percent
                shown.refresh()

        yield report
