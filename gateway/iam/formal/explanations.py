"""Explains the theorems and their assumptions to readers who know IAM but not solvers; the texts are in a table."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Settled = Literal["documented", "aws", "gateway"]


@dataclass(frozen=True, slots=True)
class Assumption:
    """`settled` says what confirms it: AWS's documentation, AWS itself, or the gateway's code."""

    text: str
    settled: Settled


_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

EXPLAINED: Final[Mapping[str, str]] = _TABLE["theorems"]
"""Explanations by the name of the theorem, without the part before its colon."""
LEMMA: Final[str] = _TABLE["lemma"]
ASSUMPTIONS: Final = tuple(Assumption(**assumption) for assumption in _TABLE["assumptions"])
NOT_CLAIMED: Final[tuple[str, ...]] = tuple(_TABLE["not_claimed"])


def explanation(name: str) -> str:
    around, colon, rest = name.partition(": ")
    return _TABLE["around"][around] + EXPLAINED[rest] if colon else EXPLAINED[name]
