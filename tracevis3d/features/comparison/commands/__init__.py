"""The command line of comparison."""
