"""Lines of the checklist, findings about them, and verdicts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.iam.policies.deployment import Deployment
from gateway.model.model import Model
from gateway.ops.audit.facts import Facts, Missing, UnknownFact


class LineVerdict(StrEnum):
    """From worst to best; a line has the worst verdict of its findings."""

    FAIL = "fail"
    UNKNOWN = "unknown"
    PASS = "pass"  # noqa: S105  a verdict
    NOT_APPLICABLE = "not applicable"


_WORST_FIRST = tuple(LineVerdict)


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """`fix` is the Terraform variable or the command that fixes a failure."""

    verdict: LineVerdict
    fact: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ChecklistLine:
    """`where` is the file of the repository in which it is fixed."""

    name: str
    title: str
    where: str


@dataclass(frozen=True, slots=True)
class LineResult:
    line: ChecklistLine
    findings: tuple[AuditFinding, ...]

    @property
    def verdict(self) -> LineVerdict:
        return min((finding.verdict for finding in self.findings), key=_WORST_FIRST.index)


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """The names of what is audited."""

    table: str
    region: str
    tenant_role: str | None = None
    gateway_role: str | None = None
    vpc: str | None = None
    dax_roles: frozenset[str] = frozenset()
    bucket: str = ""  # of the files, if the model has some


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a check may look at."""

    model: Model
    subject: AuditSubject
    facts: Facts

    @property
    def deployment(self) -> Deployment | None:
        """Where the policies apply; None without the tenants' role."""
        role, gateway = self.subject.tenant_role, self.subject.gateway_role or ""
        subject = self.subject
        return Deployment.of_role(role, subject.region, subject.table, gateway, subject.bucket) if role else None


Check = Callable[[Case], Iterator[AuditFinding]]


def passed(fact: str) -> AuditFinding:
    return AuditFinding(LineVerdict.PASS, fact)


def failed(fact: str, fix: str) -> AuditFinding:
    return AuditFinding(LineVerdict.FAIL, fact, fix)


def not_applicable(reason: str) -> AuditFinding:
    return AuditFinding(LineVerdict.NOT_APPLICABLE, reason)


def passed_unless(faults: Iterable[AuditFinding], fact: str) -> tuple[AuditFinding, ...]:
    """The faults, or `fact` as passed if there are none."""
    return tuple(faults) or (passed(fact),)


def some(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def missing(fact: Missing) -> AuditFinding:
    """A fact that could not be determined is unknown, never passed."""
    if isinstance(fact, UnknownFact):
        return AuditFinding(LineVerdict.UNKNOWN, fact.reason, fact.fix)
    return not_applicable(fact.reason)


def result(line: ChecklistLine, findings: Iterable[AuditFinding]) -> LineResult:
    # INVARIANT: a check that finds nothing has not passed.
    complete = tuple(findings) or (AuditFinding(LineVerdict.UNKNOWN, "the check found nothing"),)
    return LineResult(line, complete)
