"""The captions of a story as subtitles (SubRip, .srt)."""

from __future__ import annotations

from itertools import groupby

from .story import Story


def as_text(story: Story) -> str:
    """Return the captions of a story with the times of their shots.

    Parameters
    ----------
    story : Story

    Returns
    -------
    str

    Examples
    --------
    >>> from .read import from_words
    >>> shots = ["establish", {"shot": "hold", "seconds": 2.5, "caption": "It waits."}]
    >>> print(as_text(from_words({"view": "icicle", "traces": "a.tsv", "shots": shots}, "a.yaml")), end="")
    1
    00:00:05,000 --> 00:00:07,500
    It waits.
    """
    parts: list[str] = []
    time = 0.0
    for caption, shots in groupby(story.shots, lambda shot: shot.caption):
        end = time + sum(shot.seconds for shot in shots)
        if caption:
            # An arrow would begin another time.
            text = " ".join(caption.replace("-->", "→").split())
            parts.append(f"{len(parts) + 1}\n{_clock(time)} --> {_clock(end)}\n{text}\n")
        time = end
    return "\n".join(parts)


def _clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02},{whole % 1000:03}"
