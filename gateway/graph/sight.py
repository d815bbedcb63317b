"""What the role of a request may read of an item, by the same policies that AWS enforces."""

from gateway.errors import Forbidden
from gateway.model.model import Model
from gateway.model.tenant import partition
from gateway.store.access import Access, Refusal
from gateway.store.plan import Attributes
from gateway.store.rows import Item


class Sight:
    """Verdicts are remembered for one request: a page asks the same of each of its items."""

    def __init__(self, model: Model, access: Access) -> None:
        self._model = model
        self._access = access
        self._known: dict[Attributes, Attributes] = {}

    def denied(self, attributes: Attributes) -> Attributes:
        denied = self._known.get(attributes)
        if denied is None:
            session = self._access.session
            refused = session.permissions.attributes_denied(
                attributes, "GetItem", session.tenancy.table, leading_key=partition(session.tenant, "ANY")
            )
            self._access.refusals += [Refusal(name, verdict.reason) for name, verdict in refused.items()]
            denied = self._known[attributes] = frozenset(refused)
        return denied

    def readable(self, attributes: Attributes) -> Attributes:
        return attributes - self.denied(attributes)

    def refuse(self, item: Item | None, asked: Attributes) -> None:
        """What the role may not read is an error on its field; the rest of the item is answered."""
        if item is None:
            return
        for name in self.denied(asked):
            if name in self._model.entities[item.entity].attribute:
                item.values[name] = Forbidden(f"the role `{self._access.session.role}` may not read `{name}`")
