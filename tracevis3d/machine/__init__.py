"""The machine's memory, how much of it reading a trace may take, and reading in a process of its own."""
