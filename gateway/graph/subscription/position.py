"""Positions: which changes a subscriber has seen, encrypted and bound to tenant, subject and subscription.

They are sealed like cursors. A position is useless to another tenant, to another subject of a role of own rows, and
for another subscription.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from gateway.errors import BadUserInput
from gateway.store.cursor import Cursors

Vector = Mapping[str, str]  # shard -> the sequence of the last change that was seen
_LONGEST: Final = 65_536


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
