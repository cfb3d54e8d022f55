"""Whether ``explain`` tells the known change of twenty pairs of recordings first, beside what others tell."""

from benchmarks.explain.judge import judge_all
from benchmarks.explain.rivals import RIVALS


def rows():
    verdicts = judge_all("pairs")
    ours = sum(verdict.place == 1 for verdict in verdicts)
    changed = [verdict for verdict in verdicts if verdict.pair.functions]
    best, name = max((sum(v.rivals[name] == 1 for v in changed), name) for name in RIVALS)
    return [
        {
            "name": f"explain: known changes ranked first, of {len(verdicts)}", "ours": ours, "peer": best,
            "peer_name": name, "unit": "pairs", "ratio": ours / max(best, 1),
        }
    ]  # fmt: skip
