"""Tables with named columns, as Arrow, pandas and Polars take them; nothing here knows what a trace is."""
