"""Questions to traces in SQL: which tables there are, ready queries, and running one (DuckDB)."""
