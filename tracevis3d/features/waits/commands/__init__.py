"""The command line of waits."""
