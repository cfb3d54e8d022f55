"""What this machine has to give: memory, and how much of it reading a trace may take."""
