"""Memory of a program that still runs."""
