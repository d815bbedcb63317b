"""Identity providers: where each puts tenant, subject, roles and machine clients, and what to set up at the provider.

A preset fills in settings of an issuer that are not set; docs/identity.md describes the same for operators.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

PresetName = Literal["cognito", "auth0", "entra", "okta", "keycloak"]
Need = Literal["tenant", "roles", "client_tenant", "client_roles", "kind"]


@dataclass(frozen=True, slots=True)
class Preset:
    """`settings` are fields of `IssuerSettings`; `hints` are log messages that say what is missing at the provider."""

    settings: Mapping[str, Any]
    hints: Mapping[Need, str]


def _read() -> tuple[Mapping[Need, str], Mapping[str, Preset]]:
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    general: Mapping[Need, str] = content.pop("general")
    return general, {name: Preset(**preset) for name, preset in content.items()}


GENERAL, PRESETS = _read()


def hints_of(name: PresetName | None) -> Mapping[Need, str]:
    return GENERAL if name is None else PRESETS[name].hints


def with_preset(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an issuer, completed by its preset. Explicit settings win; required claims are merged."""
    name = values.get("preset")
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        return dict(values)
    merged = {**preset.settings, **values}
    own = values.get("required_claims", {})
    if isinstance(own, Mapping):
        merged["required_claims"] = {**preset.settings.get("required_claims", {}), **own}
    return merged
