"""Where things go: the level-of-detail cut, lanes, ticks, bundles, tubes, lettering."""
