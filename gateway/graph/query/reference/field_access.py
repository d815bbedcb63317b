"""Which attributes the role of a request may read, by the same policies that AWS enforces."""

from collections.abc import Mapping

from gateway.errors import Forbidden
from gateway.iam.language.verdict import Deny
from gateway.model.model import Model
from gateway.store.access import Access, Refusal
from gateway.store.plan import Attributes
from gateway.store.rows import Item


class FieldAccess:
    """Caches its verdicts for one request, since all items of a page need the same ones."""

    def __init__(self, model: Model, access: Access) -> None:
        self._model = model
        self._access = access
        self._verdicts: dict[tuple[Attributes, str], Mapping[str, Deny]] = {}

    def denied(self, attributes: Attributes, operation: str = "GetItem") -> Mapping[str, Deny]:
        """Returns the attributes that the role may not read with this operation, and why."""
        verdicts = self._verdicts.get((attributes, operation))
        if verdicts is None:
            session = self._access.session
            verdicts = self._verdicts[attributes, operation] = session.permissions.attributes_denied(
                attributes, operation, session.tenancy.table
            )
        return verdicts

    def readable(self, attributes: Attributes, operation: str) -> Attributes:
        """Returns the attributes that a call may request; the others are recorded as refusals of this call."""
        verdicts = self.denied(attributes, operation)
        self._access.refusals += [Refusal(name, verdict.reason) for name, verdict in verdicts.items()]
        return attributes - frozenset(verdicts)

    def check_search(self, names: Attributes, operation: str) -> None:
        """INVARIANT: a role does not search by what it may not read: IAM does not see what a sort key consists of."""
        for name, verdict in (self.denied(names, operation) if names else {}).items():
            self._access.refusals.append(Refusal(name, verdict.reason))
            raise Forbidden(f"the role `{self._access.session.role}` may not read `{name}`, nor search by it")

    def refuse_written(self, item: Item) -> None:
        """Hides in a written item what a read would hide."""
        values = frozenset(item.values)
        if self.denied(values):
            self.readable(values, "GetItem")
            self.refuse(item, values, "GetItem")

    def refuse(self, item: Item | None, requested: Attributes, operation: str) -> None:
        """Replaces each attribute that the role may not read by an error of its field; the rest of the item stays."""
        if item is None:
            return
        for name in self.denied(requested, operation):
            if name in self._model.stored[item.entity].attribute:
                item.values[name] = Forbidden(f"the role `{self._access.session.role}` may not read `{name}`")
