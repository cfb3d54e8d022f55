"""Where rows, funnels and threads go: the amphitheatre, the way of funnels, the order of threads."""
