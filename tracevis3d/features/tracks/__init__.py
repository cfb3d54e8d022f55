"""Series over time: counters, threads that run or wait, memory, rates; as strips, a tube or a path."""
