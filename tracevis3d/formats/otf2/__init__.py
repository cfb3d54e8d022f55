"""OTF2 archives."""
