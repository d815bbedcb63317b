"""Breaking changes are named by their coordinate, and the changelog has to announce that name."""

import pytest
from graphql import build_schema as build

from gateway.errors import BadUserInput
from gateway.graph.schema.changes import SchemaChange, changes, unannounced

OLD = """
  type Query { order(orderId: ID!): Order other: Other }
  type Order implements Node { id: ID! note: String! total(in: String): Int status: Status! }
  type Other { a: Int }
  interface Node { id: ID! }
  enum Status { OPEN CLOSED }
  input Change { a: Int }
  union Found = Order | Other
  directive @here(at: Int) on FIELD
"""


@pytest.mark.parametrize(
    ("old", "new", "coordinate"),
    [
        ("note: String! ", "", "Order.note"),
        ("note: String!", "note: String", "Order.note"),
        ("orderId: ID!", "orderId: ID!, more: Int!", "Query.order(more:)"),
        ("total(in: String)", "total", "Order.total(in:)"),
        ("total(in: String)", "total(in: Int)", "Order.total(in:)"),
        ("OPEN CLOSED", "OPEN", "Status.CLOSED"),
        ("input Change { a: Int }", "input Change { a: Int b: Int! }", "Change.b"),
        ("= Order | Other", "= Order", "Found"),
        ("input Change { a: Int }", "", "Change"),
        ("type Other {", "interface Other {", "Other"),
        ("Order implements Node", "Order", "Order"),
        ("directive @here(at: Int) on FIELD", "", "@here"),
        ("@here(at: Int)", "@here", "@here(at:)"),
    ],
)
def test_a_breaking_change_is_named_by_its_coordinate(old: str, new: str, coordinate: str) -> None:
    assert OLD.count(old) == 1
    text = OLD.replace(old, new)
    if "interface Other" in text:
        text = text.replace("union Found = Order | Other", "union Found = Order")
    assert coordinate in [change.coordinate for change in changes(OLD, build(text)).breaking]


def test_an_addition_breaks_nothing_and_a_new_enum_value_is_dangerous() -> None:
    assert changes(OLD, build(OLD)).breaking == ()
    found = changes(OLD, build(OLD.replace("OPEN CLOSED", "OPEN CLOSED NEW").replace("a: Int }", "a: Int b: Int }", 1)))
    assert found.breaking == ()
    assert [change.coordinate for change in found.dangerous] == ["Status.NEW"]


def test_an_invalid_old_schema_is_reported() -> None:
    with pytest.raises(BadUserInput, match="old schema"):
        changes("type {", build(OLD))


CHANGELOG = """# Changelog
## 2.0.0 - unreleased
### Added
- `Order.note` is new
### Removed
- `Order.total`: ask for `Order.sum`.
### Changed
- `Query.order(orderId:)` is another.
### Fixed
- `Status.CLOSED`

## 1.0.0
### Removed
- `Other.a`
"""


@pytest.mark.parametrize(
    ("coordinate", "announced"),
    [
        ("Order.total", True),
        ("Query.order(orderId:)", True),
        ("Order.note", False),
        ("Status.CLOSED", False),
        ("Other.a", False),
        ("Order", False),
        ("Query.order", False),
    ],
)
def test_a_change_is_announced_under_changed_or_removed_of_the_newest_version(coordinate: str, announced: bool) -> None:
    change = SchemaChange(coordinate, "words")
    assert unannounced([change], CHANGELOG) == ([] if announced else [change])


def test_without_a_changelog_nothing_is_announced() -> None:
    change = SchemaChange("Order.total", "words")
    assert unannounced([change], "") == [change]
