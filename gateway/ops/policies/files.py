"""`policies/` as files: writes them from the model, compares them, and loads them only if both agree."""

import json
from collections.abc import Mapping
from difflib import unified_diff
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gateway.aws.sts.session import PermissionsFor
from gateway.aws.sts.tenants import Tenancy
from gateway.errors import ConfigurationError
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.policy_text import canonical, read_json
from gateway.iam.policies.deployment import LONGEST, Deployment, render
from gateway.iam.policies.generate import BOUNDARY_FILE, STREAM_FILE, TENANT_FILE, documents, kind_of, oversized
from gateway.iam.policies.lint import lint
from gateway.iam.policies.policies import Policies, generated, permissions_at
from gateway.iam.policies.review import review
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.ops.policies.readme import page

README: Final = "README.md"
_SHOWN_LINES: Final = 40
_FIX: Final = "run `gateway policies` and review the difference"


def texts(model: Model) -> dict[str, str]:
    """Every file of the directory with its content."""
    files = {name: json.dumps(document, indent=2) + "\n" for name, document in documents(model).items()}
    return {**files, README: page(model)}


def write_policies(directory: Path, model: Model) -> list[str]:
    """Writes missing and stale files; returns their names."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = {name: text for name, text in texts(model).items() if text_of(directory / name) != text}
    for name, text in changed.items():
        (directory / name).write_text(text, encoding="utf-8", newline="\n")
    return list(changed)


def stale_policies(directory: Path, model: Model) -> list[str]:
    """What is wrong with the directory, each with its difference; empty if it matches the model."""
    expected = texts(model)
    faults = [fault for name, text in expected.items() if (fault := _difference(directory / name, text))]
    strangers = sorted(path.name for path in directory.glob("*.json") if path.name not in expected)
    return faults + [f"{name}: the model does not write such a file" for name in strangers]


def unsafe_policies(model: Model) -> list[str]:
    """Findings of lint, review and AWS's quotas for the documents of a model; empty if they may be written."""
    written = documents(model)
    faults = oversized(written, LONGEST)
    for name, document in written.items():
        parsed = parse(render(document, LONGEST), kind_of(name))
        of_stream = name == STREAM_FILE
        findings = (*lint(parsed, of_stream=of_stream), *review(parsed, of_stream=of_stream))
        faults += [f"{name} {one.statement}: {one.message}" for one in findings if one.level == "error"]
    return faults


def load_policies(directory: Path | None, model: Model) -> Policies:
    """The policies to serve with; a file that is missing, corrupt or different from the model stops the start."""
    # INVARIANT: a document that was changed by hand is never served, whatever it says.
    policies = generated(model)
    if directory is not None and (faults := _faults(directory, policies.documents)):
        raise ConfigurationError(faults)
    return policies


def permissions_for(policies: Policies, model: Model) -> PermissionsFor:
    """What a tenant may do in its table: the shared one, or its own."""
    permissions = permissions_at(policies, model)
    of_role = {name: policies.documents[name] for name in (TENANT_FILE, BOUNDARY_FILE)}

    @lru_cache(maxsize=1_024)
    def deployed(tenancy: Tenancy) -> Deployment:
        deployment = deployment_of(tenancy)
        if faults := oversized(of_role, deployment):
            raise ConfigurationError(faults)
        return deployment

    def permissions_of(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None = None) -> Permissions:
        return permissions(deployed(tenancy), tenant, role, subject)

    return permissions_of


def deployment_of(tenancy: Tenancy) -> Deployment:
    bucket = tenancy.files.name if tenancy.files is not None else ""
    return Deployment.of_role(tenancy.role_arn, tenancy.target.region, tenancy.table, bucket=bucket)


def _faults(directory: Path, expected: Mapping[str, Any]) -> list[str]:
    if not directory.is_dir():
        return [f"policies_dir: there is no directory `{directory}`; `gateway policies` writes it"]
    return [fault for name, document in expected.items() if (fault := _fault(directory / name, document))]


def _fault(path: Path, expected: Mapping[str, Any]) -> str | None:
    text = text_of(path)
    if text is None:
        return f"policy file `{path}` cannot be read"
    try:
        document = read_json(text)
    except PolicyError as error:
        return f"policy file `{path}`: {error.message}"
    if canonical(document) == canonical(expected):
        return None
    return f"policy file `{path}` does not match the model ({_changed(document, expected)}): {_FIX}"


def _changed(document: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The statements that differ, by name."""
    here, there = map(_by_sid, (document, expected))
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return "statements " + ", ".join(f"`{name}`" for name in names) if names else "outside of its statements"


def _by_sid(document: Mapping[str, Any]) -> dict[str, Any]:
    listed = document.get("Statement")
    clauses = [clause for clause in listed if isinstance(clause, dict)] if isinstance(listed, list) else []
    return {str(clause.get("Sid", f"#{position}")): clause for position, clause in enumerate(clauses, 1)}


def _difference(path: Path, expected: str) -> str | None:
    text = text_of(path)
    if text == expected:
        return None
    if text is None:
        return f"{path.name}: missing"
    lines = unified_diff(text.splitlines(), expected.splitlines(), "as it is", "as the model says", lineterm="", n=1)
    return "\n".join([f"{path.name}: stale", *(f"  {line}" for line in islice(lines, _SHOWN_LINES))])


def text_of(path: Path) -> str | None:
    """None if the file cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
