"""The playground's example operations, as `examples.toml` declares them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """`tenants` holds the variables of tenants whose ids are others."""

    domain: str
    title: str
    about: str
    query: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    tenants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tab: bool = False

    def variables_of(self, tenant: str) -> Mapping[str, Any]:
        return self.tenants.get(tenant, self.variables)


def load_examples() -> tuple[Example, ...]:
    text = (files("gateway.domains") / "examples.toml").read_text(encoding="utf-8")
    return tuple(Example(**entry) for entry in tomllib.loads(text)["example"])
