"""What is read of a document's operations: variables as graphql-core reads them, and documents kept as long as used."""

import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest
from graphql import parse, validate
from graphql.execution.values import get_variable_values
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.demo import MODEL
from gateway.errors import LimitExceeded
from gateway.graph.query import operation as operations
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Admitted, Documents
from gateway.graph.schema.schema import core_schema
from tests.drawn import drawn
from tests.graph.fixtures import SCHEMA
from tests.graph.path_trace import OPERATIONS
from tests.graph.test_loop_holds import LARGEST

DOCUMENTS = Documents(MODEL, core_schema(SCHEMA), DocumentLimits(), introspection=True)
TEXT = """query A($id: ID!, $n: Int = 3, $after: String, $on: Boolean! = true) {
  user(userId: $id) { name @include(if: $on) orders(first: $n, after: $after) { nodes { total } } } }"""
OPERATION = DOCUMENTS.get(TEXT).operation("A")
VALUES = st.one_of(
    st.none(), st.booleans(), st.text(max_size=3), st.floats(allow_nan=False), st.just([1]), st.just({"a": 1}),
    st.sampled_from([0, 1, -(2**31), -(2**31) - 1, 2**31 - 1, 2**31]),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["id", "n", "after", "on", "unknown"]), VALUES))
@settings(max_examples=drawn(500, 50))
def test_variables_are_read_as_graphql_core_reads_them(sent: dict[str, Any]) -> None:
    assert OPERATION is not None
    expected = get_variable_values(DOCUMENTS.schema, OPERATION.node.variable_definitions or (), sent, 5)
    admitted = OPERATION.admit(sent)
    if isinstance(expected, list):
        assert isinstance(admitted, list)
        assert [error.message for error in admitted] == [error.message for error in expected]
    else:
        assert isinstance(admitted, Admitted)
        assert admitted.variables == expected.coerced
        # 1 == True, but they are not the same
        assert {k: type(v) for k, v in admitted.variables.items()} == {k: type(v) for k, v in expected.coerced.items()}


@pytest.mark.parametrize("name", ["id", "unknown"])
def test_a_variable_is_limited_whatever_its_type_and_whether_it_is_declared(name: str) -> None:
    assert OPERATION is not None
    with pytest.raises(LimitExceeded):
        OPERATION.admit({"id": "u", name: [0] * 1_001})


def test_documents_are_kept_as_long_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_REMEMBERED_BYTES", 400_000)
    documents = Documents(MODEL, core_schema(SCHEMA), DocumentLimits(), introspection=True)
    texts = [f'{{ user(userId: "{number}") {{ name }} }}' for number in range(200)]
    often = documents.get(texts[0])
    for text in texts:
        documents.get(text)
        assert documents.known(texts[0]) is often
    kept = [text for text in texts if documents.known(text) is not None]
    assert len(kept) < 40, "no more than there is room for"
    assert texts[-1] in kept


def calls_of(work: Callable[[], object]) -> int:
    """Python calls, which are the same on every machine; the second time, when nothing is made that is kept."""
    work()
    count = 0

    def see(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_new_document_costs_at_most_twice_what_parsing_and_validating_it_costs(name: str) -> None:
    text, variables = OPERATIONS[name][1]["query"], OPERATIONS[name][1]["variables"]

    def admit() -> None:
        operation = DOCUMENTS.prepare(text).operation(None)
        assert operation is not None
        assert isinstance(operation.admit(variables), Admitted)

    assert calls_of(admit) <= 2 * calls_of(lambda: validate(DOCUMENTS.schema, parse(text)))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{ " + "a " * 49 + "}", "LIMIT_EXCEEDED"),
        ("{ a }" + "\n# more" * 50, "LIMIT_EXCEEDED"),
        ("{ a(b: " + "[" * 3_000, "LIMIT_EXCEEDED"),
        ("{ " + "a " * 48 + "?", "GRAPHQL_PARSE_FAILED"),
        ("{ " + "a " * 48 + '"', "GRAPHQL_PARSE_FAILED"),
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ " + "a " * 30 + "}", "GRAPHQL_VALIDATION_FAILED"),
    ],
)
def test_a_document_that_passes_a_limit_is_not_a_syntax_error(text: str, code: str) -> None:
    limits = DocumentLimits(tokens=5_000 if "[" in text else 50)
    document = Documents(MODEL, core_schema(SCHEMA), limits, introspection=True).prepare(text)
    assert document.code == code
    assert document.ast is None
    assert document.errors


@pytest.mark.parametrize(("text", "bound"), [("{ product(productId: 1) { title } }", 1), (
    "query ($on: Boolean!) { product(productId: 1) { title @include(if: $on) } }", 0)])  # fmt: skip
def test_a_document_is_bound_while_it_is_prepared_which_happens_beside_the_loop(text: str, bound: int) -> None:
    operation = DOCUMENTS.prepare(text).operation(None)
    assert operation is not None
    assert len(operation._variants) == bound, "what its variables decide is bound with them"


@pytest.mark.parametrize(
    "text",
    [
        LARGEST,
        LARGEST.replace("price", "prize"),
        f"{{ {' '.join(f'a{each}' for each in range(2_400))} }}",
        f"{{ {'a ' * 2_400} ?",
        f"{{ {'a ' * 6_000} }}",
    ],
    ids=["may run", "some unknown fields", "validation is aborted", "a syntax error", "too many tokens"],
)
@pytest.mark.usefixtures("frozen_heap")
def test_a_document_that_is_dropped_is_freed_at_once(text: str) -> None:
    """The garbage collector would free many of them at once, and stop the process meanwhile."""
    DOCUMENTS.prepare(text)
    gc.collect()
    gc.disable()
    try:
        DOCUMENTS.prepare(text)
        assert gc.collect() < 1_000, "only the visitors of graphql-core are left"
    finally:
        gc.enable()
