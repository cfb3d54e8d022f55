"""Waits of a program that still runs."""
