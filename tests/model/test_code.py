"""Fields with code are data: an entity names them, a model finds the queries of all domains."""

from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.model import Domain, Model
from gateway.model.types import Integer, Text
from tests.model.build import thing


async def load(reader: object, rows: list[object]) -> list[int]:
    return [1 for _ in rows]


async def run(reader: object, arguments: object) -> str:
    return "word"


def test_a_derived_field_may_be_null_and_takes_no_arguments_by_default() -> None:
    size = Computed("size", Integer(), "Its size.", needs=("label",), run=lambda values: 1)
    assert (size.required, size.arguments, size.deprecated) == (False, (), None)


def test_an_entity_knows_its_derived_fields_by_name() -> None:
    size = Computed("size", Integer(), "Its size.", needs=("label",), run=lambda values: 1)
    rating = Loaded("rating", Integer(), "Its rating.", needs=("thingId",), load=load)
    entity = thing(computed=(size,), loaded=(rating,))
    assert entity.derived == {"size": size, "rating": rating}


def test_a_model_has_the_queries_of_all_domains() -> None:
    word = CustomQuery(name="word", description="A word.", returns=Text(), run=run, cost=1)
    domain = Domain(name="test", description="", entities=(thing(),), patterns=(), queries=(word,))
    assert Model(domains=(domain,)).queries == {"word": word}
