"""What tenants with the same policies share: prepared permissions by the shape of a request, and decisions on
attributes.

Nothing of it names a tenant, so further tenants add nothing to it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from gateway.iam.dynamodb.key_schemas import TableRegistry
from gateway.iam.dynamodb.partial_evaluation import OPEN, PreparedPermission, depends_on_tenant, prepare
from gateway.iam.dynamodb.request_shapes import RequestPart, key_name, leading_keys, parts_of
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Allow, Deny
from gateway.model import role_reach

K = TypeVar("K")
V = TypeVar("V")

_KEPT: Final = 2_048
_SUBJECT: Final = role_reach.SUBJECT

_log = logging.getLogger("gateway.permissions")


class AttributeRead(NamedTuple):
    """One attribute to be read; `index_name` is None in the table itself."""

    operation: str
    table: str
    index_name: str | None
    attribute: str


class AttributeQuestion(msgspec.Struct, frozen=True):
    """Attributes that are read together; `index_name` as above."""

    operation: str
    table: str
    index_name: str | None
    names: frozenset[str] | tuple[str, ...]

    def reads(self) -> list[AttributeRead]:
        return [AttributeRead(self.operation, self.table, self.index_name, name) for name in self.names]


class RoleRows(NamedTuple):
    """`sample` is a path that the role may read, `owned` are those that contain the subject, each with its index.

    Paths follow the tenant's prefix; `{subject}` is a placeholder for the subject. `sample_index` is None for a path
    in the table, which every role has that reads something there.
    """

    sample: str = "ANY"
    owned: tuple[tuple[str | None, str], ...] = ()
    sample_index: str | None = None

    def foreign(self, index: str | None, path: str, subject: str) -> bool:
        """Whether the path belongs to another subject, so that the session has no rows there."""
        shapes = [owned.split("#") for there, owned in self.owned if there == index]
        parts = path.split("#")
        return any(_is_shaped(parts, shape, None) for shape in shapes) and not any(
            _is_shaped(parts, shape, subject) for shape in shapes
        )


def _is_shaped(parts: list[str], shape: list[str], subject: str | None) -> bool:
    """Whether the parts have this shape; without a subject, any subject matches."""
    return len(parts) == len(shape) and all(
        expected in (part, "*") or (expected == _SUBJECT and subject in (part, None))
        for part, expected in zip(parts, shape, strict=True)
    )


_ALL_ROWS: Final = RoleRows()


class SharedPermissions:
    """`principal` is what the tenants have in common, as passed in; `known` is the same with lower-case keys."""

    __slots__ = ("_answers", "_apart", "_denials", "_prepared", "known", "place", "policies", "principal", "rows")

    def __init__(
        self, policies: PolicySet, principal: Mapping[str, Value], place: TableRegistry, rows: RoleRows = _ALL_ROWS
    ) -> None:
        self.policies = policies
        self.rows = rows
        self.principal = principal
        self.known = {key.lower(): value for key, value in principal.items()}
        self.place = place
        # by shape, with the name of the leading key; None: the evaluator decides this shape
        self._prepared: dict[tuple[object, ...], tuple[PreparedPermission, str] | None] = {}
        self._answers: dict[tuple[object, ...], Deny | None] = {}
        self._denials: dict[tuple[object, ...], Mapping[str, Deny]] = {}
        self._apart: dict[str, bool] = {}

    def prepare(self, operation: str, body: Mapping[str, Any]) -> PreparedPermission | None:
        """For callers that send many requests like this one and check the residual of each."""
        return prepare(self.policies, operation, body, self.place, self.known)

    def allowed(self, operation: str, body: Mapping[str, Any], own: str, subject: str | None = None) -> Allow | None:
        """The prepared verdict; None: the evaluator has to decide. Never raises."""
        try:
            parts = parts_of(operation, body)
            # INVARIANT: a request without parts is not allowed: "all of none" would be an approval.
            if not parts:
                return None
            return self._one(parts[0], own, subject) if len(parts) == 1 else self._all(parts, own, subject)
        except Exception:  # INVARIANT: unexpected input is left to the evaluator
            return None

    def learn(
        self, operation: str, body: Mapping[str, Any], own: str, verdict: Allow, subject: str | None = None
    ) -> None:
        """Prepares the next request of this shape; kept only if it agrees with the evaluator about this one."""
        try:
            request_parts = parts_of(operation, body)
            parts = [part for part in request_parts or () if part.shape not in self._prepared]
            for part in parts:
                _keep(self._prepared, part.shape, self._entry(part))
        except Exception:  # INVARIANT: unexpected input is left to the evaluator
            return
        again = self.allowed(operation, body, own, subject) if parts else verdict
        for part in parts:
            if again is None and self._prepared.get(part.shape) is not None:
                del self._prepared[part.shape]
            elif again is not None and again != verdict:
                self._prepared[part.shape] = None
        if again is not None and again != verdict:
            _log.error(
                "a prepared permission for `%s` differs from the evaluator's decision and is not used", operation
            )

    def denied(
        self,
        question: AttributeQuestion,
        leading_key: str,
        own: str,
        evaluate: Callable[[AttributeRead, str], Deny | None],
        subject: str | None = None,
    ) -> Mapping[str, Deny]:
        """The attributes that may not be read, from earlier decisions; decided again if tenants may differ."""
        apart = self._apart.get(question.operation)
        if apart is None:
            apart = self._apart[question.operation] = self._tells_apart(question.operation)
        if apart or not leading_key.startswith(own):
            return _denials((read, evaluate(read, leading_key)) for read in question.reads())
        # INVARIANT: a decision for one subject is not reused for another, unless the key contains neither of them.
        path = leading_key[len(own) :]
        where = path, None if path == self.rows.sample and _SUBJECT not in path else subject
        denials = self._denials.get((question, where))
        if denials is None:
            reads = question.reads()
            denials = _denials((read, self._answer((read, where), leading_key, evaluate)) for read in reads)
            _keep(self._denials, (question, where), denials)
        return denials

    def _answer(
        self,
        key: tuple[AttributeRead, tuple[str, str | None]],
        leading_key: str,
        evaluate: Callable[[AttributeRead, str], Deny | None],
    ) -> Deny | None:
        """The cached decision on one attribute."""
        if key not in self._answers:
            _keep(self._answers, key, evaluate(key[0], leading_key))
        return self._answers[key]

    def _tells_apart(self, operation: str) -> bool:
        try:
            return not OPEN.isdisjoint(self.known) or depends_on_tenant(self.policies, f"dynamodb:{operation}")
        except Exception:  # INVARIANT: unexpected input is not shared
            return True

    def _one(self, part: RequestPart, own: str, subject: str | None) -> Allow | None:
        entry = self._prepared.get(part.shape)
        if entry is None:
            return None
        prepared, name = entry
        keys = leading_keys(part.holders, name)
        return prepared.verdict if keys is not None and prepared.residual.allows(keys, own, subject) else None

    def _all(self, parts: list[RequestPart], own: str, subject: str | None) -> Allow | None:
        granted: dict[str, None] = {}
        for part in parts:
            verdict = self._one(part, own, subject)
            if verdict is None:
                return None
            granted.update(dict.fromkeys(verdict.statements))
        return Allow(tuple(granted))

    def _entry(self, part: RequestPart) -> tuple[PreparedPermission, str] | None:
        prepared, name = self.prepare(part.operation, part.body), key_name(part, self.place)
        return None if prepared is None or name is None else (prepared, name)


def _denials(answers: Iterable[tuple[AttributeRead, Deny | None]]) -> dict[str, Deny]:
    return {read.attribute: denial for read, denial in answers if denial is not None}


def _keep(kept: dict[K, V], key: K, value: V) -> None:
    """Drops the oldest entry: there are few shapes and decisions, and making one again is cheap."""
    if len(kept) >= _KEPT:
        kept.pop(next(iter(kept)), None)  # lanes are prepared in a thread, which may have been faster
    kept[key] = value
