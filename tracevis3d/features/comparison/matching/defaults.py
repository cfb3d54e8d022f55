"""When two calls match: what can be chosen, what is taken if nothing is, and the sentences that say so.

The command line and the view declare their words from these; nothing heavy is imported.
"""

from __future__ import annotations

#: Two calls match if their similarity is above it, strictly. TraceDiff (2013) recommends 0.1 to 0.3.
TAU = 0.3
TAU_SENTENCE = "Calls match if their similarity is above this"

#: How similarity is measured; see :mod:`.similarity`.
MEASURES = {
    "jaccard": "functions in common of all functions in either call stack",
    "duration": "as jaccard, each function counting with its share of the time",
    "multiset": "as jaccard, each function counting as often as it is called",
    "order": "as jaccard, of the functions that are first called in the same order",
}
MEASURE = "jaccard"
MEASURE_SENTENCE = "How similarity is measured"

#: When two functions are the same; see :mod:`.identity`.
IDENTITIES = {
    "auto": "by full names unless names without path and line share many more calls",
    "exact": "their full recorded names are equal",
    "name": "their names without path and line are equal",
}
IDENTITY = "auto"
IDENTITY_SENTENCE = "When two functions are the same"
