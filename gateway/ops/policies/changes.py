"""What each role may do now that it could not do before, or the reverse: the policies compared with a release."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gateway.errors import BadUserInput
from gateway.iam.formal.difference import Documents, widenings
from gateway.iam.language.policy_text import canonical, read_json
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, session_file

Direction = Literal["wider", "narrower", "wider and narrower", "equal", "new", "removed"]


@dataclass(frozen=True, slots=True)
class RoleChange:
    """`more` and `less` name actions of a role, or of a document that applies on its own."""

    who: str
    direction: Direction
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()

    def line(self) -> str:
        named = [f"may {word}: {', '.join(names)}" for word, names in (("also", self.more), ("no longer", self.less))]
        differences = "; ".join(text for text, names in zip(named, (self.more, self.less), strict=True) if names)
        return f"{self.direction}: {self.who}{f' ({differences})' if differences else ''}"


def changes(old: Documents, new: Documents, deployment: Deployment) -> list[RoleChange]:
    """One for each role and document, proved for every request."""
    before, after = _changed(old, new)
    more, less = _gained(before, after, deployment), _gained(after, before, deployment)
    return [_change(who, old, new, more.get(who, ()), less.get(who, ())) for who in _names(old, new)]


def _names(old: Documents, new: Documents) -> list[str]:
    """The names of roles and documents; documents that all roles share show up in the roles."""
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


def _gained(old: Documents, new: Documents, deployment: Deployment) -> dict[str, tuple[str, ...]]:
    gained: dict[str, set[str]] = {}
    for widening in widenings(old, new, deployment):
        gained.setdefault(widening.who, set()).add(widening.action)
    return {who: tuple(sorted(actions)) for who, actions in gained.items()}


def _changed(old: Documents, new: Documents) -> tuple[Documents, Documents]:
    """Omits documents that are equal in both: a role with the same three texts may do the same."""
    before, after = _texts(old), _texts(new)
    shared = {TENANT_FILE, BOUNDARY_FILE}
    everywhere = any(before[name] != after[name] for name in shared)
    kept = {name for name in {*old, *new} if everywhere or before.get(name) != after.get(name)} | shared
    return {name: old[name] for name in old if name in kept}, {name: new[name] for name in new if name in kept}


def _texts(documents: Documents) -> dict[str, str]:
    return {name: canonical(text) for name, text in documents.items()}


# The policies of a release: a folder, or a revision of git.


def read_baseline(against: str, directory: Path) -> dict[str, Mapping[str, Any]]:
    """The documents of a folder, or those that the directory had at a revision such as `v1.2.0`."""
    folder = Path(against)
    if folder.is_dir():
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.json"))}
    else:
        listed = _git(directory, "ls-tree", "--name-only", against, "./").splitlines()
        names = [name.rpartition("/")[2] for name in listed if name.endswith(".json")]
        texts = {name: _git(directory, "show", f"{against}:./{name}") for name in names}
    if not {TENANT_FILE, BOUNDARY_FILE} <= set(texts):
        raise BadUserInput(f"`{against}` has no policies to compare with: name a folder of them, or a revision of git")
    return {name: read_json(text) for name, text in texts.items()}


def _git(directory: Path, *arguments: str) -> str:
    # a revision cannot start like an option of git, so none can be passed as one
    if any(argument.startswith("-") and argument != "--name-only" for argument in arguments):
        raise BadUserInput("a revision must not start with `-`")
    try:
        ran = subprocess.run(  # noqa: S603  # no shell
            ["git", "-C", str(directory), *arguments],  # noqa: S607  # whichever git is installed
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BadUserInput(f"`git {' '.join(arguments)}` failed: is it a folder, or a revision?") from error
    return ran.stdout
