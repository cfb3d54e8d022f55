"""A drawing becomes Blender objects, materials, cameras and pictures: the only room that imports bpy."""

import shutil
from functools import partial

from .. import interrupts
from ..drawing.output import need_blender

need_blender()
with interrupts.held(loading=True):  # an exception while Blender starts ends the process with a fault
    import bpy

    interrupts.at_end(partial(shutil.rmtree, bpy.app.tempdir, ignore_errors=True))
