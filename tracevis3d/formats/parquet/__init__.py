"""A trace as a folder of Parquet files, one for each table, for other programs."""
