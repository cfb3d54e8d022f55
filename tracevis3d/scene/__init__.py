"""A drawing becomes Blender objects, materials, cameras and pictures: the only room that imports bpy."""
