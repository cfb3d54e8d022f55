"""Which threads are the rows of the picture, in which order, and the list of them."""
