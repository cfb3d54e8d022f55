"""Recording the memory of native programs: an interposer in C, built on demand, and what listens to it."""
