"""The matrix of roles: printed from the model, put between the marks of a page."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphql import parse, validate

from gateway.demo import MODEL
from gateway.graph.schema.role_schema import role_schema
from gateway.graph.schema.schema import core_schema
from gateway.model.docs.roles import BEGIN, END, role_matrix, with_matrix
from gateway.model.model import Model
from gateway.model.role import STANDARD_ROLES, Role
from tests.graph.fixtures import SCHEMA

PAGE = Path(__file__).parents[3] / "docs" / "roles.md"


def row(text: str, entity: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {entity} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_a_cell_says_what_the_role_may_do() -> None:
    matrix = role_matrix(MODEL)
    assert row(matrix, "entity")[0] == "`admin`"
    admin, editor, support, viewer, customer, ordering = row(matrix, "Order")
    assert (admin, editor, viewer) == ("read, write, remove", "read, write", "read")
    assert support == "read; not `note`"
    assert (customer, ordering) == ("read own", "read, write")
    assert row(matrix, "Device")[-2:] == ["-", "-"]
    assert row(matrix, "UserSubscription")[-2] == "read own, write, remove"
    assert "`customer` may call `placeOrder`, `cancelOrder`" in matrix
    assert "No token carries `ordering`: `placeOrder`, `cancelOrder` act in it." in matrix


def test_the_matrix_follows_the_model() -> None:
    first, *others = MODEL.domains
    mutations = tuple(replace(each, acts_as=None) for each in first.mutations)
    clerk = Role(name="clerk", description="", reads=("Category", "productsByCategory"))
    changed = Model(domains=(replace(first, roles=(*STANDARD_ROLES, clerk), mutations=mutations), *others))
    assert row(role_matrix(changed), "Category")[-1] == "read"
    assert row(role_matrix(changed), "Order")[-1] == "-"


def test_a_page_gets_the_matrix_between_its_marks() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    made = with_matrix(page, MODEL)
    assert made == f"before\n{BEGIN}\n\n{role_matrix(MODEL)}\n\n{END}\nafter\n"
    assert with_matrix(made, MODEL) == made
    assert with_matrix("no marks\n", MODEL) == "no marks\n"


def test_the_page_of_roles_is_fresh() -> None:
    text = PAGE.read_text()
    assert BEGIN in text
    assert with_matrix(text, MODEL) == text


def test_the_examples_of_the_caller_as_an_argument_are_right() -> None:
    section = PAGE.read_text().partition("## The caller as an argument")[2].partition("\n## ")[0]
    code, query = re.findall(r"^```(?:python|graphql)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    imports, _, lines = code.partition("\n\n")
    exec(imports, names)  # noqa: S102  our own page
    lookup, listing, field = (eval(line, names) for line in lines.splitlines())  # noqa: S307  our own page
    assert MODEL.lookup("user").subject == lookup.subject
    assert MODEL.listing("emailsOfUser").defaults == listing.defaults
    assert field in next(each.input for each in MODEL.mutations if each.name == "placeOrder")
    schema = core_schema(SCHEMA)
    assert validate(schema, parse(query)) == []
    assert validate(role_schema(schema, MODEL, MODEL.roles["customer"]), parse(query)) == []
