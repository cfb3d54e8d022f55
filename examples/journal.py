"""Four workers that prepare orders in parallel and write them into one journal, under one lock.

Each worker holds the journal's lock while it writes and waits for the disk, so the others queue up behind it:
``with journal_lock`` is what no tracer of Python shows by itself. Record it with::

    tracevis3d record --threads --io -o journal.json.gz -- examples/journal.py
"""

from __future__ import annotations

import queue
import sys
import tempfile
import threading
import time

WORKERS = 4

journal_lock = threading.Lock()
orders: queue.Queue[int | None] = queue.Queue(maxsize=8)


def price_of(item: int) -> int:
    """Do some arithmetic for an item."""
    total = 0
    for step in range(400):
        total += (item * step) % 97
    return total


def prepare(order: int) -> int:
    """Work out an order: the part that can be done side by side."""
    return sum(price_of(order * 10 + item) for item in range(10))


def write_down(journal: str, order: int, total: int) -> None:
    """Append an order to the journal and wait for the disk: one at a time."""
    with journal_lock, open(journal, "a", encoding="utf-8") as file:
        file.write(f"{order}\t{total}\n")
        file.flush()
        time.sleep(0.01)


def work(journal: str) -> None:
    """Take orders until there are no more."""
    while (order := orders.get()) is not None:
        write_down(journal, order, prepare(order))
        orders.task_done()
    orders.task_done()


def main(count: int) -> None:
    """Hand out orders and wait until all are in the journal."""
    with tempfile.TemporaryDirectory() as folder:
        journal = f"{folder}/journal.tsv"
        workers = [
            threading.Thread(target=work, args=(journal,), name=f"worker {number + 1}")
            for number in range(WORKERS)
        ]
        for worker in workers:
            worker.start()
        for order in range(count):
            orders.put(order)
        for _ in workers:
            orders.put(None)
        orders.join()
        for worker in workers:
            worker.join()


if __name__ == "__main__":
    main(16 if "--quick" in sys.argv else 60)
