"""The program as a city: classes or modules are buildings, packages districts, calls arcs over the roofs."""
