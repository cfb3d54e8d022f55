"""Recording the memory of native programs: an interposer in C, built on demand, and its event reader."""
