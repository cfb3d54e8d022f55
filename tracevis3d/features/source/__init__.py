"""Files as slabs of lines: where in the source the time, the calls, the waits or the bytes are."""
