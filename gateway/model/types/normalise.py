"""Named ways to normalise text, applied when it is written and when it is looked up."""

import unicodedata
from collections.abc import Callable, Mapping

Normalise = str | Callable[[str], str] | tuple[str | Callable[[str], str], ...] | None


def _one_space(text: str) -> str:
    return " ".join(text.split())


NAMED: Mapping[str, Callable[[str], str]] = {
    "strip": str.strip,
    "casefold": str.casefold,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "spaces": _one_space,
}


def steps(declared: Normalise) -> tuple[str | Callable[[str], str], ...]:
    if declared is None:
        return ()
    return declared if isinstance(declared, tuple) else (declared,)


def normalise_faults(declared: Normalise) -> list[str]:
    unknown = [step for step in steps(declared) if not callable(step) and step not in NAMED]
    return [f"`normalise` has {step!r}; it takes a function or one of {', '.join(NAMED)}" for step in unknown]


def apply(declared: Normalise, text: str) -> str:
    for step in steps(declared):
        text = step(text) if callable(step) else NAMED[step](text)
    return text
