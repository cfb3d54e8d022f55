"""Moving through a view: zoom, time, turning, walking, and detail that follows."""
