"""What is wrong with a watch, and that each fault names it and the fix."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.entity import Bucket, Copy, Key
from gateway.model.model import Domain, Model
from gateway.model.patterns import ItemCollection, Listing, Lookup, Watch
from tests.model.build import on, thing

COPIES = (Copy(name="byOwner", pk="OWNER#{ownerId}", sk="THING#{madeAt}#{thingId}"),)
THING = thing(copies=COPIES, indexes=(on(sk="THING#{madeAt}#{thingId}"),))
READING = thing(
    name="Reading",
    key=Key(pk="READING#{thingId}#{bucket}", sk="{madeAt}", bucket=Bucket(of="madeAt", size="day")),
)
HIDDEN = thing(name="Hidden", key=Key(pk="HIDDEN#{thingId}", sk="META"), internal=True)


def _listing(name: str, index: str, **changes: Any) -> Listing:
    return Listing(name=name, entity="Thing", index=index, description="", **changes)


LOOKUP = Lookup(name="thing", entity="Thing", description="")
PATTERNS = (
    _listing("owned", "GSI1", between="madeAt"),
    _listing("copied", "byOwner", between="madeAt"),
    _listing("one", "GSI1", single=True),
    _listing("lately", "byOwner", between="madeAt", window=timedelta(hours=1)),
    Listing(name="readings", entity="Reading", between="madeAt", description=""),
    Lookup(name="hidden", entity="Hidden", description=""),
)


def _watch(pattern: str, name: str = "watched") -> Watch:
    return Watch(name=name, pattern=pattern, description="")


def _faults(*watches: Watch, lookup: bool = True) -> list[str]:
    patterns = (*PATTERNS, *((LOOKUP,) if lookup else ()))
    domain = Domain(name="d", description="", entities=(THING, READING, HIDDEN), patterns=patterns, watches=watches)
    try:
        Model(domains=(domain,))
    except ModelError as error:
        return list(error.faults)
    return []


@pytest.mark.parametrize("pattern", ["thing", "owned", "copied"])
def test_lookups_and_listings_can_be_watched(pattern: str) -> None:
    assert _faults(_watch(pattern)) == []


@pytest.mark.parametrize(
    ("watch", "fault"),
    [
        (_watch("none"), "there is no pattern `none`: did you mean `one`?"),
        (_watch("thing", "Watched"), "`Watched` is not a name such as orderChanged"),
        (_watch("one"), "`one` returns one item; watch the lookup of Thing instead"),
        (
            _watch("lately"),
            "`lately` lists a moving time range; watch a listing without buckets and window",
        ),
        (_watch("hidden"), "Hidden is internal, so it cannot be watched"),
        (Watch(name="watched", pattern=1, description=""), "`pattern` must be a string"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_watched_is_reported_with_the_fix(watch: Watch, fault: str) -> None:
    assert any(found == f"watch {watch.name}: {fault}" or fault in found for found in _faults(watch)), _faults(watch)


def test_a_list_in_buckets_cannot_be_watched() -> None:
    assert any("a moving time range" in fault for fault in _faults(_watch("readings")))


def test_a_list_needs_a_lookup_of_its_entity() -> None:
    assert _faults(_watch("owned"), lookup=False) == [
        "watch watched: Thing has no lookup, which the id of a changed item needs; declare a Lookup"
    ]


def test_a_name_is_given_once_and_all_faults_come_at_once() -> None:
    assert _faults(_watch("thing"), _watch("thing"), _watch("none", "other")) == [
        "watch other: there is no pattern `none`: did you mean `one`?",
        "watch watched: is declared twice",
    ]


def test_an_item_collection_is_not_watched() -> None:
    from gateway.demo import MODEL

    assert isinstance(MODEL.patterns["orderWithLines"], ItemCollection)
    domains = [*MODEL.domains]
    with pytest.raises(ModelError, match="watch the lookup of Order instead"):
        Model(
            domains=(
                *domains,
                Domain(name="w", description="", entities=(), patterns=(), watches=(_watch("orderWithLines"),)),
            )
        )
