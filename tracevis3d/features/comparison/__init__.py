"""Two or more runs compared (TraceDiff): matches, findings, views and reports."""
