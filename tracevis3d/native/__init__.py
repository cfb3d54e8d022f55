"""Recording the memory of native programs: an interposer in C, built on demand, and the reader of its events."""
