"""A plan as `terraform show -json` prints it: resources by type and address."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    content: Mapping[str, Any]

    def of(self, kind: str, within: str = "") -> dict[str, Values]:
        """Planned values of the resources of a type, by address; `within` is a part of the address."""
        return {
            found["address"]: found["values"]
            for found in self._resources()
            if found["type"] == kind and found["mode"] == "managed" and within in found["address"]
        }

    def one(self, kind: str, within: str = "") -> Values:
        found = self.of(kind, within)
        assert len(found) == 1, f"{kind}: {sorted(found)}"
        return next(iter(found.values()))

    def documents(self, kind: str, attribute: str, within: str = "") -> dict[str, dict[str, Any]]:
        """An attribute that holds JSON, read; by address. One that only the apply will know is left out."""
        return {
            address: json.loads(values[attribute])
            for address, values in self.of(kind, within).items()
            if values.get(attribute)
        }

    def unknown(self, address: str) -> Values:
        """The attributes of a resource that only the apply will know, in the same form, with true for each."""
        changes = {entry["address"]: entry["change"] for entry in self.content["resource_changes"]}
        found: Values = changes[address]["after_unknown"]
        return found

    def changes(self) -> dict[str, tuple[list[str], set[str]]]:
        """What is not as it should be: address to its actions and to the attributes that would change."""
        found = {}
        for entry in self.content.get("resource_changes", ()):
            change = entry["change"]
            if entry["mode"] == "managed" and change["actions"] not in (["no-op"], ["read"]):
                found[entry["address"]] = (change["actions"], _different(change["before"], change["after"]))
        return found

    def outputs(self) -> dict[str, Any]:
        return {name: entry.get("value") for name, entry in self.content["planned_values"].get("outputs", {}).items()}

    def _resources(self) -> Iterator[dict[str, Any]]:
        waiting = [self.content["planned_values"]["root_module"]]
        while waiting:
            module = waiting.pop()
            yield from module.get("resources", ())
            waiting.extend(module.get("child_modules", ()))


def _different(before: Values | None, after: Values | None) -> set[str]:
    here, there = before or {}, after or {}
    return {name for name in {*here, *there} if here.get(name) != there.get(name)}
