"""What each role may do now and could not do before, or the reverse: the policies against those of a release."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

from gateway.errors import BadUserInput
from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_SUBJECT, PRINCIPAL_TENANT
from gateway.iam.formal.difference import Documents, widenings
from gateway.iam.formal.solver.solver import installed
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.policy_text import canonical, read_json
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, session_file
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT, sample
from gateway.iam.policies.policies import document
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import ITEM_ACTIONS, READS
from gateway.model.keys import item_key
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition, tenant_id

Direction = Literal["wider", "narrower", "wider and narrower", "equal", "new", "removed"]
_TENANT, _OTHER = tenant_id("acme"), tenant_id("globex")
_SAMPLED: Final = ("GetItem", "Query")


@dataclass(frozen=True, slots=True)
class RoleChange:
    """`more` and `less` name actions of a role, or of a document that applies by itself."""

    who: str
    direction: Direction
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()

    def line(self) -> str:
        named = [f"may {word}: {', '.join(names)}" for word, names in (("also", self.more), ("no longer", self.less))]
        told = "; ".join(text for text, names in zip(named, (self.more, self.less), strict=True) if names)
        return f"{self.direction}: {self.who}{f' ({told})' if told else ''}"


def changes(old: Documents, new: Documents, model: Model, deployment: Deployment) -> tuple[list[RoleChange], bool]:
    """One for each role and document, and whether they are proved: without a solver they are found with samples."""
    proved, (before, after) = installed(), _changed(old, new)
    more, less = (
        (_by_solver(before, after, deployment), _by_solver(after, before, deployment))
        if proved
        else (_by_samples(before, after, model, deployment), _by_samples(after, before, model, deployment))
    )
    return [_change(who, old, new, more.get(who, ()), less.get(who, ())) for who in _names(old, new)], proved


def _names(old: Documents, new: Documents) -> list[str]:
    """Of roles and documents; what all roles share shows in the roles."""
    files = sorted({*old, *new} - {TENANT_FILE, BOUNDARY_FILE}, key=lambda name: (not _is_session(name), name))
    return [_who(name) for name in files]


def _is_session(name: str) -> bool:
    return name.startswith("session-")


def _who(name: str) -> str:
    return name.removeprefix("session-").removesuffix(".json")


def _change(who: str, old: Documents, new: Documents, more: tuple[str, ...], less: tuple[str, ...]) -> RoleChange:
    name = session_file(who) if session_file(who) in {*old, *new} else f"{who}.json"
    if name not in old or name not in new:
        return RoleChange(who, "removed" if name in old else "new", more, less)
    words: tuple[Direction, ...] = ("equal", "wider", "narrower", "wider and narrower")
    return RoleChange(who, words[bool(more) + 2 * bool(less)], more, less)


def _by_solver(old: Documents, new: Documents, deployment: Deployment) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for widening in widenings(old, new, deployment):
        found.setdefault(widening.who, set()).add(widening.action)
    return {who: tuple(sorted(actions)) for who, actions in found.items()}


def _changed(old: Documents, new: Documents) -> tuple[Documents, Documents]:
    """Without the documents that are the same in both: a role with the same three texts may do the same."""
    before, after = _texts(old), _texts(new)
    shared = {TENANT_FILE, BOUNDARY_FILE}
    everywhere = any(before[name] != after[name] for name in shared)
    kept = {name for name in {*old, *new} if everywhere or before.get(name) != after.get(name)} | shared
    return {name: old[name] for name in old if name in kept}, {name: new[name] for name in new if name in kept}


def _texts(documents: Documents) -> dict[str, str]:
    return {name: canonical(text) for name, text in documents.items()}


# Without a solver: the evaluator and many requests. What none of them shows stays unseen.


def _by_samples(old: Documents, new: Documents, model: Model, deployment: Deployment) -> dict[str, tuple[str, ...]]:
    requests = list(sample_requests(model, deployment))
    found = {}
    for name in sorted(name for name in new if _is_session(name)):
        before, after = _judge(old, name, deployment), _judge(new, name, deployment)
        more = {each.action for each in requests if after(each) and not before(each)}
        found[_who(name)] = tuple(sorted(more))
    for name in sorted(set(new) - {TENANT_FILE, BOUNDARY_FILE} - {name for name in new if _is_session(name)}):
        # documents that the evaluator does not judge alone: any other text counts as more
        found[_who(name)] = () if _texts(new)[name] == _texts(old).get(name) else ("a changed text",)
    return found


def _judge(documents: Documents, name: str, deployment: Deployment) -> Callable[[Authorisation], bool]:
    if name not in documents:
        return lambda request: False
    tenant, session, boundary = (document(documents, each, deployment) for each in (TENANT_FILE, name, BOUNDARY_FILE))
    policies = PolicySet((tenant,), (session,), boundary)
    return lambda request: evaluate(policies, request).allowed


def sample_requests(model: Model, deployment: Deployment) -> Iterator[Authorisation]:
    """Every action in every kind of partition, of the own tenant and of another, and reads of each attribute."""
    tags: dict[str, Value] = {PRINCIPAL_TENANT: _TENANT, PRINCIPAL_SUBJECT: SAMPLE_SUBJECT}
    table = f"arn:{deployment.partition}:dynamodb:{deployment.region}:{deployment.account}:table/{deployment.table}"
    places = (table, *(f"{table}/index/{index.name}" for index in model.table.indexes))
    keys, names = list(_keys(model)), _attributes(model)
    for action, place, key in product(sorted(EVERY_ACTION), places, keys):
        # no index has other actions, and no key makes a difference to actions that are not about items
        if (place != table and action != "Query") or (action not in ITEM_ACTIONS and key not in keys[:2]):
            continue
        context = {**tags, LEADING_KEYS: (key,), "dynamodb:ReturnValues": "NONE"}
        for attributes in ((model.table.pk,), *(names if action in _SAMPLED else ())):
            seen: dict[str, Value] = {"dynamodb:Attributes": attributes, "dynamodb:Select": "SPECIFIC_ATTRIBUTES"}
            yield Authorisation(f"dynamodb:{action}", place, context | seen)
        if action in READS:
            yield Authorisation(f"dynamodb:{action}", place, context | {"dynamodb:Select": "ALL_ATTRIBUTES"})


def _keys(model: Model) -> Iterator[str]:
    found = {partition(_TENANT, "ANY"): None, partition(_OTHER, "ANY"): None}
    for entity in model.entities.values():
        for place in entity.placements:
            values = sample(entity, place)
            found |= {item_key(TenantId(tenant), entity, values, place).pk: None for tenant in (_TENANT, _OTHER)}
    return iter(found)


def _attributes(model: Model) -> list[tuple[str, ...]]:
    declared = {name for entity in model.entities.values() for name in entity.attribute}
    return [(model.table.pk, name) for name in sorted(declared)]


# The policies of a release: a folder, or a revision of git.


def read_baseline(against: str, directory: Path) -> dict[str, Mapping[str, Any]]:
    """The documents of a folder, or those that the directory had at a revision such as `v1.2.0`."""
    folder = Path(against)
    if folder.is_dir():
        found = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
    else:
        listed = _git(directory, "ls-tree", "--name-only", against, "./").splitlines()
        names = [name.rpartition("/")[2] for name in listed if name.endswith(".json")]
        found = {name: _git(directory, "show", f"{against}:./{name}") for name in names}
    if not {TENANT_FILE, BOUNDARY_FILE} <= set(found):
        raise BadUserInput(f"`{against}` has no policies to compare with: name a folder of them, or a revision of git")
    return {name: read_json(text) for name, text in found.items()}


def _git(directory: Path, *arguments: str) -> str:
    # no option of git begins a revision, so none can be passed as one
    if any(argument.startswith("-") and argument != "--name-only" for argument in arguments):
        raise BadUserInput("a revision does not begin with `-`")
    try:
        ran = subprocess.run(  # noqa: S603  # no shell
            ["git", "-C", str(directory), *arguments],  # noqa: S607  # whichever git is installed
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BadUserInput(f"git does not tell `{' '.join(arguments)}`: is it a folder, or a revision?") from error
    return ran.stdout
