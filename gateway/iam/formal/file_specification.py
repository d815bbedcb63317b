"""The specification of what the documents grant on files, written independently of them."""

from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    FALSE,
    Filled,
    Formula,
    Present,
    Ref,
    both,
    either,
    is_text,
    one_of,
)
from gateway.iam.formal.specification import SUBJECT, TENANT, tagged
from gateway.iam.formal.string_patterns import matches
from gateway.iam.language.glob import Wild, parts
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.roles import FILE_ACTIONS, FileGrant, GatewayRole
from gateway.model import role_reach
from gateway.model.files.keys import has_files
from gateway.model.model import Model


def file_acts(*actions: str) -> Formula:
    return one_of(ACTION, *(action.lower() for action in actions)) if actions else FALSE


def own_file(model: Model, deployment: Deployment) -> Formula:
    """Returns the formula for an object of the bucket below the session's tenant; false if the model has no files."""
    if not has_files(model):
        return FALSE
    named = matches(ARN[-1], (f"{deployment.bucket}/", Ref(TENANT), "/", Wild.MANY))
    return both(_object(deployment.partition), tagged(TENANT), named)


def role_files(model: Model, deployment: Deployment) -> Formula:
    """Returns what the tenants' role and its boundary grant."""
    return both(file_acts(*FILE_ACTIONS), own_file(model, deployment))


def session_files(role: GatewayRole) -> Formula:
    return either(*(both(file_acts(*grant.actions), either(*map(_below, _of(grant)))) for grant in role.files))


def _below(path: str) -> Formula:
    """Returns the formula for an object of any bucket with the tenant and this path; the subject is the session's."""
    before, marked, after = path.partition(role_reach.SUBJECT)
    named = (*parts(before), *((Ref(SUBJECT),) if marked else ()), *parts(after))
    tags = (TENANT, SUBJECT) if marked else (TENANT,)
    return both(_object(None), tagged(*tags), matches(ARN[-1], (Wild.MANY, "/", Ref(TENANT), "/", *named)))


def files_endpoint_means(deployment: Deployment) -> Formula:
    caller = both(is_text("aws:principalarn", deployment.tenant_role), Filled(TENANT))
    named = matches(ARN[-1], (f"{deployment.bucket}/", Wild.MANY))
    return both(file_acts(*FILE_ACTIONS), _object(deployment.partition), named, caller)


def includes_files(strong: GatewayRole, weak: GatewayRole) -> bool:
    """Whether the strong role reaches every file that the weak role reaches, with the same actions."""
    return all(
        _reaches(strong, action, path) for grant in weak.files for action in grant.actions for path in _of(grant)
    )


def _of(grant: FileGrant) -> tuple[str, ...]:
    return grant.paths or ("*",)


def _reaches(role: GatewayRole, action: str, path: str) -> bool:
    reached = [grant_path for grant in role.files if action in grant.actions for grant_path in _of(grant)]
    return any(path == grant_path or path.startswith(grant_path.removesuffix("*")) for grant_path in reached)


def _object(partition: str | None) -> Formula:
    """Returns the ARN of an object, which has neither a region nor an account."""
    named = Present(ARN[0]) if partition is None else is_text(ARN[0], partition)
    return both(*(Present(key) for key in ARN), named, is_text(ARN[1], "s3"), is_text(ARN[2], ""), is_text(ARN[3], ""))
