"""One room for each subject: its analysis, views, live form and commands together."""
