"""What records the calls: one file for each way, and the choice between them."""
