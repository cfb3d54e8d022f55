"""Threads on a half cylinder, with funnels from waits to their releases."""
