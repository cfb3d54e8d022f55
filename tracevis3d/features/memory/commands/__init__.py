"""The command line of memory."""
