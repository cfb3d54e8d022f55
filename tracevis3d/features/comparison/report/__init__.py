"""What was found about two traces: sentences, figures, a report, and viewpoints of a scene."""
