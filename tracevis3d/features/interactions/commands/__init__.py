"""The command line of interactions."""
