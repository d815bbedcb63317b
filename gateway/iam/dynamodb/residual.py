"""The residual: what remains to be checked of the leading keys once the policies are evaluated."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.model.tenant import TenantId, partition

_NOBODY: Final = partition(TenantId(""), "")
_WORD, _END = _NOBODY[:-1], _NOBODY[-1]
_PLAIN = re.compile(r'[^"\\\x00-\x1f\x7f-\U0010ffff]+')
# a prefix as in `Residual.allows`, whose characters all represent themselves in JSON
_PLAIN_OWN = re.compile(f"{re.escape(_WORD)}{_PLAIN.pattern}{re.escape(_END)}").fullmatch


SUBJECT: Final = "\x00"
"""The placeholder for the session's subject in a prefix."""
END: Final = "\x01"
"""Marks a prefix that is a whole key."""


@dataclass(frozen=True, slots=True)
class Residual:
    """Conditions on the leading keys: every key starts with the tenant's own prefix, and then

    - with one prefix of each group of `required`,
    - with no prefix of `forbidden`.

    `subject` means that the session must have one. `tail` follows the tenant's prefix in every key, if the requests
    are rendered from a template that has it there: see `below`. False never means "denied", only "not decided here":
    then the evaluator decides.
    """

    required: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()
    subject: bool = False
    tail: str = ""
    # as they appear in JSON; a required one with a quote could be satisfied by the end of a string, so it is left out
    _forbidden_texts: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _required_texts: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups = dict.fromkeys(_shortest(group) for group in self.required)
        object.__setattr__(self, "required", tuple(groups))
        object.__setattr__(self, "forbidden", _shortest(self.forbidden))
        marked = any(SUBJECT in prefix for group in (*self.required, self.forbidden) for prefix in group)
        object.__setattr__(self, "subject", self.subject or marked)
        object.__setattr__(self, "_forbidden_texts", tuple(map(_as_text, self.forbidden)))
        texts = tuple(tuple(_as_text(prefix) for prefix in group if '"' not in prefix) for group in self.required)
        object.__setattr__(self, "_required_texts", texts)

    def also(self, other: "Residual") -> "Residual":
        """The conjunction of both; only for whole residuals, before `below`."""
        # INVARIANT: a tail decides what was left out because of it, so it is never lost.
        if self.tail or other.tail:
            raise ValueError("a residual with a tail cannot be combined")
        if not other.required and not other.forbidden and not other.subject:
            return self
        required, forbidden = (*self.required, *other.required), (*self.forbidden, *other.forbidden)
        return Residual(required, forbidden, self.subject or other.subject)

    def below(self, tail: str) -> "Residual":
        """The same for keys that start with `tail` after the tenant's prefix, without what the tail already decides.

        A key that does not start with it is not decided here, and a tail without a JSON text of its own changes
        nothing.
        """
        if not tail or not _PLAIN.fullmatch(tail):
            return self
        forbidden = tuple(prefix for prefix in self.forbidden if _may_meet(prefix, tail))
        required = tuple(group for group in self.required if not any(tail.startswith(prefix) for prefix in group))
        return Residual(required, forbidden, self.subject, tail)

    def of_subject(self, subject: str | None) -> "Residual | None":
        """With the subject inserted; None without one, and then nothing is decided here."""
        # INVARIANT: prefixes are made disjoint again, or one key could be counted twice.
        if not subject or SUBJECT in subject or END in subject:
            return None
        groups = tuple(tuple(prefix.replace(SUBJECT, subject) for prefix in group) for group in self.required)
        return Residual(groups, tuple(prefix.replace(SUBJECT, subject) for prefix in self.forbidden), tail=self.tail)

    def allows(self, keys: Sequence[str], own: str, subject: str | None = None) -> bool:
        """`own` is the prefix of the session's tenant (`TENANT#<tenant>#`), `keys` all leading keys of the request."""
        if self.subject:
            mine = self.of_subject(subject)
            return mine is not None and mine.allows(keys, own)
        # INVARIANT: no keys means no permission: "all of none" would be an approval.
        if not keys:
            return False
        # INVARIANT: a prefix ends after the tenant's id, or `TENANT#acme` would also be a prefix of tenant `acme-2`.
        if len(own) <= len(_NOBODY) or not own.startswith(_WORD) or not own.endswith(_END):
            return False
        start = own + self.tail
        for key in keys:  # twice as fast as all()
            if not key.startswith(start):
                return False
        return (not self.forbidden and not self.required) or self._allows_tails(keys, own)

    def _allows_tails(self, keys: Sequence[str], own: str) -> bool:
        # a key that contains the mark could be taken for one that ends there
        if any(END in key for key in keys):
            return False
        ended = [key + END for key in keys]
        if self.forbidden:
            starts = tuple([own + prefix for prefix in self.forbidden])
            if any(key.startswith(starts) for key in ended):
                return False
        for group in self.required:
            starts = tuple([own + prefix for prefix in group])
            if not all(key.startswith(starts) for key in ended):
                return False
        return True

    def allows_text(self, text: str, marker: str, own: str, keys: int, subject: str | None = None) -> bool:
        r"""Like `allows`, but decided on the request's JSON text without parsing it.

        The caller guarantees that `text` is JSON without spaces between its tokens, that `marker` comes from
        `marker_of`, and that each of the `keys` leading keys appears in the text as the marker and the rest of a JSON
        string, as in a text rendered from a template. Nothing is assumed about the keys' values or any other value.

        Why this never allows what `allows` does not allow:

        1. Each leading key is an occurrence of the marker. In `"PK":{"S":"` every quote but the first follows a
           character other than a backslash, so it starts or ends a string of the JSON. So two occurrences cannot
           overlap (a string after `"S":` would be followed by a colon, which is not JSON), and `count` misses none.
        2. `text.count(marker) == keys` means that these are the only occurrences. A value that contains the marker
           has its quotes escaped and is not an occurrence; an attribute of the same name elsewhere, or a name that ends
           in `\"PK`, is one more, and the numbers differ.
        3. `text.count(marker + own + tail) == keys` means that each of them is followed by `own` and `tail`.
           These contain no backslash and no quote, so their characters represent themselves: each leading key starts
           with them.
        4. For `forbidden` and `required` a key could still hide a prefix behind an escape (`\u0045MAIL#`). So a text
           with a backslash anywhere is not decided here; without one, each string equals its text. A required prefix
           with a quote could be satisfied by the end of a string, so it is not counted; one that is a whole key is
           searched with its closing quote. No prefix of a group starts with another one of the group, so a key is
           counted at most once.
        """
        if self.subject:
            mine = self.of_subject(subject)
            return mine is not None and mine.allows_text(text, marker, own, keys)
        if keys < 1 or _PLAIN_OWN(own) is None:
            return False
        start = marker + own
        if not text.count(marker) == text.count(start + self.tail) == keys:
            return False
        return (not self.forbidden and not self.required) or self._allows_prefixes(text, start, keys)

    def _allows_prefixes(self, text: str, start: str, keys: int) -> bool:
        if "\\" in text:
            return False
        # loops: this runs for every call, and a generator costs as much as all of it
        for prefix in self._forbidden_texts:
            if start + prefix in text:
                return False
        for group in self._required_texts:
            left = keys
            for prefix in group:
                left -= text.count(start + prefix)
                if left <= 0:  # no key is counted twice, so the other prefixes do not occur
                    break
            if left:
                return False
        return True


def marker_of(name: str) -> str:
    """The text before a key in a request; `name` is its attribute, or its value placeholder such as `:pk`."""
    if not _PLAIN.fullmatch(name):
        raise ValueError("the name of a key has no JSON text of its own")
    return f'"{name}":{{"S":"'


def _may_meet(prefix: str, tail: str) -> bool:
    """Whether a key that starts with `tail` may start with this prefix; the subject in it may be anything."""
    fixed = prefix.partition(SUBJECT)[0].removesuffix(END)
    return fixed.startswith(tail) or tail.startswith(fixed)


def _as_text(prefix: str) -> str:
    """A prefix as it appears in JSON: a whole key is followed by its closing quote."""
    return f'{prefix[:-1]}"' if prefix.endswith(END) else prefix


def _shortest(prefixes: Iterable[str]) -> tuple[str, ...]:
    """The prefixes that start with no other one, in order: they match the same texts."""
    kept: list[str] = []
    for prefix in sorted(set(prefixes)):
        if not kept or not prefix.startswith(kept[-1]):
            kept.append(prefix)
    return tuple(kept)
