"""Descriptions of the items and call sites of the live memory, for tooltips."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.picked import Description, Subject
from ....live.growing import GrowingTrace
from ....trace.model import thread_name
from ....units import byte_size, counted, duration
from .blocks import LiveBlocks
from .site_watch import SiteWatch


def describe_item(
    growing: GrowingTrace, blocks: LiveBlocks, item: int, idle: bool, at: int, now: int
) -> Description:
    """Return the description of an item at the moment ``at``: of its block, or of the merged ones.

    Parameters
    ----------
    growing : GrowingTrace
        Its names are read.
    blocks : LiveBlocks
    item : int
        Its number.
    idle : bool
        Whether the piece pointed at is one without a touch.
    at, now : int
        Nanoseconds.

    Returns
    -------
    Description
    """
    k, facts = blocks.k, blocks.items[item]
    first = int(facts[k.FIRST])
    here = ("here", f"{'idle' if idle else 'in use'}, {duration(max(now - at, 0))} ago")
    if facts[k.ALONE] == 1 and first < len(blocks.blocks):
        return _of_block(growing, blocks, blocks.blocks[first], here, now)
    owner = int(facts[k.OWNER])
    site = blocks.sites.name(owner)
    found = Description(f"{int(facts[k.COUNT]):,} blocks merged, each too narrow to be seen", site)
    found.rows = [
        ("live now", f"{byte_size(int(facts[k.LIVE]))} in {counted(int(facts[k.LIVING]), 'block')}"),
        ("last access", f"{duration(max(now - int(facts[k.LAST]), 0))} ago, of any of them"),
        here,
        ("zoomed in", "Ctrl and the wheel zoom in on single blocks"),
    ]
    found.subject = Subject(site=site) if owner >= 0 else None
    return found


def _of_block(
    growing: GrowingTrace, blocks: LiveBlocks, block: NDArray[np.int64], here: tuple[str, str], now: int
) -> Description:
    k = blocks.k
    born, died, touched = int(block[k.BORN]), int(block[k.DIED]), int(block[k.TOUCHED])
    size, address = int(block[k.SIZE]), int(block[k.ADDRESS])
    lives = died == k.ALIVE
    until = now if lives else died
    site = blocks.sites.name(int(block[k.SITE]))
    found = Description(f"Block of {byte_size(size)}", f"{site} · 0x{address:x}")
    since = f"{duration(max(until - touched, 0))} {'ago' if lives else 'before it was freed'}"
    found.rows = [
        ("allocated", f"{duration(max(now - born, 0))} ago"),
        ("lives" if lives else "lived", duration(max(until - born, 0))),
        ("last access", since),
        here,
    ]
    if not lives:
        found.rows.insert(2, ("freed", f"{duration(max(now - died, 0))} ago"))
    thread, threads = int(block[k.THREAD]), growing.threads()
    if 0 <= thread < len(threads):
        found.rows.append(("thread", thread_name(threads[thread][2], threads[thread][1])))
    found.subject = Subject(address=address, size=size, site=site)
    return found


def describe_site(blocks: LiveBlocks, watch: SiteWatch, site: int) -> Description:
    """Return the description of a call site.

    Parameters
    ----------
    blocks : LiveBlocks
    watch : SiteWatch
        The findings about call sites.
    site : int
        Its number; -1: several.

    Returns
    -------
    Description
    """
    found = Description(blocks.sites.name(site), "call site")
    if 0 <= site < len(blocks.sites):
        live, living, allocated, _ = blocks.site_facts[site].tolist()
        found.rows = [
            ("live", f"{byte_size(live)} in {counted(living, 'block')}"),
            ("allocations", f"{allocated:,} so far"),
        ]
        found.rows += [("found", watch.text_of(f)) for f in watch.found if f.site == site]
        found.subject = Subject(site=blocks.sites.name(site))
    return found
