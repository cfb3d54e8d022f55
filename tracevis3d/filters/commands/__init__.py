"""The command line of filters."""
