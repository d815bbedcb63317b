"""Decides from the keys in a change note whether a subscription is affected; values are not needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gateway.aws.sts.session import Session
from gateway.graph.query.arguments import Variables
from gateway.graph.query.paging import take_arguments
from gateway.graph.query.reference.resolvers import KeyChange
from gateway.graph.query.tree import LookupField, WatchListField
from gateway.model.entity import Entity, Placement
from gateway.model.filters import FILTER
from gateway.model.keys import ItemKey, identity_of, item_key
from gateway.model.model import Model
from gateway.model.patterns import ListChangeKind
from gateway.model.tenant import TenantId
from gateway.store.key_ranges import KeyRange, contains
from gateway.store.plan import Attributes, Window, plan_listing
from gateway.stream.note import ChangeNote

MOST_CHANGES = 100  # items that one event reports; beyond that, it reports the whole page


@dataclass(slots=True)
class Pending:
    """Changes that were not reported yet, by item: whether it was in the list before, and whether it is now.

    An item with several changes may have been shown in between, by a page that was read before they were known here.

    `everything` means the current state: for a new subscription, or if the single changes are not known.
    """

    everything: bool = False
    items: dict[ItemKey, "ItemChange"] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.everything or bool(self.items)

    def add(self, key: ItemKey, change: "ItemChange") -> None:
        before = self.items.get(key)
        self.items[key] = change if before is None else change._replace(was=before.was, shown=True)
        if len(self.items) > MOST_CHANGES:
            self.everything = True
        if self.everything:
            self.items.clear()

    def merge(self, later: "Pending") -> None:
        if later.everything:
            self.everything = True
            self.items.clear()
        for key, change in later.items.items():
            self.add(key, change)

    def changes(self) -> tuple[KeyChange, ...]:
        return tuple(
            KeyChange(key, item.identity, item.kind, item.was or item.shown) for key, item in self.items.items()
        )


class ItemChange(NamedTuple):
    """`was` and `now` tell whether the item is in the list; `shown`, whether it may have been there in between."""

    identity: tuple[str, ...]
    was: bool
    now: bool
    shown: bool = False

    @property
    def kind(self) -> ListChangeKind:
        if self.was and self.now:
            return ListChangeKind.CHANGED
        return ListChangeKind.ADDED if self.now else ListChangeKind.REMOVED


@dataclass(frozen=True, slots=True)
class Interest:
    """What a subscription watches: an item by its `key`, or a range of a list in partitions of the table or `index`.

    `shown` are the attributes whose change causes an event; None if every change does. `arguments` distinguish
    subscriptions of the same watch.
    """

    tenant: TenantId
    entity: Entity
    arguments: Mapping[str, Any]
    shown: Attributes | None
    key: ItemKey | None = None
    place: Placement | None = None
    partitions: frozenset[str] = frozenset()
    bounds: KeyRange = field(default_factory=KeyRange)
    whole: bool = False  # every event reports the page, because only the page is selected

    @property
    def index(self) -> str | None:
        return self.place.index if self.place is not None else None

    @property
    def is_state(self) -> bool:
        """Whether each event shows all that is watched, so that a later event replaces it."""
        return self.key is not None or self.whole

    def add(self, note: ChangeNote, pending: Pending) -> bool:
        """Adds the changes in the note that affect this subscription; False if there are none."""
        # INVARIANT: a subscription never learns of changes to another tenant's items.
        if note.tenant != self.tenant or note.entity != self.entity.name:
            return False
        was, now = self._presence(note)
        if not (was or now) or (was and now and self._changes_nothing_shown(note)):
            return False
        key = ItemKey(note.pk, note.sk)
        at = self.place if self.place is not None and self.place.index is None else self.entity.primary
        identity = identity_of(self.tenant, self.entity, at, key) if self.place is not None else ()
        if identity is None:
            return False
        if self.whole:
            pending.merge(Pending(everything=True))
        else:
            pending.add(key, ItemChange(identity, was, now))
        return True

    def _presence(self, note: ChangeNote) -> tuple[bool, bool]:
        """Returns whether the item was in view before the change, and whether it is now."""
        before, after = note.kind != "created", note.kind != "removed"
        if self.place is None:
            there = note.place == self.entity.primary.name and (note.pk, note.sk) == self.key
        elif self.place.index is None:
            there = note.place == self.place.name and self._listed((note.pk, note.sk))
        else:
            own = note.place == self.entity.primary.name
            old, new = note.before.get(self.place.index), note.after.get(self.place.index)
            return own and self._listed(old), own and self._listed(new)
        return there and before, there and after

    def _listed(self, key: tuple[str, str] | None) -> bool:
        return key is not None and key[0] in self.partitions and contains(self.bounds, key[1])

    def _changes_nothing_shown(self, note: ChangeNote) -> bool:
        """Whether the change affects none of the shown attributes."""
        return self.shown is not None and note.kind == "changed" and self.shown.isdisjoint(note.attributes)


def interest_of(
    model: Model, root: LookupField | WatchListField, variables: Variables, session: Session, subject: str
) -> Interest:
    """Builds the interest from the arguments; `subject` is the caller's.

    Raises `BadUserInput` or `InvalidArguments` if the arguments form no key.
    """
    arguments, tenant = root.arguments.values(variables, subject), session.tenant
    if isinstance(root, LookupField):
        entity = model.entities[root.target.lookup.entity]
        key = item_key(tenant, entity, arguments)
        return Interest(tenant, entity, arguments, _watched_attributes(entity, root.target.item.attributes), key)
    listing, entity = root.listing, model.entities[root.listing.entity]
    take_arguments(listing, arguments)
    plan = plan_listing(model, listing, tenant, arguments, Window(1), frozenset())
    place, queries = model.place(listing), [query for group in plan.groups for query in group]
    # INVARIANT: a session limited to its own rows learns nothing of another subject's partition, not even removals.
    foreign = session.permissions.foreign
    partitions = frozenset(query.partition for query in queries if not foreign(place.index, query.partition))
    selected = [page.page.attributes for page in root.pages] + [changes.attributes for changes in root.changes]
    compared = [{comparison.attribute for comparison in arguments[FILTER].comparisons}] if FILTER in arguments else []
    shown = _watched_attributes(entity, frozenset[str]().union(*selected, *compared))
    bounds = queries[0].bounds if queries else KeyRange()
    return Interest(tenant, entity, arguments, shown, None, place, partitions, bounds, whole=not root.changes)


def _watched_attributes(entity: Entity, attributes: Attributes) -> Attributes | None:
    # an upgrade derives attributes from others, so any change may be visible
    return None if entity.upgrades else attributes
