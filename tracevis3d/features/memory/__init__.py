"""Memory (Memcov Viz): blocks, call sites, findings and the view of them."""
