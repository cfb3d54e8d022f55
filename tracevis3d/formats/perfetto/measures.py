"""What a Perfetto trace measures of processes and of the machine, now and then: memory and frequencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...trace.recording import Recording

#: Packets that are read here.
MEASURED = ("process_stats", "sys_stats")
_KB = 1024
#: Field of a process -> the name of its counter.
_OF_PROCESS = {
    "vm_rss_kb": "memory, resident (bytes)",
    "rss_anon_kb": "memory, anonymous (bytes)",
    "vm_swap_kb": "memory, swapped (bytes)",
}


class Measures:
    """Collects measurements, and makes counters of them.

    Parameters
    ----------
    protos : module
        Perfetto's messages.
    """

    def __init__(self, protos: Any) -> None:
        self._kinds = protos.MeminfoCounters
        #: Process, name -> time, value.
        self._found: dict[tuple[int, str], list[tuple[int, float]]] = {}

    def add(self, packet: Any, time: int | None) -> None:
        """Take a packet.

        Parameters
        ----------
        packet : TracePacket
            With one of :data:`MEASURED`.
        time : int or None
            Nanoseconds; None if it is not known.
        """
        if time is None or not 0 <= time < 1 << 62:
            return
        for process in packet.process_stats.processes:
            for field, name in _OF_PROCESS.items():
                if process.HasField(field):
                    self._add(process.pid, name, time, _KB * getattr(process, field))
        for row in packet.sys_stats.meminfo:
            kind = self._kinds.Name(row.key).removeprefix("MEMINFO_").lower().replace("_", " ")
            self._add(0, f"machine, {kind} (bytes)", time, _KB * row.value)
        for cpu, khz in enumerate(packet.sys_stats.cpufreq_khz):
            self._add(0, f"processor {cpu} (kHz)", time, khz)

    def _add(self, process: int, name: str, time: int, value: float) -> None:
        self._found.setdefault((process, name), []).append((time, float(value)))

    def finish(self, recording: Recording) -> None:
        """Hand over all counters.

        Parameters
        ----------
        recording : Recording
        """
        for (process, name), rows in self._found.items():
            time, value = zip(*rows, strict=True)
            series = recording.series(process, name)
            recording.add_counters(
                series=np.full(len(rows), series), time=np.array(time, np.int64), value=np.array(value)
            )
