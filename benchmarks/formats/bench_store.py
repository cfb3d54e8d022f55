"""The store against Parquet (pyarrow, where it is installed), NumPy's npz, and copying the bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import best, row
from tests.support import synthetic
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.storage import store
from tracevis3d.trace.strings import Strings

CALLS = 14_000_000
COLUMNS = ("function", "parent", "depth", "start", "end", "extent", "thread")
_PAGE = 4096


def rows() -> list[dict[str, Any]]:
    """Measure opening, touching every page, packing and sizes."""
    trace = make_trace()
    columns = {name: getattr(trace.calls, name) for name in COLUMNS}
    with tempfile.TemporaryDirectory() as folder:
        path, packed = Path(folder) / "a.tv3", Path(folder) / "packed.tv3"
        store.save(trace, packed, packed=True)
        store.load(packed)
        _, save = best(1, partial(store.save, trace, path))
        _, save_packed = best(1, partial(store.save, trace, packed, True))
        _, opened = best(5, partial(store.load, path))
        _, touched = best(5, lambda: touch(store.load(path)))
        loaded, rebuilt = best(5, partial(store.load, packed))
        assert all(np.array_equal(getattr(loaded.calls, name), columns[name]) for name in COLUMNS)
        size, packed_size = path.stat().st_size, packed.stat().st_size
        source = np.ones(size // 8, np.uint64)
        _, copy = best(3, partial(np.copyto, np.empty_like(source), source))
        what = f"{CALLS:,} calls"
        result = [
            row(f".tv3: rebuild the packed form, {what}", rebuilt, copy, "copying the columns"),
            bytes_row(".tv3: packed form", packed_size, size, ".tv3, plain"),
        ]
        for name, peer in peers(columns, Path(folder)):
            _, peer_save = best(1, peer.save)
            _, peer_open = best(1, peer.load)
            result += [
                row(f".tv3: open, {what}", opened, peer_open, name),
                row(f".tv3: open and touch, {what}", touched, peer_open, name),
                row(f".tv3: open packed, {what}", rebuilt, peer_open, name),
                row(f".tv3: save, {what}", save, peer_save, name),
                row(f".tv3: save packed, {what}", save_packed, peer_save, name),
                bytes_row(".tv3: packed form", packed_size, peer.size(), name),
            ]
    return result


def make_trace() -> Trace:
    """Return a made-up trace with as many calls as a program makes in a minute."""
    calls, first, count = synthetic.program(CALLS, threads=4)
    n = int(calls.function.max()) + 1
    names = Strings.of(f"function {i}" for i in range(n))
    nothing = np.full(n, -1, np.int32)
    return Trace(
        calls=calls,
        functions=Functions(names, names, nothing, nothing, np.zeros(n, np.int32)),
        threads=Threads((1,) * 4, tuple(range(4)), ("",) * 4, ("",) * 4, first, count),
    )


def touch(trace: Trace) -> int:
    """Read one byte of every page of the calls."""
    return sum(int(getattr(trace.calls, name).view(np.uint8)[::_PAGE].sum()) for name in COLUMNS)


def bytes_row(name: str, ours: int, peer: int, peer_name: str) -> dict[str, Any]:
    """Return a row of file sizes."""
    return {
        "name": name,
        "ours": ours / CALLS,
        "peer": peer / CALLS,
        "peer_name": peer_name,
        "unit": "bytes/call",
        "ratio": peer / ours,
    }


class Peer:
    """Another way to store the columns."""

    def __init__(self, path: Path, save: Callable[[Path], Any], load: Callable[[Path], Any]) -> None:
        self.save = partial(save, path)
        self.load = partial(load, path)
        self.size = lambda: path.stat().st_size


def peers(columns: dict[str, Any], folder: Path) -> Iterator[tuple[str, Peer]]:
    """Yield what is installed."""

    def load_npz(path: Path) -> list[Any]:
        with np.load(path) as file:
            return [file[name] for name in COLUMNS]

    yield "npz", Peer(folder / "a.npz", lambda path: np.savez(path, **columns), load_npz)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return
    table = pyarrow.table(columns)
    for compression in ("snappy", "zstd"):
        yield (
            f"Parquet, {compression}",
            Peer(
                folder / f"a.{compression}.parquet",
                partial(_save_parquet, parquet, table, compression),
                parquet.read_table,
            ),
        )


def _save_parquet(parquet: Any, table: Any, compression: str, path: Path) -> None:
    parquet.write_table(table, path, compression=compression)
