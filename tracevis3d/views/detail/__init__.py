"""Level of detail: what views show after zooming in, and which of it a 3D view needs."""

from .levels import Detail, LevelOfDetail, Pane, SpatialLevelOfDetail, readable, refined_cut, within

__all__ = ["Detail", "LevelOfDetail", "Pane", "SpatialLevelOfDetail", "readable", "refined_cut", "within"]
