"""The text that `gateway records` writes, for every kind of type."""

import ast

from gateway.demo import MODEL
from gateway.model.entity import Attribute
from gateway.model.types import Blob, Field, Integer, ListOf, SetOf, Struct, Text
from gateway.ops.record_classes import record_classes
from tests.model.build import ATTRIBUTES, model, thing

INNER = Struct("Inner", (Field("size", Integer(), ""), Field("label", Text(), "", required=False)), "What is inside.")


def annotations(text: str, name: str) -> dict[str, str]:
    [found] = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == name]
    return {
        node.target.id: ast.unparse(node.annotation)
        for node in found.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def test_every_type_has_its_python_type() -> None:
    more = (
        Attribute("inner", INNER, ""),
        Attribute("many", ListOf(INNER), "", required=False),
        Attribute("tags", SetOf(Text()), ""),
        Attribute("picture", Blob(), ""),
    )
    text = record_classes(model(thing(attributes=(*ATTRIBUTES, *more))))
    found = annotations(text, "Thing")
    expected = {"inner": "Inner", "many": "list[Inner] | None", "tags": "frozenset[str]", "picture": "bytes"}
    assert {name: found[name] for name in expected} == expected
    assert annotations(text, "Inner") == {"size": "int", "label": "NotRequired[str]"}


def test_each_entity_of_the_demo_has_a_class_with_all_of_its_attributes() -> None:
    text = record_classes(MODEL)
    for entity in MODEL.entities.values():
        assert list(annotations(text, entity.name)) == [attribute.name for attribute in entity.attributes]
    assert annotations(text, "Order")["status"] == "OrderStatus"
    assert "    from gateway.demo.commerce.order import OrderStatus\n" in text
