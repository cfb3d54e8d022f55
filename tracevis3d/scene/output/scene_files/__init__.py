"""Scene files: .blend for Blender, .glb and .usdc for everything else."""
