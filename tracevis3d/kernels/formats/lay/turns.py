"""Turns of threads on processors."""

from __future__ import annotations

from ...jit import kernel


@kernel
def find_who_runs(is_switch, cpu, comes, other, leaves, name, runs, running, title):  # type: ignore[no-untyped-def]
    """Fill in who a switch stops, who wakes, and who runs, by the last switch of the processor.

    Parameters
    ----------
    is_switch : bool (n,)
        In the order of time; all others are wake-ups.
    cpu : int64 (n,)
        The processor, from 0.
    comes, other : int64 (n,)
        Of a switch: who runs from then on, and that one's name.
    leaves, name, runs : int64 (n,)
        Who a switch stops, that one's name, and who runs, or wakes: below 0 it is filled in. Of whom nothing
        is known is 0, but -1 wakes; a name is filled in where a switch says it.
    running, title : int64 (processors,)
        -1 before; changed.
    """
    for row in range(len(cpu)):
        one = cpu[row]
        if runs[row] < 0:
            runs[row] = max(running[one], 0) if is_switch[row] else running[one]
        if is_switch[row]:
            if leaves[row] < 0:
                leaves[row] = max(running[one], 0)
                if title[one] >= 0:
                    name[row] = title[one]
            running[one], title[one] = comes[row], other[row]
