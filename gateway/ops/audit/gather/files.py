"""What the repository holds beside the code: the page of access patterns and the policy files."""

from dataclasses import dataclass
from pathlib import Path

from gateway.model.model import Model
from gateway.ops.audit.facts import FileFacts, NotHere
from gateway.ops.policy_files import stale_policies


@dataclass(frozen=True, slots=True)
class Places:
    page: Path = Path("docs/access-patterns.md")
    policies: Path = Path("policies")


def file_facts(model: Model, places: Places) -> FileFacts:
    stale = (
        tuple(fault.partition("\n")[0] for fault in stale_policies(places.policies, model))
        if places.policies.is_dir()
        else NotHere(f"there is no directory `{places.policies}` here")
    )
    return FileFacts(_read(places.page), stale)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
