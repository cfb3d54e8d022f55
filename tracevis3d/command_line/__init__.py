"""What all commands of the command line share: declaring words, reading a trace, printing."""
