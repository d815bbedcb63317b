import pytest

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.cost import payoffs
from gateway.ops.capacity.prices import read_prices

PRICES = read_prices()


def test_three_small_nodes_cost_about_88_dollars() -> None:
    small = payoffs(0, Assumptions(), PRICES)[0]
    assert (small.node, small.nodes) == ("dax.t3.small", 3)
    assert small.cluster == pytest.approx(87.6)
    assert not small.pays


def test_a_cluster_pays_from_its_break_even_on() -> None:
    assumed = Assumptions(average_share=0.5, cache_hits=0.8)
    small = payoffs(0, assumed, PRICES)[0]
    # 87.60 over 0.8 x 2.628 million seconds x 0.125 a million
    assert small.break_even == pytest.approx(87.6 / (0.8 * 2.628 * 0.125))
    busy_hour = small.break_even / 0.5
    assert payoffs(busy_hour * 1.01, assumed, PRICES)[0].pays
    assert not payoffs(busy_hour * 0.99, assumed, PRICES)[0].pays


def test_it_saves_less_where_capacity_is_provisioned() -> None:
    small = payoffs(5_000, Assumptions(), PRICES)[0]
    assert 0 < small.saved_autoscaled < small.saved_on_demand


def test_a_cache_that_answers_nothing_never_pays() -> None:
    assert payoffs(5_000, Assumptions(cache_hits=0), PRICES)[0].break_even == float("inf")
