"""Live views in the scene."""
