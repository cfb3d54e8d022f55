"""From a scene to files: pictures, films, scene files."""
