"""The machine's memory, and how much of it reading a trace may take."""
