"""One file per view: traces and parameters in, a drawing out."""
