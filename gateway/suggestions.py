"""What was probably meant where a declaration names something that is not declared."""

from collections.abc import Collection
from difflib import get_close_matches


def closest(name: str, known: Collection[str]) -> str:
    """The end of a message: what to name instead."""
    if not known:
        return ""
    return similar(name, known) or f": name one of {', '.join(sorted(known))}"


def similar(name: str, known: Collection[str]) -> str:
    """Does the same where too much is known to list all of it: empty if no name is similar."""
    lower = {candidate.lower(): candidate for candidate in sorted(known, reverse=True)}
    matches = get_close_matches(name.lower(), lower, n=1, cutoff=0.7)
    return f": did you mean `{lower[matches[0]]}`?" if matches else ""
