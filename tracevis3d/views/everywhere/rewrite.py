"""Regular expressions of users, applied to many texts within a time limit.

Python's ``re`` can't be interrupted, and some patterns take exponential time on some texts. So the
substitutions run in a process of their own, which is stopped when the time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

from ...errors import UsageError

#: Time limit of all substitutions together, in seconds.
SECONDS = 10.0
#: Characters of a pattern or a replacement.
LONGEST = 1000

#: Maximum length of a text after substitution.
LONGEST_TEXT = 100_000

#: Code of the process: reads texts and rules as JSON, writes texts.
_PROGRAM = """
import json, re, sys
given = json.load(sys.stdin)
rules = [(re.compile(pattern), replacement) for pattern, replacement in given["rules"]]
out = []
for text in given["texts"]:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
        if len(text) > given["longest"]:
            sys.exit("the names become too long")
    out.append(text)
json.dump(out, sys.stdout)
"""


def check_rules(rules: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the rules ``(pattern, replacement)`` if they can be used.

    Parameters
    ----------
    rules : iterable of sequence of str
        Pairs of a regular expression and its replacement.

    Returns
    -------
    list of (str, str)

    Raises
    ------
    UsageError
        One sentence: which pattern or replacement is off, where and why.
    """
    checked = []
    for rule in rules:
        if isinstance(rule, str) or len(rule) != 2 or not all(isinstance(text, str) for text in rule):
            raise UsageError(f"the rule {rule!r} is not a pair of a regular expression and its replacement")
        pattern, replacement = rule
        for text in rule:
            if len(text) > LONGEST:
                raise UsageError(f"the rule {text[:40]!r}... has more than {LONGEST:,} characters")
        try:
            compiled = re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"the regular expression {pattern!r} is invalid: {error}") from None
        try:
            compiled.sub(replacement, "")  # the replacement is read even where nothing matches
        except (re.error, IndexError) as error:
            raise UsageError(f"the replacement {replacement!r} of {pattern!r} is invalid: {error}") from None
        checked.append((pattern, replacement))
    return checked


def substitute(
    texts: Sequence[str], rules: Iterable[Sequence[str]], *, seconds: float = SECONDS
) -> list[str]:
    """Apply each rule ``(pattern, replacement)`` in turn to each text, as ``re.sub`` does.

    Parameters
    ----------
    texts : sequence of str
        They stay as they are.
    rules : iterable of sequence of str
        Pairs of a regular expression and its replacement.
    seconds : float
        The time limit: an expression of a user may take forever.

    Returns
    -------
    list of str

    Raises
    ------
    UsageError
        If a rule is off, or if the substitutions take longer than ``seconds``.
    """
    checked = check_rules(rules)
    if not checked or not texts:
        return list(texts)
    patterns = ", ".join(repr(pattern) for pattern, _ in checked)
    given = json.dumps({"texts": list(texts), "rules": checked, "longest": LONGEST_TEXT})
    try:
        done = subprocess.run(
            [sys.executable or "python3", "-I", "-S", "-c", _PROGRAM],
            input=given, capture_output=True, text=True, encoding="utf-8", timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"the regular expressions {patterns} take more than {seconds:g} s on these names: avoid a "
            "repetition within a repetition, such as (a+)+"
        ) from None
    except OSError as error:
        raise UsageError(f"the regular expressions {patterns} can't be applied: {error}") from None
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["it gives no reason"]
        raise UsageError(f"the regular expressions {patterns} can't be applied: {reason[0]}")
    answer: list[str] = json.loads(done.stdout)
    return answer
