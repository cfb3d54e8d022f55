"""The layout of drawings: the level-of-detail cut, lanes, ticks, bundles, tubes, lettering."""
