"""Recording waits, releases and I/O."""
