"""Run every benchmark and write results.json: ``python -m benchmarks [NAME …]``.

Each ``bench_*.py`` of a subject has a function ``rows()`` that measures ours and a peer in one run. A ratio
above 1 means that ours is better.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
KEYS = ("name", "ours", "peer", "peer_name", "unit", "ratio")


def main(chosen: list[str]) -> None:
    """Run the benchmarks named on the command line, or all."""
    rooms = {path.stem.removeprefix("bench_"): path.parent.name for path in HERE.glob("*/bench_*.py")}
    names = sorted(rooms)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(unknown)}: there are {', '.join(names)}")
    results = []
    for name in chosen or names:
        started = time.perf_counter()
        rows = importlib.import_module(f"benchmarks.{rooms[name]}.bench_{name}").rows()
        for row in rows:
            assert set(KEYS) <= set(row), row
            print(
                f"{row['name']:<58} {row['ours']:>12,.4g} {row['unit']:<12} "
                f"{row['ratio']:>8.2f} x {row['peer_name']} ({row['peer']:,.4g})",
                flush=True,
            )
        results.extend(rows)
        print(f"  -- {name}: {time.perf_counter() - started:.0f} s", flush=True)
    if not chosen:
        (HERE / "results.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
