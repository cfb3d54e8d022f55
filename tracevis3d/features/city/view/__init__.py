"""The view of cities: districts on plinths, buildings, arcs and names."""
