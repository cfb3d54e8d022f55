"""From the recorded program to the file: the spool, the process that empties it, the encoder."""
