"""The README of `policies/`: every file, every statement, every limit, for an auditor."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gateway.iam.policies.deployment import LONGEST
from gateway.iam.policies.generate import LIMITS, documents, kind_of, lengths, session_file
from gateway.iam.policies.hidden_data import personal_attributes, personal_keys
from gateway.model.model import Model


def page(model: Model) -> str:
    generated = documents(model)
    sections = [
        _texts()["page"]["opening"],
        _overview(generated),
        *(_section(model, name, document) for name, document in generated.items()),
    ]
    return "\n".join([*sections, _texts()["page"]["limits"], _personal(model)])


def _overview(generated: Mapping[str, Mapping[str, Any]]) -> str:
    sizes = lengths(generated, LONGEST)
    rows = [f"| `{name}` | {kind_of(name)} | {sizes[name]:,} of {LIMITS[kind_of(name)]:,} |" for name in generated]
    heading = ["| file | kind | characters with the longest names, and the limit of AWS |", "|---|---|---|"]
    return "\n".join([*heading, *rows, ""])


def _section(model: Model, name: str, document: Mapping[str, Any]) -> str:
    clauses = document["Statement"]
    lines = [f"- **{clause['Sid']}** ({clause['Effect']}). {words(name, clause['Sid'])}" for clause in clauses]
    return "\n".join([f"## {name}", "", about(model, name), "", *lines, ""])


def _personal(model: Model) -> str:
    names = ", ".join(f"`{name}`" for name in personal_attributes(model)) or "none"
    lines = ["## Personal attributes of this model", "", f"Hidden from `support`: {names}.", ""]
    keys = personal_keys(model)
    if keys:
        lines += ["| entity | attribute | shows in | of the attribute |", "|---|---|---|---|"]
        lines += [f"| {key.entity} | `{key.attribute}` | `{key.template}` | `{key.held_in}` |" for key in keys]
        lines.append("")
    return "\n".join(lines)


def about(model: Model, name: str) -> str:
    """What a file is for."""
    sessions = {session_file(role.name): role for role in model.all_roles.values()}
    if name not in sessions:
        return _texts()["files"][name]
    role = sessions[name]
    if role.acting:
        names = [f"`{mutation.name}`" for mutation in model.mutations if mutation.acts_as == role.name]
        return (
            f"Sent with AssumeRole for the acting role `{role.name}`, which {role.description}. No token carries it: "
            f"{' and '.join(names)} act in it for callers who may call them and do not write what they change."
        )
    return f"Sent with AssumeRole for the gateway role `{role.name}`, which {role.description}."


def words(name: str, sid: str) -> str | None:
    """What a statement means; None if nothing is written about it."""
    texts = _texts()
    if name in texts:
        return texts[name].get(sid)
    group = next((start for start in ("OnlyFinds", "Files", "Rows") if sid.startswith(start)), sid)
    return texts["session"].get(group)


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    """The texts of readme.toml: by file and statement, those of session policies under `session`."""
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    shared = content.pop("shared")
    return {name: {key: text.format(**shared) for key, text in rows.items()} for name, rows in content.items()}
