"""What lies over the scene in the window: where title, legend, rulers, names and callouts go, in pixels."""
