"""An entity: its attributes, where its items are stored (key, indexes, copies) and its relations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property, partial
from typing import Any
from typing import Literal as OneOf

from gateway.errors import ModelError
from gateway.model.code import Computed, Loaded, download_field
from gateway.model.staleness import Staleness
from gateway.model.template import DERIVED, Template, parse_template
from gateway.model.types import Field, File, KeyType, Wire
from gateway.model.types.compression import compressed

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class Attribute(Field):
    """A value that an item holds."""

    personal: bool = False  # personal information: some roles may not read it
    compressed: bool = False  # large text or bytes: stored compressed
    immutable: bool = field(default=False, kw_only=True)  # set only when the item is created
    default: Any = field(default=None, kw_only=True)  # of a new item: a value, or a function that returns one

    def encode(self, value: Any) -> Wire:
        """The value as it is stored; an invalid value raises a `BadUserInput` that names the attribute."""
        wire = self.type.encode(self.name, value)
        return (compressed(self.name, value) or wire) if self.compressed else wire


@dataclass(frozen=True, slots=True)
class Shards:
    """Spreads one busy partition over `count`; items are placed by a hash of the attribute `by`.

    While the count of an index changes, `previous` is the other one: writes use `count`, reads cover both.
    """

    count: int
    by: str
    previous: int | None = None

    @property
    def read(self) -> int:
        return max(self.count, self.previous or 0)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Splits a growing partition by time: one partition for each hour, day or month of the attribute `of`."""

    of: str
    size: OneOf["hour", "day", "month"]


@dataclass(frozen=True, slots=True)
class When:
    """The item is in the index only while the attribute has one of these values (a sparse index)."""

    attribute: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The primary key of an item."""

    pk: str
    sk: str
    shards: Shards | None = None
    bucket: Bucket | None = None
    low_cardinality_reason: str | None = None  # why a partition that many items share stays small


@dataclass(frozen=True, slots=True, kw_only=True)
class OnIndex(Key):
    """A place in a global secondary index; without the attributes of its key the item is not in it."""

    index: str
    name: str = ""  # needed if an entity has two places in one index
    when: When | None = None
    filling: bool = False  # written but not read yet: older items are still missing


def whole_list(index: str, word: str, *, sort: str, by: str, shards: int = 4) -> OnIndex:
    """The place `all` of an index that lists every item of an entity, such as all users by the time they signed up.

    `word` starts its partition key, `sort` is its order such as `{createdAt}`, and the items are spread by the id
    `by`, since a single partition for all of them would be hot.
    """
    spread = Shards(shards, by=by)
    return OnIndex(index=index, name="all", pk=f"{word}#{{shard}}", sk=f"{sort}#{{{by}}}", shards=spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy(Key):
    """The whole item once more in another partition, written in the same transaction."""

    name: str


@dataclass(frozen=True, slots=True)
class Expiry:
    """When DynamoDB may delete the item: at the attribute `at`, or `after` the attribute `since`."""

    at: str | None = None
    since: str | None = None
    after: timedelta = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One other item, found by a lookup whose parameters are this item's attributes of the same name (or `bind`)."""

    name: str
    pattern: str
    description: str
    bind: Mapping[str, str] = field(default_factory=dict)
    required: bool = False  # the other item must exist when this one starts to refer to it
    # when the other item is removed: refuse the removal, or remove this one too
    on_remove: OneOf["restrict", "cascade"] | None = None
    deprecated: str | None = None

    @property
    def checked(self) -> bool:
        """Whether a write that starts to refer to the other item checks that it exists."""
        return self.required or self.on_remove is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Many other items: by a listing, or, with `each`, by a lookup for every member of that list attribute.

    Only the second kind can be batched over many parents: DynamoDB has no batch form of Query.
    """

    name: str
    pattern: str
    description: str
    bind: Mapping[str, str] = field(default_factory=dict)
    each: str | None = None
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The sum of a number over `count` items, such as the shards of a counter; all of them are read in one batch.

    The items are found by a lookup: its parameter `over` counts from 0, those in `fixed` are the same for every item,
    and the others are this item's attributes of the same name (or `bind`).
    """

    name: str
    pattern: str
    description: str
    attribute: str
    over: str
    count: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    bind: Mapping[str, str] = field(default_factory=dict)
    deprecated: str | None = None


Relation = Reference | Collection | Total


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """Upgrades items from the previous schema to schema `to`, by a pure function of the stored attributes.

    `needs` are the attributes it reads, as they were stored before; the next write removes those that are no longer
    declared. `gives` are the names of the attributes it returns; one that is None or missing is absent.
    """

    to: int
    needs: tuple[Attribute, ...]
    gives: tuple[str, ...]
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Placement:
    """One place of an item with its parsed templates: `index` is None in the table itself."""

    name: str
    pk: Template
    sk: Template
    index: str | None
    declared: Key
    attributes: tuple[Attribute, ...]

    @cached_property
    def shards(self) -> Shards | None:
        return self.declared.shards

    @cached_property
    def bucket(self) -> Bucket | None:
        return self.declared.bucket

    @cached_property
    def when(self) -> When | None:
        return self.declared.when if isinstance(self.declared, OnIndex) else None

    @cached_property
    def filling(self) -> bool:
        return isinstance(self.declared, OnIndex) and self.declared.filling

    @cached_property
    def names(self) -> frozenset[str]:
        """Every attribute that determines the key of the item here."""
        derived = {part for part in (self.shards and self.shards.by, self.bucket and self.bucket.of) if part}
        return self.pk.names | self.sk.names | derived

    @cached_property
    def decided_by(self) -> frozenset[str]:
        """Every attribute that determines whether the item is here, and its key."""
        return self.names | ({self.when.attribute} if self.when is not None else set())

    @cached_property
    def pk_parts(self) -> "tuple[KeyPart, ...]":
        return self._parts(self.pk)

    @cached_property
    def sk_parts(self) -> "tuple[KeyPart, ...]":
        return self._parts(self.sk)

    def _parts(self, template: Template) -> "tuple[KeyPart, ...]":
        kinds: dict[str, Any] = {attribute.name: attribute.type for attribute in self.attributes}
        return tuple(
            (hole.name, None if hole.name in DERIVED else kinds[hole.name], hole.width, hole.scale)
            for hole in template.holes
        )


# what fills a hole, its type, its width and scale; the shard and the bucket have no type
KeyPart = tuple[str, KeyType | None, int, int]


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A kind of item: its attributes, where its items are stored, and its relations."""

    name: str
    description: str
    attributes: tuple[Attribute, ...]
    key: Key
    indexes: tuple[OnIndex, ...] = ()
    copies: tuple[Copy, ...] = ()
    relations: tuple[Relation, ...] = ()
    computed: tuple[Computed, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    expiry: Expiry | None = None
    unique: tuple[str, ...] = ()  # attributes whose values only one item of the tenant may have
    schema: int = 1  # the schema version of its items; increases with each upgrade
    upgrades: tuple[Upgrade, ...] = ()
    cached: Staleness | None = None  # how stale an item that is read by its key may be
    owner: str | None = None  # the attribute that holds the subject who owns the row
    internal: bool = False  # in the table but not in the schema: only code and totals read it
    confidential: bool = False  # a role that reads everything does not read it, unless it names or writes it
    batched: bool = False  # for capacity planning: most of its items are written by `put_all`, not in transactions

    @cached_property
    def attribute(self) -> Mapping[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    @cached_property
    def relation(self) -> Mapping[str, Relation]:
        return {relation.name: relation for relation in self.relations}

    @cached_property
    def checked_references(self) -> tuple[Reference, ...]:
        """Those whose items must exist when an item starts to refer to them."""
        return tuple(relation for relation in self.relations if isinstance(relation, Reference) and relation.checked)

    @cached_property
    def encoders(self) -> tuple[tuple[str, Callable[[Any], Wire], bool], ...]:
        """By attribute: its name, the function that encodes a value, and whether it is required."""
        return tuple(
            (
                attribute.name,
                attribute.encode if attribute.compressed else partial(attribute.type.encode, attribute.name),
                attribute.required,
            )
            for attribute in self.attributes
        )

    @cached_property
    def derived(self) -> Mapping[str, Computed | Loaded]:
        """The fields with code."""
        fields: tuple[Computed | Loaded, ...] = (*self.computed, *self.loaded, *self.downloads)
        return {field.name: field for field in fields}

    @cached_property
    def files(self) -> tuple[Attribute, ...]:
        """The attributes whose values are stored in S3."""
        return tuple(attribute for attribute in self.attributes if isinstance(attribute.type, File))

    @cached_property
    def downloads(self) -> tuple[Loaded, ...]:
        """A field for each file that returns its address; none if the key is faulty, which is reported separately."""
        if not self.files:
            return ()
        try:
            parts = (*self.key_names, *((self.owner,) if self.owner is not None else ()))
        except ModelError:
            return ()
        return tuple(
            download_field(self.name, file.name, tuple({file.name: 1, **dict.fromkeys(parts)})) for file in self.files
        )

    @cached_property
    def placements(self) -> tuple[Placement, ...]:
        return (
            self._placement(PRIMARY, None, self.key),
            *(self._placement(copy.name, None, copy) for copy in self.copies),
            *(self._placement(place.name or place.index, place.index, place) for place in self.indexes),
        )

    @cached_property
    def primary(self) -> Placement:
        return self.placements[0]

    @cached_property
    def retired(self) -> frozenset[str]:
        """Attributes that upgrades read and that are no longer declared."""
        return frozenset(need.name for upgrade in self.upgrades for need in upgrade.needs) - frozenset(self.attribute)

    @cached_property
    def moving(self) -> bool:
        """Whether its items are being added to an index or moved to other shards."""
        return any(
            place.filling or (place.shards is not None and place.shards.previous is not None)
            for place in self.placements
        )

    def placement(self, name: str) -> Placement | None:
        return next((place for place in self.placements if place.name == name), None)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The attributes that identify an item, in the order of its key; the one that selects its shard is among
        them."""
        holes = (*self.primary.pk.holes, *self.primary.sk.holes)
        spread = (self.key.shards.by,) if self.key.shards is not None else ()
        return tuple(dict.fromkeys((*(hole.name for hole in holes if hole.name not in DERIVED), *spread)))

    @cached_property
    def personal_key(self) -> bool:
        """Whether the key contains personal data, which global ids must not reveal."""
        return any(self.attribute[name].personal for name in self.key_names)

    @cached_property
    def id_needs(self) -> tuple[str, ...]:
        """The attributes that a global id is made of; none if the stored key is enough and a role may not read them."""
        in_key = {hole.name for hole in (*self.primary.pk.holes, *self.primary.sk.holes)}
        return () if self.personal_key and in_key.issuperset(self.key_names) else self.key_names

    def _placement(self, name: str, index: str | None, place: Key) -> Placement:
        pk, sk = (parse_template(f"entity {self.name}", text) for text in (place.pk, place.sk))
        return Placement(name, pk, sk, index, place, self.attributes)
