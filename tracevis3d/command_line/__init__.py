"""Shared by all commands of the command line: declaring arguments, reading a trace, printing."""
