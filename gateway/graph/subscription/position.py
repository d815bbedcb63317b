"""Positions: which changes a subscriber has seen, encrypted and bound to tenant, role, subject and subscription.

They are sealed like cursors. A position is useless to another tenant, to another role, to another subject of a role of
own rows, and for another subscription. Those of change feeds are shared by the roles that see the whole tenant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import orjson

from gateway.errors import BadUserInput
from gateway.model.keys import ItemKey
from gateway.store.cursor import Cursors
from gateway.stream.note import ChangeNote

Vector = Mapping[str, str]  # shard -> the sequence of the last change that was seen
_LONGEST: Final = 65_536
_CREATED: Final = "created "  # in the content of a position, before the digest of an item; shards have other names


def advanced(vector: Vector, to: Vector) -> dict[str, str]:
    """Returns the position after everything up to either of the two."""
    return {**vector, **{shard: max(vector.get(shard, "-1"), sequence, key=int) for shard, sequence in to.items()}}


def is_ahead(vector: Vector, of: Vector) -> bool:
    """Whether the position includes a change that the other one does not."""
    return any(int(sequence) > int(of.get(shard, "-1")) for shard, sequence in vector.items())


class Positions:
    def __init__(self, cursors: Cursors) -> None:
        self.cursors = cursors

    def seal(self, scope: str, watch: str, arguments: Mapping[str, Any], vector: Vector) -> str:
        return self.cursors.seal(scope, _purpose(watch), arguments, orjson.dumps(dict(vector)).decode())

    def open(self, scope: str, watch: str, arguments: Mapping[str, Any], text: object) -> dict[str, str]:
        """The vector, or `BadUserInput`: forged positions and those of other subscriptions get the same error."""
        wrong = "the position does not belong to this subscription; leave it out to get the current state"
        if not isinstance(text, str):
            raise BadUserInput(wrong)
        try:
            vector: dict[str, str] = orjson.loads(
                self.cursors.open(scope, _purpose(watch), arguments, text, longest=_LONGEST)
            )
        except BadUserInput as error:
            raise BadUserInput(wrong) from error
        return vector


def _purpose(watch: str) -> str:
    # no listing has such a name, so no cursor is a valid position
    return f"position of {watch}"


@dataclass(slots=True)
class FeedPosition:
    """The position of a change feed; `vector` says up to where changes were reported.

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
