"""A line of the checklist, what was found about it, and what that means."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from gateway.iam.deployment import Deployment
from gateway.model.model import Model
from gateway.ops.audit.facts import Facts, Missing, Unknown


class Verdict(StrEnum):
    """From the worst to the best; a line is as bad as the worst that was found about it."""

    FAIL = "fail"
    UNKNOWN = "unknown"
    PASS = "pass"  # noqa: S105  a verdict
    NOT_APPLICABLE = "not applicable"


_WORST_FIRST = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Finding:
    """`fix` is the Terraform variable or the command that mends a failure."""

    verdict: Verdict
    fact: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """`where` is the file of the repository in which it is mended."""

    name: str
    title: str
    where: str


@dataclass(frozen=True, slots=True)
class Result:
    line: Line
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        return min((finding.verdict for finding in self.findings), key=_WORST_FIRST.index)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is audited, by its names."""

    table: str
    region: str
    tenant_role: str | None = None
    gateway_role: str | None = None
    vpc: str | None = None
    dax_roles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a check may look at."""

    model: Model
    subject: Subject
    facts: Facts

    @property
    def deployment(self) -> Deployment | None:
        """Where the policies are put to work; unknown without the tenants' role."""
        role, gateway = self.subject.tenant_role, self.subject.gateway_role or ""
        return Deployment.of_role(role, self.subject.region, self.subject.table, gateway) if role else None


Check = Callable[[Case], Iterator[Finding]]


def passed(fact: str) -> Finding:
    return Finding(Verdict.PASS, fact)


def failed(fact: str, fix: str) -> Finding:
    return Finding(Verdict.FAIL, fact, fix)


def not_applicable(reason: str) -> Finding:
    return Finding(Verdict.NOT_APPLICABLE, reason)


def passed_unless(faults: Iterable[Finding], fact: str) -> tuple[Finding, ...]:
    """The faults; or, where there is none, what was found right."""
    return tuple(faults) or (passed(fact),)


def missing(fact: Missing) -> Finding:
    """What could not be learned is unknown, never passed."""
    if isinstance(fact, Unknown):
        return Finding(Verdict.UNKNOWN, fact.reason, fact.fix)
    return not_applicable(fact.reason)


def result(line: Line, findings: Iterable[Finding]) -> Result:
    # INVARIANT: a check that finds nothing has not passed.
    found = tuple(findings) or (Finding(Verdict.UNKNOWN, "nothing was found out about this line"),)
    return Result(line, found)
