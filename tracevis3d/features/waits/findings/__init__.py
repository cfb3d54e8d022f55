"""What is remarkable about a trace's waits."""
