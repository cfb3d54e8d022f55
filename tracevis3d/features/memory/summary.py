"""The facts about a trace's memory, for ``tracevis3d memory``, and what the views of memory are made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...record.memory.blocks import TRACED
from ...trace.model import Trace
from ...units import byte_size, counted, duration, percentage
from .blocks import Blocks, Oddity, find_blocks
from .call_sites import Sites, find_sites
from .curves import SiteTable, curves, site_table
from .findings import MemoryFinding, find_memory, holes

#: Untouched memory counts as idle after this share of the recording.
RECENT = 0.05
#: Cells of the reported series.
_CELLS = 100


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """What a trace contains about memory; parts are computed at first use.

    Attributes
    ----------
    trace : Trace
    """

    trace: Trace

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks."""
        return find_blocks(self.trace.memory, self.trace.span_ns)

    @cached_property
    def sites(self) -> Sites:
        """Their call sites."""
        return find_sites(self.trace, self.blocks)

    @cached_property
    def table(self) -> SiteTable:
        """The facts of each call site."""
        return site_table(self.blocks, self.sites)

    @property
    def has_addresses(self) -> bool:
        """Whether addresses are real."""
        return "no addresses" not in self.trace.problems

    @property
    def has_times(self) -> bool:
        """Whether times are times; else they count the records."""
        return self.trace.has_times

    @property
    def clock_ns(self) -> float:
        """Nanoseconds between two moments that are known, where rows between are spread evenly; 0: all are.

        The recorder samples its counters whenever it notes such a moment.
        """
        known = self.snapshots
        if known is None:
            known = np.unique(self.trace.counters.time)
        if "coarse times" not in self.trace.problems or len(known) < 2:
            return 0.0
        return float(np.median(np.diff(known)))

    @cached_property
    def findings(self) -> tuple[MemoryFinding, ...]:
        """The findings."""
        return find_memory(
            self.blocks, self.sites, self.table, self.has_addresses, self.clock_ns, self.snapshots
        )

    @property
    def snapshots(self) -> NDArray[np.int64] | None:
        """The times of snapshots, if only those were recorded, int64 (n,).

        None: each allocation and free was, or the recorder (of an older version) did not say when it looked.
        """
        counters = self.trace.counters
        looks = [
            counters.time[counters.first[series] : counters.first[series + 1]]
            for series, name in enumerate(counters.name)
            if name.startswith(TRACED)
        ]
        return np.unique(np.concatenate(looks)) if looks and not self.has_addresses else None


def memory_facts(use: MemoryUse, most: int = 20) -> dict[str, Any]:
    """Return the facts as plain values.

    Parameters
    ----------
    use : MemoryUse
    most : int
        Call sites that are listed.

    Returns
    -------
    dict
    """
    blocks, sites, table = use.blocks, use.sites, use.table
    end = blocks.end
    if not len(blocks):
        return {"blocks": 0, "sites": [], "findings": [], "curves": {}, "odd": {}}
    series = curves(blocks, (0, end), _CELLS, int(RECENT * end))
    peak_row = int(table.peak_row[-1])
    facts: dict[str, Any] = {
        "blocks": len(blocks),
        "call_sites": len(sites),
        "allocated_bytes": int(table.allocated[-1]),
        "peak_bytes": int(table.peak[-1]),
        "peak_ns": int(use.trace.memory.time[peak_row]) if peak_row >= 0 else 0,
        "kept_blocks": int(table.kept_blocks[-1]),
        "kept_bytes": int(table.kept[-1]),
        "mean_lifetime_ns": float(table.lifetime[-1]),
        "accesses": len(blocks.access),
        "has_times": use.has_times,
        "has_addresses": use.has_addresses,
        "odd": {
            name: {"count": odd.count, "first_row": odd.row}
            for name in ("double_frees", "unknown_frees", "overwritten", "unknown_accesses")
            if isinstance(odd := getattr(blocks, name), Oddity) and odd.count
        },
        "sites": [
            {
                "site": sites.name[i],
                "blocks": int(table.blocks[i]),
                "allocated_bytes": int(table.allocated[i]),
                "peak_bytes": int(table.peak[i]),
                "kept_blocks": int(table.kept_blocks[i]),
                "kept_bytes": int(table.kept[i]),
                "mean_lifetime_ns": float(table.lifetime[i]),
            }
            for i in range(min(len(sites), most))
        ],
        "findings": [
            {
                "kind": f.kind,
                "sentence": sentence(f, use),
                "site": sites.name[f.site] if f.site >= 0 else None,
                "how": f.how,
                "start_ns": f.start_ns,
                "end_ns": f.end_ns,
                "bytes": f.bytes,
                **f.details,
            }
            for f in use.findings
        ],
        "curves": {
            "step_ns": series.step,
            "live_bytes": series.live.tolist(),
            "allocations": series.allocations.tolist(),
            "allocated_bytes": series.allocated.tolist(),
            "idle_share": [round(float(share), 4) for share in series.idle],
            "idle_after_ns": series.recent,
        },
    }
    if use.has_addresses:
        at_end = holes(blocks, end)
        facts["fragmentation_at_end"] = {
            "live_bytes": at_end.live, "hole_bytes": at_end.holes, "largest_hole": at_end.largest,
            "regions": at_end.regions, "share": at_end.share,
        }  # fmt: skip
    return facts


def heading(found: MemoryFinding, use: MemoryUse) -> str:
    """Return the title of a picture about a finding, which says if it is only inferred.

    Parameters
    ----------
    found : MemoryFinding
    use : MemoryUse

    Returns
    -------
    str
    """
    text = sentence(found, use)
    if found.how == "inferred":
        return f"Probably: {text}"
    # Names keep their first letters.
    return text if found.site >= 0 else text[0].upper() + text[1:]


def sentence(finding: MemoryFinding, use: MemoryUse) -> str:
    """Return a finding in a sentence.

    Parameters
    ----------
    finding : MemoryFinding
    use : MemoryUse
        The memory that it was found in.

    Returns
    -------
    str
    """
    count = finding.details.get("blocks", 0)

    def when(ns: int) -> str:
        return moment(ns, use)

    where = use.sites.name[finding.site] if finding.site >= 0 else "the program"
    d = finding.details
    if finding.kind == "leak" and "snapshots" in d:
        return (
            f"{where} keeps {byte_size(finding.bytes)} in {count:,} blocks, more at {d['rises']:,} of "
            f"{d['snapshots']:,} snapshots; what lives between two snapshots is not recorded"
        )
    if finding.kind == "growth" and "from" not in d:
        return (
            f"{where}: {byte_size(finding.bytes)} in {counted(count, 'block')}, more and more; what keeps "
            "them is not recorded"
        )
    if finding.kind == "growth":
        return (
            f"{where} grows from {byte_size(d['from'])} to {byte_size(finding.bytes)} between "
            f"{d['snapshots']:,} snapshots; what lives between them is not recorded, so this may be a leak "
            "or temporary"
        )
    if finding.kind == "leak":
        return (
            f"{where} keeps {byte_size(finding.bytes)} in {count:,} blocks that are not freed, and their "
            f"number keeps growing ({percentage(d['share_of_blocks'])} of its blocks)"
        )
    if finding.kind == "forgotten":
        blocks = counted(count, "block")
        how = "untouched" if len(use.blocks.access) else "kept"
        if not use.has_addresses:
            # Whether one of two equal blocks was freed, or the other, is not recorded.
            how = "kept in these blocks, or in equal ones,"
        said = f"{where}: {byte_size(finding.bytes)} in {blocks}, {how}"
        if "snapshots" in d:
            return f"{said} at all {d['snapshots']:,} snapshots in the second half of the run"
        return f"{said} for at least half of the {'run' if use.has_times else 'records'}"
    if finding.kind == "saw-tooth":
        much = byte_size(finding.bytes)
        said = f"the live bytes of {where} rise and fall {d['times']} times by about {much}"
        if "sites" in d:
            return f"{said}, those of {counted(d['sites'], 'call site')}, too"
        return f"{said}, every {when(round(d['period_ns']))}"
    if finding.kind == "churn":
        return (
            f"{where} allocates {count:,} short-lived blocks, {byte_size(finding.bytes)} in all, of which "
            f"at most {byte_size(d['at_once'])} are live at the same time"
        )
    if finding.kind == "imports":
        return f"imported modules keep {byte_size(finding.bytes)} in {counted(count, 'block')}: no leak"
    if finding.kind == "fragmentation":
        moment_ = "when most memory is in use" if d["when"] == "most" else "at the end"
        return (
            f"{moment_}, {byte_size(finding.bytes)} between the blocks were freed and are not used again, "
            f"{percentage(d['share'])} of the memory there; the largest hole has {byte_size(d['largest'])}"
        )
    ends = f"to {when(finding.end_ns)}" if d["freed"] else "on, not freed"
    much = byte_size(finding.bytes)
    return f"{count:,} blocks, {much}, have the same lifetime: from about {when(finding.start_ns)} {ends}"


def name_of(finding: MemoryFinding, use: MemoryUse) -> str:
    """Return the subject of a finding, in a few words.

    Parameters
    ----------
    finding : MemoryFinding
    use : MemoryUse
        The memory that it was found in.

    Returns
    -------
    str
    """
    if finding.site >= 0:
        return use.sites.name[finding.site]
    words = {
        "cohort": "blocks with the same lifetime",
        "imports": "imported modules",
        "saw-tooth": "blocks that are freed again",
    }
    return words.get(finding.kind, "all blocks")


def moment(ns: int, use: MemoryUse) -> str:
    """Write a time, or how many records come before it where there are no times.

    Parameters
    ----------
    ns : int
        Nanoseconds, or records.
    use : MemoryUse
        Whether it has times.

    Returns
    -------
    str
    """
    if not use.has_times:
        return counted(ns, "record")
    return duration(ns)
