"""Folders of Parquet files: what is written for other programs can be read again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...atomic import reason, write_text
from ...errors import InputError, Unreadable
from ...tables.arrow import needed
from ...trace import model
from ...trace.problems import KINDS, Problems
from ...trace.storage import store
from ...trace.strings import Strings
from ..registry import NO, SURE, Format
from ..unpack import size_on_disk
from .columns import numbers, record

if TYPE_CHECKING:
    from ...progress import Progress
    from ...trace.model import Trace

#: Everything except tables: names of threads, times, problems.
FACTS = "trace.json"
_VERSION = 1
_KINDS = {
    "calls": model.Calls,
    "functions": model.Functions,
    "containers": model.Containers,
    "sync": model.Sync,
    "memory": model.Memory,
    "stacks": model.Stacks,
    "samples": model.Samples,
    "flows": model.Flows,
    "spans": model.Spans,
    "instants": model.Instants,
}
#: The texts that rows of a table point into.
_POINTED_INTO = {
    "sync": ("names", "objects"),
    "flows": ("names",),
    "spans": ("names",),
    "instants": ("names",),
    "samples": ("kinds",),
}
_TEXTS = ("process", "tid", "name", "process_name")


def sniff(head: bytes, name: str) -> float:
    """See :attr:`~.registry.Format.sniff`.

    Parameters
    ----------
    head : bytes
        The names of the entries.
    name : str
        The folder's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    entries = head.split(b"\n")
    return SURE if FACTS.encode() in entries and b"calls.parquet" in entries else NO


def write(trace: Trace, path: Path, progress: Progress) -> None:
    """Write a folder with a Parquet file for each table that has rows, and for calls, functions and threads.

    Parameters
    ----------
    trace : Trace
    path : Path
        The folder. One that this wrote before is replaced; no other one is.
    progress : Progress

    Raises
    ------
    InputError
        If it can't be written, or there is something else.
    """
    parquet = needed("pyarrow.parquet", "tables")
    if path.exists() and not (path.is_dir() and ((path / FACTS).is_file() or not any(path.iterdir()))):
        raise InputError(f"{path}: is not a folder of tables, so it is not replaced: choose another name")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir()
        for number, name in enumerate(model.TABLES):
            progress(number / len(model.TABLES), f"writing {name}")
            rows = getattr(trace, name)
            if not len(rows) and name not in ("calls", "functions", "threads"):
                continue
            arrow = rows.to_arrow()
            if name == "calls" and len(trace.calls.record):
                arrow = arrow.append_column("record", [trace.calls.record])
            parquet.write_table(arrow, beside / f"{name}.parquet")
        write_text(beside / FACTS, json.dumps(_facts(trace), indent=1, ensure_ascii=False) + "\n")
        if path.exists():
            shutil.rmtree(path)
        os.replace(beside, path)
    except OSError as error:
        # What pyarrow says of it is no sentence.
        plain = OSError(error.errno, os.strerror(error.errno)) if error.errno else error
        why = reason(plain, path.parent, size_on_disk(beside) if beside.is_dir() else 0)
        raise InputError(f"{path}: can't be written: {why}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _facts(trace: Trace) -> dict[str, Any]:
    threads, counters = trace.threads, trace.counters
    return {
        "tracevis3d_tables": _VERSION,
        "origin_ns": trace.origin_ns,
        "span_ns": trace.span_ns,
        "recording": trace.source.recording or trace.source.path,
        "files": [*trace.files],
        "texts": {
            name: {field: [*getattr(getattr(trace, name), field)] for field in found}
            for name, found in _POINTED_INTO.items()
        },
        "threads": {name: list(getattr(threads, name)) for name in _TEXTS},
        "calls_of_threads": threads.count.tolist(),
        "counters": {
            "name": [*counters.name],
            "process": list(counters.process),
            "samples": np.diff(counters.first).tolist(),
        },
        "problems": [[kind, p.count, p.first] for kind, p in trace.problems.items()],
    }


def read(path: Path, progress: Progress) -> Trace:
    """Read such a folder; that every index points somewhere and the calls form a tree is checked.

    Parameters
    ----------
    path : Path
        The folder.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError, Unreadable
        If a file is missing or damaged, or the tables don't fit together.
    """
    pyarrow, parquet = needed("pyarrow", "tables"), needed("pyarrow.parquet", "tables")
    place = FACTS
    try:
        facts = json.loads((path / FACTS).read_text("utf-8"))
        if facts["tracevis3d_tables"] != _VERSION:
            raise InputError(f"{path}: was written by a newer version of TraceVis3D: update this one")
        tables: dict[str, Any] = {}
        for number, (name, kind) in enumerate(_KINDS.items()):
            progress(number / len(_KINDS), f"reading {name}")
            place = f"{name}.parquet"
            if name in ("calls", "functions") or (path / place).exists():
                arrow = parquet.read_table(path / place)
                known = {}
                if name == "calls" and "record" in arrow.column_names:
                    known["record"] = numbers(arrow["record"].combine_chunks(), np.dtype(np.int64))
                tables[name] = record(kind, arrow, known, facts["texts"].get(name, {}))
        tables["counters"] = _counters(parquet, path, facts["counters"])
        place = FACTS
        trace = _assembled(facts, tables)
        if wrong := store.find_wrong(trace):
            raise ValueError(wrong)
    except FileNotFoundError:
        raise InputError(f"{path}: {place} is missing: copy the whole folder") from None
    except (ValueError, KeyError, TypeError, OverflowError, AttributeError, pyarrow.ArrowException) as error:
        why = " ".join(str(error).split()) if not isinstance(error, KeyError) else f"{error} is missing"
        raise Unreadable(f"{path}: {place} can't be used: {why}") from None
    return trace


def _counters(parquet: Any, path: Path, facts: dict[str, Any]) -> model.Counters:
    samples = np.array(facts["samples"], np.int64)
    if not len(samples):
        return model.Counters()
    arrow = parquet.read_table(path / "counters.parquet")
    return model.Counters(
        Strings.of(facts["name"]),
        tuple(facts["process"]),
        np.concatenate(([0], np.cumsum(samples))),
        numbers(arrow["time_ns"].combine_chunks(), np.dtype(np.int64)),
        numbers(arrow["value"].combine_chunks(), np.dtype(np.float64)),
    )


def _assembled(facts: dict[str, Any], tables: dict[str, Any]) -> Trace:
    for name in _TEXTS:
        if any(
            type(item) is not str and (name.endswith("name") or type(item) is not int)
            for item in facts["threads"][name]
        ):
            raise TypeError(f"a {name} of a thread is not text")
    count = np.array(facts["calls_of_threads"], np.int64)
    problems = Problems()
    for kind, number, first in facts["problems"]:
        if kind not in KINDS or type(number) is not int:
            raise ValueError(f"the problem {kind!r} is unknown")
        problems.add(kind, str(first), number)
    if type(facts["origin_ns"]) is not int or type(facts["span_ns"]) is not int:
        raise TypeError("origin_ns and span_ns are whole numbers")
    return model.Trace(
        **tables,
        files=Strings.of(facts["files"]),
        threads=model.Threads(
            **{name: tuple(facts["threads"][name]) for name in _TEXTS},
            first=np.cumsum(count) - count,
            count=count,
        ),
        problems=problems,
        source=model.Source(recording=str(facts["recording"])),
        origin_ns=facts["origin_ns"],
        span_ns=facts["span_ns"],
    )


FORMAT = Format(
    name="parquet",
    title="folder of Parquet tables",
    suffixes=(".parquet",),
    sniff=sniff,
    read=read,
    write=write,
    holds=model.TABLES,
    is_folder=True,
    programs="`tracevis3d convert`: tables for pandas, Polars, DuckDB, Spark",
    recipe=("tracevis3d convert run.json.gz run.parquet",),
)
