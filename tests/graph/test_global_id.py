"""Global ids: they lead back to their key for their own tenant, and to nothing for everybody else."""

import pytest

from gateway.graph.global_id import global_id, node_key, read_global_id
from gateway.model.keys import item_key
from gateway.model.tenant import tenant_id
from tests.model.build import thing

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
ID = global_id(ACME, "Thing", ("a", "ü"))


def test_an_id_is_read_back() -> None:
    assert read_global_id(ACME, ID) == ("Thing", ("a", "ü"))


def test_an_id_is_stable() -> None:
    """Clients store ids for years: a change of their form is a breaking change."""
    assert global_id(ACME, "User", ("u-1001",)) == "FSDAGe_mVXNlciN1LTEwMDE"


def test_an_id_of_another_tenant_is_nothing() -> None:
    assert read_global_id(GLOBEX, ID) is None


@pytest.mark.parametrize("text", ["", "?", ID[:-1], ID + "A", ID + "=", ID[::-1], "A" * 3_000, "ü"])
def test_an_altered_id_is_nothing(text: str) -> None:
    assert read_global_id(ACME, text) is None


def test_an_id_has_one_spelling() -> None:
    """The last letter of base64 has spare bits; a second spelling would be a second cache entry of one item."""
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        text = ID[:-1] + letter
        assert (read_global_id(ACME, text) is not None) is (text == ID)


def test_the_parts_of_an_id_make_the_key_of_its_item() -> None:
    assert node_key(ACME, thing(), ("a",)) == item_key(ACME, thing(), {"thingId": "a"})


@pytest.mark.parametrize("parts", [(), ("a", "b"), ("",), ("a b",), ("*",)])
def test_parts_that_make_no_key_are_nothing(parts: tuple[str, ...]) -> None:
    assert node_key(ACME, thing(), parts) is None
