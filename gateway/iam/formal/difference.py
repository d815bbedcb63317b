"""What new policies allow that old ones did not: who, which action, and a request that shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.iam.deployment import Deployment, render
from gateway.iam.document import Document, parse
from gateway.iam.formal.compiling import Compiler, allowed
from gateway.iam.formal.counterexample import Counterexample, counterexample, readable
from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.formula import ACTION, FALSE, Formula, both, is_text, negated
from gateway.iam.formal.meaning import SPLITS, TENANT_ROWS, of_service
from gateway.iam.formal.solver import solve
from gateway.iam.generate import BOUNDARY_FILE, ENDPOINT_FILE, GATEWAY_FILE, KINDS, TENANT_FILE, TRUST_FILE
from gateway.iam.statement import Kind

Documents = Mapping[str, Mapping[str, object]]
_ALONE = (TRUST_FILE, GATEWAY_FILE, ENDPOINT_FILE)
_MOST = 200


@dataclass(frozen=True, slots=True)
class Widening:
    """`who` is a role, or a document that stands alone; `action` is what it may do now."""

    who: str
    action: str
    example: Counterexample

    @property
    def coordinate(self) -> str:
        """How a changelog names it."""
        return f"{self.who} {self.action}"


def widenings(old: Documents, new: Documents, deployment: Deployment) -> Iterator[Widening]:
    """For the combination of each role's policies, and for the documents that stand alone."""
    before, after = _subjects(old, deployment), _subjects(new, deployment)
    for who, may in after.items():
        yield from _more(who, both(may, negated(before.get(who, FALSE))), deployment)


def _more(who: str, more: Formula, deployment: Deployment) -> Iterator[Widening]:
    """One for each action. An action without a known name stands for all others of its service."""
    for _ in range(_MOST):
        found = solve(more, SPLITS, readable(TENANT_ROWS, deployment)[:-3])
        if found.answer == "undecided":
            raise NotProvable(f"the solver cannot tell what {who} gains")
        if found.answer == "impossible":
            return
        example = counterexample(found.facts, found.unknowns)
        known = example.asked.action != found.facts[ACTION]
        service = example.asked.action.partition(":")[0]
        yield Widening(who, example.asked.action if known else f"{service}:*", example)
        more = both(more, negated(is_text(ACTION, str(found.facts[ACTION])) if known else of_service(service)))


def _subjects(found: Documents, deployment: Deployment) -> dict[str, Formula]:
    """Who may do what, as one formula each."""
    compiler = Compiler(SPLITS)
    shared = [_parsed(found, name, deployment) for name in (TENANT_FILE, BOUNDARY_FILE)]
    roles = sorted(name for name in found if name.startswith("session-"))
    may = {}
    for name in roles:
        layers = [compiler.layer([each]) for each in (shared[0], _parsed(found, name, deployment), shared[1])]
        may[name.removeprefix("session-").removesuffix(".json")] = allowed(layers)
    for name in _ALONE:
        if name in found:
            may[name.removesuffix(".json")] = allowed([compiler.layer([_parsed(found, name, deployment)])])
    return may


def _parsed(found: Documents, name: str, deployment: Deployment) -> Document:
    kind: Kind = KINDS.get(name, "session")
    return parse(render(found[name], deployment), kind)
