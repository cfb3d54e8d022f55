"""Recording the processes that a recorded program starts."""
