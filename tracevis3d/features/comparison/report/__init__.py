"""What was found about two traces, told: sentences, figures, a report, and camera stops of a scene."""
