"""The command line of call_tree."""
