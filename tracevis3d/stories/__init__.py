"""Stories: films of several shots, written by hand or from findings, and how they become pictures."""
