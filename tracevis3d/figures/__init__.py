"""Figures for print: shapes and texts over a picture of the data, captions, and how each is made again."""
