"""What `gateway dev` shows of a domain: demo tenants, their rows, example operations and a front end."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.model.tenant import TenantId

if TYPE_CHECKING:
    from gateway.model.model import Model

# the name of an entity and the values of one item
SeedRow = tuple[str, Mapping[str, Any]]
# the rows of one demo tenant; dates follow the second argument, which is the time of the start
Seeds = Callable[[str, datetime], Iterable[SeedRow]]

NOW = "@now"


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """`title` is the display name of the tenant, and `about` is what the banner says about its rows.

    `subjects` are the ids of people who own rows; pages offer them for roles that only see their own rows.
    """

    name: str
    title: str = ""
    about: str = ""
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An operation that the playground offers.

    `tenants` has the variables of tenants whose ids differ. A variable `"@now"` is the time of the start. An example
    with `tab` is open for new visitors.
    """

    title: str
    query: str
    about: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    tenants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tab: bool = False

    def variables_of(self, tenant: str) -> Mapping[str, Any]:
        return self.tenants.get(tenant, self.variables)

    def at(self, now: datetime) -> "Example":
        """With this time instead of `"@now"`."""
        text = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return replace(self, variables=_at(self.variables, text), tenants=_at(self.tenants, text))


DEFAULT_TENANTS = (DemoTenant("acme"), DemoTenant("globex"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """Used by `gateway dev` and by tests; production ignores it.

    `rows` are written as mutations write them, with copies, index keys and uniqueness markers. `front_end` is a folder
    with a built page, served at `/demo`.
    """

    tenants: tuple[DemoTenant, ...] = DEFAULT_TENANTS
    rows: Seeds | None = None
    examples: tuple[Example, ...] = ()
    front_end: Path | None = None


def demo_tenants(model: "Model") -> tuple[DemoTenant, ...]:
    """The tenants of all domains, each once; `acme` and `globex` if no domain declares any."""
    tenants: dict[str, DemoTenant] = {}
    for domain in model.domains:
        for tenant in domain.demo.tenants if domain.demo is not None else ():
            if tenant.name not in tenants or not tenants[tenant.name].title:
                tenants[tenant.name] = tenant
    return tuple(tenants.values()) or DEFAULT_TENANTS


def demo_examples(model: "Model", now: datetime) -> list[tuple[str, Example]]:
    """Each example with the name of its domain."""
    demos = [(domain.name, domain.demo) for domain in model.domains if domain.demo is not None]
    return [(name, example.at(now)) for name, demo in demos for example in demo.examples]


def seed_rows(model: "Model", now: datetime) -> Iterable[tuple[str, TenantId, SeedRow]]:
    """Every row to write, with its domain and its tenant."""
    for domain in model.domains:
        demo = domain.demo
        if demo is not None and demo.rows is not None:
            for tenant in demo.tenants:
                for row in demo.rows(tenant.name, now):
                    yield domain.name, TenantId(tenant.name), row


def _at(value: Any, now: str) -> Any:
    if isinstance(value, Mapping):
        return {name: _at(entry, now) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_at(member, now) for member in value]
    return now if value == NOW else value
