"""A matrix of calls, threads, waits or rounds: who, with whom, how much and when."""
