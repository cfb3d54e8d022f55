"""Commands that make pictures and films from descriptions: stories, lists of panels, recipes."""
