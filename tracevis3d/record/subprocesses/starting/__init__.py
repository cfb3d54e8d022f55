"""A folder for ``PYTHONPATH``: an interpreter that a recorded program starts begins its recording by it."""
