"""A declared mutation is data: what it says is what it holds."""

from typing import Any

from gateway.model.mutation import Mutation
from gateway.model.types import Field, Id
from tests.model.build import model, thing


async def run(writer: Any, values: dict[str, Any]) -> Any:
    return values


def test_the_model_has_the_mutations_of_all_its_domains_in_their_order() -> None:
    one = Mutation(name="one", description="", returns="Thing", input=(Field("thingId", Id(), ""),), run=run)
    two = Mutation(name="two", description="", returns="Thing", input=(), run=run)
    assert model(thing(), mutations=(one, two)).mutations == (one, two)
    assert one.extras == ()
