"""Reads the example operations of a demo domain, which the playground offers."""

import tomllib
from pathlib import Path

from gateway import Example


def read_examples(domain: str) -> tuple[Example, ...]:
    """The content of `examples.toml` in the folder of the domain."""
    text = (Path(__file__).parent / domain / "examples.toml").read_text(encoding="utf-8")
    return tuple(Example(**example) for example in tomllib.loads(text)["examples"])
