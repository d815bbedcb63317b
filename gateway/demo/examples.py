"""The playground's example operations, as `examples.toml` declares them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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


def load_examples(now: datetime) -> tuple[Example, ...]:
    """`now` is what the variables call `@now`."""
    text = (files("gateway.demo") / "examples.toml").read_text(encoding="utf-8")
    moment = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return tuple(Example(**entry) for entry in tomllib.loads(text.replace("@now", moment))["example"])
