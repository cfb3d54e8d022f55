"""The settings of matching: the choices, their defaults, and their sentences.

The command line and the view declare their words from these; nothing heavy is imported.
"""

from __future__ import annotations

#: Two calls match if their similarity is strictly above this. TraceDiff (2013) recommends 0.1 to 0.3.
TAU = 0.3
TAU_SENTENCE = "Calls match if their similarity is above this"

#: How similarity is measured; see :mod:`.similarity`.
MEASURES = {
    "jaccard": "functions in common, as a share of all functions in either call stack",
    "duration": "as jaccard, with each function weighted by its share of the time",
    "multiset": "as jaccard, with each function weighted by its number of calls",
    "order": "as jaccard, of functions that are first called in the same order",
}
MEASURE = "jaccard"
MEASURE_SENTENCE = "How similarity is measured"

#: When two functions are the same; see :mod:`.identity`.
IDENTITIES = {
    "auto": "by full names, unless names without path and line are shared by many more calls",
    "exact": "their full recorded names are equal",
    "name": "their names without path and line are equal",
}
IDENTITY = "auto"
IDENTITY_SENTENCE = "When two functions are the same"
