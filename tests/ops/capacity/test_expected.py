"""What Terraform gets of the model's traffic."""

from gateway.demo import MODEL
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import demand, expected_units


def test_it_is_the_demand_of_every_place_in_whole_units() -> None:
    demanded, found = demand(MODEL, DEFAULTS), expected_units(MODEL)
    assert found.keys() == set(demanded.places)
    for place, units in found.items():
        need = demanded.need(place)
        assert 0 <= units["read"] - need.read < 1
        assert 0 <= units["write"] - need.write < 1
