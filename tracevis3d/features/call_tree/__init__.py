"""The call tree: as a list of any size (SEAT), as an icicle and as a cone tree."""
