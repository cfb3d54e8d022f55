"""In Jupyter and its like: ``%load_ext tracevis3d`` adds ``%%trace``, which records a cell and shows it."""
