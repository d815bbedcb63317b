import pytest

from gateway.errors import ModelError
from gateway.model.template import Hole, Literal, parse_template

NEWEST = parse_template("entity Order", "ORDER#{placedAt}#{orderId}")
PARTS = {"placedAt": "2026", "orderId": "o1"}


def test_a_template_is_words_and_holes() -> None:
    template = parse_template("entity Product", "PRICE#{price:10.2}#{shard}#{bucket}")
    assert template.segments == (Literal("PRICE"), Hole("price", 10, 2), Hole("shard"), Hole("bucket"))
    assert template.names == {"price"}
    assert [hole.name for hole in template.holes] == ["price", "shard", "bucket"]


def test_a_width_without_a_scale_is_for_whole_numbers() -> None:
    assert parse_template("entity Thing", "{count:6}").segments == (Hole("count", 6, 0),)


def test_it_is_rendered_and_read() -> None:
    assert NEWEST.render(PARTS) == "ORDER#2026#o1"
    assert NEWEST.readable() == "ORDER#<placedAt>#<orderId>"


def test_a_prefix_ends_with_the_separator_so_that_order_does_not_find_orders() -> None:
    assert NEWEST.prefix({}) == "ORDER#"
    assert NEWEST.prefix({"placedAt": "2026"}) == "ORDER#2026#"


def test_a_prefix_with_every_hole_filled_is_the_whole_key() -> None:
    assert NEWEST.prefix(PARTS) == "ORDER#2026#o1"
    assert parse_template("entity User", "PROFILE").prefix({}) == "PROFILE"


def test_a_prefix_stops_at_the_first_open_hole() -> None:
    assert NEWEST.prefix({"orderId": "o1"}) == "ORDER#"
    assert parse_template("entity Order", "{placedAt}#{orderId}").prefix({"orderId": "o1"}) == ""


@pytest.mark.parametrize(
    "text",
    [
        *("", "#", "ORDER#", "#ORDER", "ORDER##META", "order#{id}", "ORDER-{id}", "ORDER{id}", "{id", "id}", "{}"),
        *("{a}{b}", "{a b}", "{1a}", "{price:}", "{price:x}", "{price:10.}", "{price:-1}", "{price:١}", "{price:100}"),
        *("1ORDER", "ORDER #X", "É"),
    ],
)
def test_a_part_is_a_word_in_capitals_or_one_attribute(text: str) -> None:
    with pytest.raises(ModelError, match=r"entity Order: key `.*` has the part `.*`; between two `#` there must be"):
        parse_template("entity Order", text)


@pytest.mark.parametrize("text", ["TENANT#{tenant}#ORDER", "TENANT", "ORDER#TENANT"])
def test_a_template_cannot_write_the_tenant_prefix(text: str) -> None:
    with pytest.raises(ModelError, match=r"entity Order: .* writes the tenant prefix itself"):
        parse_template("entity Order", text)


def test_leading_words_end_at_the_first_hole() -> None:
    assert parse_template("entity Subject", "A#B#{id}#C").leading_literals == ("A", "B")
    assert parse_template("entity Subject", "{id}#A").leading_literals == ()
    assert parse_template("entity Subject", "A#B").leading_literals == ("A", "B")
