"""The live feed: a running program's events over ZeroMQ; ``docs/live-protocol.md`` has the protocol."""
