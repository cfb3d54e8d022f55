"""The command line of live."""
