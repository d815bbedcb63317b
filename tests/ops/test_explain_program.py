"""The generated functions of a query can be read: which there are, what they stand for, and where there are none."""

import ast
import gc
import linecache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.main import app
from gateway.graph.query.lane.generated import function, functions, source_of
from gateway.settings import DEMO_DOMAINS

DOMAINS = [text for name in DEMO_DOMAINS for text in ("--domains", name)]

_QUERY = """query Orders($n: Int!, $all: Boolean!) { reviewQueue(first: $n) { nodes {
  number: orderId currency @include(if: $all) user { name } } } }"""


def _run(tmp_path: Path, text: str, *options: str) -> tuple[int, str]:
    (tmp_path / "one.graphql").write_text(text)
    result = CliRunner().invoke(app, ["explain-program", str(tmp_path / "one.graphql"), *options, *DOMAINS])
    return result.exit_code, result.output


def test_the_functions_of_a_query_are_printed_with_what_their_names_stand_for(tmp_path: Path) -> None:
    code, text = _run(tmp_path, _QUERY)
    assert code == 0
    names = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    # `put` is shared by all queries of a process, so it is printed where it was made
    assert [name for name in names if name != "put"] == ["shape", "keys", "shape", "partitions"]
    assert "# Out: f0 = number, f1 = user\n" in text
    assert "a0 = orderId" in text
    assert "# k0 = 'USER#'\n" in text


def test_variables_decide_what_is_included(tmp_path: Path) -> None:
    _, text = _run(tmp_path, _QUERY, "--variables", '{"all": true}')
    assert "# Out: f0 = number, f1 = currency, f2 = user\n" in text


def test_what_a_role_may_not_read_is_not_in_its_functions(tmp_path: Path) -> None:
    assert "= name\n" in _run(tmp_path, _QUERY, "--role", "viewer")[1].replace(", ttl = ttl", "")
    _, text = _run(tmp_path, _QUERY, "--role", "support")
    assert "return [Out(None) for row in rows]" in text


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("{ gone }", (), "Cannot query field 'gone'"),
        ('mutation { removeCategory(input: {categoryId: "a"}) { errors { code } } }', (), "graphql-core runs it"),
        ("query A { me: __typename } query B { __typename }", (), "name one of the operations: A, B"),
        ("{ __schema { types { name } } }", (), "graphql-core runs this query"),
        ("{ __typename }", ("--role", "king"), "there is no role `king`"),
        ("{ __typename }", ("--variables", "{"), "cannot be read"),
    ],
)
def test_where_nothing_is_generated_the_reason_is_reported(
    tmp_path: Path, text: str, options: tuple[str, ...], expected: str
) -> None:
    code, output = _run(tmp_path, text, *options)
    assert (code, expected in output) == (1, True), output


@pytest.mark.usefixtures("frozen_heap")
def test_a_function_that_is_gone_leaves_no_source_behind() -> None:
    made = function("one", ["def one():", "  return 1"], {})
    file = made.__code__.co_filename
    assert made in functions()
    assert source_of(made) == "def one():\n  return 1\n"
    del made
    gc.collect()
    assert file not in linecache.cache


def test_fields_with_code_are_named(tmp_path: Path) -> None:
    query = '{ linesOfProduct(productId: "p-1001") { nodes { lineTotal product { deliveryDays } } } }'
    _, text = _run(tmp_path, query)
    assert "# code4: OrderLine.lineTotal, computed from quantity, unitPrice\n" in text
    assert "return [Out(code4(row), None) for row in rows]" in text
    assert "# Product.deliveryDays, loaded from productId, categoryId in one call for all rows\n" in text
