"""Two traces face to face: two icicles with tubes between what matches."""
