"""Search the trace of the active view, print what was found, and bookmark the first calls."""

import bpy

PATTERN = "parse*"
MOST = 3

search = bpy.context.scene.tracevis3d_search
search.kind = "wildcard"
search.pattern = PATTERN
print(search.summary)

for number in range(min(MOST, search.total)):
    bpy.ops.tracevis3d.search_step(step="FIRST" if number == 0 else "NEXT")
    hit = search.hits[search.index]
    print(hit.when, hit.title)
    bpy.ops.tracevis3d.bookmark_add(name=f"{hit.title} at {hit.when}")
