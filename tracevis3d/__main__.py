"""``python -m tracevis3d``."""

import sys

from .cli import main

sys.exit(main(prog="python -m tracevis3d"))
