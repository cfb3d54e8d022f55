"""Make, change, render and remove views."""
