"""Blocks of memory as a terrain of bytes, time and idle age."""
