"""Who with whom, how much and when: calls, threads, waits and rounds as a matrix with a third category."""
