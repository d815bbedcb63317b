"""What the role of a request may read of an item, by the same policies that AWS enforces."""

from collections.abc import Mapping

from gateway.errors import Forbidden
from gateway.iam.language.verdict import Deny
from gateway.model.model import Model
from gateway.model.tenant import partition
from gateway.store.access import Access, Refusal
from gateway.store.plan import Attributes
from gateway.store.rows import Item


class FieldAccess:
    """Verdicts are remembered for one request: a page asks the same of each of its items."""

    def __init__(self, model: Model, access: Access) -> None:
        self._model = model
        self._access = access
        self._known: dict[tuple[Attributes, str], Mapping[str, Deny]] = {}

    def denied(self, attributes: Attributes, operation: str = "GetItem") -> Mapping[str, Deny]:
        """Those that the role may not read by this operation, and why."""
        verdicts = self._known.get((attributes, operation))
        if verdicts is None:
            session = self._access.session
            verdicts = self._known[attributes, operation] = session.permissions.attributes_denied(
                attributes, operation, session.tenancy.table, leading_key=partition(session.tenant, "ANY")
            )
        return verdicts

    def readable(self, attributes: Attributes, operation: str) -> Attributes:
        """What a call may ask for; the refusal of the rest is explained as one of this call."""
        verdicts = self.denied(attributes, operation)
        self._access.refusals += [Refusal(name, verdict.reason) for name, verdict in verdicts.items()]
        return attributes - frozenset(verdicts)

    def refuse_written(self, item: Item) -> None:
        """What was written, as a read of it would be answered."""
        values = frozenset(item.values)
        if self.denied(values):
            self.readable(values, "GetItem")
            self.refuse(item, values, "GetItem")

    def refuse(self, item: Item | None, asked: Attributes, operation: str) -> None:
        """What the role may not read is an error on its field; the rest of the item is answered."""
        if item is None:
            return
        for name in self.denied(asked, operation):
            if name in self._model.entities[item.entity].attribute:
                item.values[name] = Forbidden(f"the role `{self._access.session.role}` may not read `{name}`")
