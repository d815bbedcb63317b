"""The position of a change feed: which changes were reported, and which items are reported later than created."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from gateway.graph.subscription.position import Vector, advanced
from gateway.model.keys import ItemKey
from gateway.stream.note import ChangeNote

_CREATED: Final = "created "  # in the content of a position, before the digest of an item; shards have other names


@dataclass(slots=True)
class FeedPosition:
    """`vector` says up to where changes were reported.

    Several changes of an item are reported once, at the place of the newest. `created` are digests of the items whose
    creation is before the position, but which are reported after it: as created, even after a resume.
    """

    vector: dict[str, str]
    created: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, content: Vector) -> "FeedPosition":
        created = {name.removeprefix(_CREATED) for name in content if name.startswith(_CREATED)}
        return cls({name: value for name, value in content.items() if not name.startswith(_CREATED)}, created)

    def content(self) -> dict[str, str]:
        return self.vector | {_CREATED + digest: "" for digest in sorted(self.created)}

    def is_new(self, key: ItemKey) -> bool:
        """Whether the creation of the item was not reported yet."""
        return _digest(key) in self.created

    def advance(self, note: ChangeNote, newest: Mapping[ItemKey, ChangeNote]) -> None:
        """Moves past the next note; `newest` are the notes at whose places the items are reported."""
        self.vector[note.shard] = note.sequence
        key = ItemKey(note.pk, note.sk)
        if key not in newest:
            return
        if newest[key].order == note.order:
            self.created.discard(_digest(key))
        elif note.kind == "created":
            self.created.add(_digest(key))

    def advance_to(self, end: Vector) -> None:
        """Moves to the end of the bus, after all notes were reported.

        INVARIANT: it never moves back, even if another process had received more than this one.
        """
        self.vector = advanced({shard: at for shard, at in self.vector.items() if shard in end}, end)


def _digest(key: ItemKey) -> str:
    return sha256(f"{key.pk} {key.sk}".encode()).hexdigest()[:16]
