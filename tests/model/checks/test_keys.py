from typing import Any

import pytest

from gateway.model.entity import Attribute, Bucket, Copy, Entity, Key, Shards
from gateway.model.types import Blob, Field, Id, KeyString, ListOf, SetOf, Struct, Text
from tests.model.build import ATTRIBUTES, fault, on, passes, thing

SMALL = "few"


def keyed(pk: str, sk: str = "META", **more: Any) -> Entity:
    return thing(key=Key(pk=pk, sk=sk, **more))


def test_an_unknown_attribute_in_a_template_is_named() -> None:
    assert (
        fault(keyed("THING#{thing}"))
        == "entity Thing: key `THING#{thing}`: the attribute `thing` is unknown: did you mean `thingId`?"
    )
    assert "`born` is unknown" in fault(thing(indexes=(on(sk="{born}#{thingId}"),)))


@pytest.mark.parametrize(
    "kind", [Text(), Blob(), ListOf(Id()), SetOf(Id()), Struct("Part", (Field("label", Text(), ""),))]
)
def test_a_key_part_that_can_contain_the_separator_is_refused(kind: Any) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute("extra", kind, "")), indexes=(on(pk="EXTRA#{extra}"),))
    assert fault(wrong).startswith("entity Thing: key `EXTRA#{extra}`: `extra` can contain `#`")


@pytest.mark.parametrize("hole", ["{price}", "{count}", "{price:0}", "{price:38.1}", "{count:39}"])
def test_a_number_in_a_key_needs_a_width(hole: str) -> None:
    said = fault(thing(indexes=(on(sk=f"{hole}#{{thingId}}"),)))
    assert said.startswith(f"entity Thing: key `{hole}#{{thingId}}`: the number ")
    assert "needs a width of 1 to 38 digits" in said


def test_a_whole_number_has_no_decimals() -> None:
    said = fault(thing(indexes=(on(sk="{count:5.2}#{thingId}"),)))
    assert said == "entity Thing: key `{count:5.2}#{thingId}`: `count` is a whole number and has no decimals"


def test_only_a_number_has_a_width() -> None:
    said = fault(thing(indexes=(on(sk="{madeAt:5}#{thingId}"),)))
    assert said == "entity Thing: key `{madeAt:5}#{thingId}`: `madeAt` has a width but is not a number"


def test_a_key_of_the_table_is_made_of_what_is_always_there() -> None:
    assert "`nick` may be absent" in fault(keyed("THING#{nick}"))
    wrong = thing(copies=(Copy(name="byNick", pk="NICK#{nick}", sk="{thingId}"),))
    assert fault(wrong).startswith("entity Thing: key `NICK#{nick}`: `nick` may be absent")


def test_a_key_of_an_index_may_be_made_of_what_can_be_absent() -> None:
    assert passes(thing(indexes=(on(pk="NICK#{nick}"),)))


def test_a_shard_is_declared_where_it_is_used_and_used_where_it_is_declared() -> None:
    assert (
        fault(keyed("THING#{thingId}#{shard}"))
        == "entity Thing: key `THING#{thingId}#{shard}` has {shard} but declares none"
    )
    said = fault(keyed("THING#{thingId}", shards=Shards(4, by="thingId")))
    assert said == "entity Thing: key `THING#{thingId}` declares a shard but has no {shard}"


def test_a_bucket_is_declared_where_it_is_used_and_used_where_it_is_declared() -> None:
    assert "has {bucket} but declares none" in fault(keyed("THING#{thingId}#{bucket}"))
    said = fault(keyed("THING#{thingId}", sk="{madeAt}", bucket=Bucket("madeAt", "day")))
    assert said == "entity Thing: key `THING#{thingId}` declares a bucket but has no {bucket}"


@pytest.mark.parametrize("part", ["{shard}", "{bucket}"])
def test_shard_and_bucket_belong_into_the_partition_key(part: str) -> None:
    assert (
        fault(keyed("THING#{thingId}", sk=part))
        == f"entity Thing: key `{part}`: shard and bucket belong in the partition key"
    )


@pytest.mark.parametrize(
    ("shards", "said"),
    [
        (Shards(4, by="size"), "is sharded by the unknown attribute `size`"),
        (Shards(4, by="colour"), "is sharded by `colour`, which has few values or several spellings"),
        (Shards(4, by="price"), "is sharded by `price`, which has few values or several spellings"),
        (Shards(4, by="label"), "is sharded by `label`, which has few values or several spellings"),
        (Shards(4, by="nick"), "is sharded by `nick`, which may be absent"),
        (Shards(1, by="thingId"), "has 1 shards; it may have 2 to 256"),
        (Shards(257, by="thingId"), "has 257 shards; it may have 2 to 256"),
        (Shards(0, by="thingId"), "has 0 shards"),
    ],
)
def test_shards_spread_by_an_attribute_with_many_values(shards: Shards, said: str) -> None:
    wrong = keyed("THING#{shard}", sk="{thingId}#{ownerId}", shards=shards)
    assert fault(wrong).startswith(f"entity Thing: key `THING#{{shard}}` {said}")


def test_an_index_may_be_sharded_by_what_can_be_absent() -> None:
    assert passes(thing(indexes=(on(pk="NICKS#{shard}", sk="{nick}#{thingId}", shards=Shards(4, by="nick")),)))


@pytest.mark.parametrize(
    ("bucket", "sk", "said"),
    [
        (Bucket("born", "day"), "{madeAt}#{thingId}", "needs a timestamp for its buckets, but `born` is not one"),
        (Bucket("email", "day"), "{email}#{thingId}", "needs a timestamp for its buckets, but `email` is not one"),
        (Bucket("madeAt", "day"), "{thingId}", "has buckets, so `{thingId}` must sort by their time `madeAt`"),
        (Bucket("madeAt", "day"), "{thingId}#{madeAt}", "has buckets, so `{thingId}#{madeAt}` must sort by"),
        (Bucket("madeAt", "day"), "META", "has buckets, so `META` must sort by their time `madeAt`"),
        (Bucket("madeAt", "week"), "{madeAt}#{thingId}", "has buckets of one `week`; there are hour, day, month"),  # type: ignore[arg-type]  # the fault
    ],
)
def test_buckets_split_by_the_time_that_the_items_are_sorted_by(bucket: Bucket, sk: str, said: str) -> None:
    wrong = keyed("LOG#{ownerId}#{bucket}", sk=sk, bucket=bucket)
    assert fault(wrong).startswith(f"entity Thing: key `LOG#{{ownerId}}#{{bucket}}` {said}")


@pytest.mark.parametrize(
    ("pk", "more"),
    [
        ("THINGS", {}),
        ("COLOUR#{colour}", {}),
        ("ACTIVE#{active}#{colour}", {}),
        ("LOG#{bucket}", {"bucket": Bucket("madeAt", "month")}),
        ("LOG#{bucket}", {"bucket": Bucket("madeAt", "hour")}),
    ],
)
def test_a_partition_with_few_values_needs_shards_or_a_reason(pk: str, more: dict[str, Any]) -> None:
    wrong = thing(indexes=(on(pk=pk, sk="{madeAt}#{thingId}", **more),))
    assert fault(wrong).startswith(f"entity Thing: key `{pk}` has few values, so many items share one partition")
    assert passes(thing(indexes=(on(pk=pk, sk="{madeAt}#{thingId}", low_cardinality_reason="there are few", **more),)))


@pytest.mark.parametrize("pk", ["COLOUR#{colour}#{shard}", "{shard}", "ALL#{shard}"])
def test_shards_make_up_for_few_values(pk: str) -> None:
    assert passes(thing(indexes=(on(pk=pk, shards=Shards(4, by="thingId")),)))


@pytest.mark.parametrize("pk", ["{email}", "{madeAt}", "{price:8.2}", "{count:4}", "COLOUR#{colour}#{ownerId}"])
def test_a_partition_for_each_of_many_values_needs_no_shards(pk: str) -> None:
    assert passes(thing(indexes=(on(pk=pk),)))


def test_an_index_key_tells_items_apart_or_a_cursor_would_skip_some() -> None:
    said = fault(thing(indexes=(on(sk="{madeAt}"),)))
    assert said == (
        "entity Thing: key `OWNER#{ownerId}` / `{madeAt}` on GSI1 does not tell items apart: it lacks thingId"
    )


def test_a_copy_tells_items_apart_or_one_would_overwrite_the_other() -> None:
    said = fault(thing(copies=(Copy(name="byOwner", pk="OWNER#{ownerId}", sk="THING#{madeAt}"),)))
    assert said.startswith(
        "entity Thing: key `OWNER#{ownerId}` / `THING#{madeAt}` on the table does not tell items apart"
    )
    assert said.endswith("it lacks thingId")


def test_items_in_different_shards_have_different_sort_keys() -> None:
    wrong = keyed("COUNTER#{thingId}#{shard}", sk="COUNT", shards=Shards(8, by="ownerId"))
    assert "on the table does not tell items apart: it lacks ownerId" in fault(wrong)
    assert passes(keyed("COUNTER#{thingId}#{shard}", sk="COUNT#{ownerId}", shards=Shards(8, by="ownerId")))


def test_a_sort_key_that_can_be_too_long_for_dynamodb_is_refused() -> None:
    long = tuple(Attribute(f"name{number}", KeyString(), "") for number in range(4))
    holes = "#".join(f"{{{attribute.name}}}" for attribute in long)
    wrong = thing(attributes=(*ATTRIBUTES, *long), indexes=(on(sk=f"{holes}#{{thingId}}"),))
    assert fault(wrong) == f"entity Thing: key `{holes}#{{thingId}}` can have 1156 bytes, there is room for 1000"


def test_a_partition_key_that_can_be_too_long_for_dynamodb_is_refused() -> None:
    long = tuple(Attribute(f"name{number}", KeyString(), "") for number in range(8))
    holes = "#".join(f"{{{attribute.name}}}" for attribute in long)
    wrong = thing(attributes=(*ATTRIBUTES, *long), indexes=(on(pk=holes),))
    assert fault(wrong) == f"entity Thing: key `{holes}` can have 2055 bytes, there is room for 1977"


def test_every_kind_of_part_is_reckoned_with_its_length() -> None:
    parts = "#".join(["{email}"] * 3 + ["{madeAt}", "{colour}", "{active}", "{price:30.8}", "{count:20}"])
    fits = f"{parts}#{{thingId}}"  # 3 * 256 + 27 + 5 + 5 + 39 + 21 + 128 and 8 separators
    assert "can have 1001 bytes" in fault(thing(indexes=(on(sk=fits),)))
    assert passes(thing(indexes=(on(sk=fits.replace("{count:20}", "{count:19}")),)))


def test_shards_and_buckets_have_a_length_too() -> None:
    long = tuple(Attribute(f"name{number}", KeyString(), "") for number in range(7))
    holes = "#".join(f"{{{attribute.name}}}" for attribute in long)
    spread: dict[str, Any] = {"shards": Shards(4, by="thingId"), "bucket": Bucket("madeAt", "hour")}
    pk = f"{holes}#{{shard}}#{{bucket}}#{{thingId}}"  # 7 * 256 + 2 * 13 + 128 and 9 separators
    assert passes(thing(attributes=(*ATTRIBUTES, *long), indexes=(on(pk=pk, sk="{madeAt}", **spread),)))
    wrong = thing(attributes=(*ATTRIBUTES, *long), indexes=(on(pk=f"{'X' * 22}#{pk}", sk="{madeAt}", **spread),))
    assert "can have 1978 bytes, there is room for 1977" in fault(wrong)
