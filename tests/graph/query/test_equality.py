"""A lane answers what graphql-core answers, or steps back: a sample of what `tests.graph.query.equality` runs."""

import re
from typing import Any

import pytest

from gateway.graph.query.lane.lane import Lanes
from tests.graph.query.equality import Comparison

DOCUMENTS = 40


# graphql-core drops what it has not begun when a sibling fails, and each dropped coroutine is complained of
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
async def test_random_documents_are_answered_as_graphql_core_answers_them(seed: int) -> None:
    comparison = Comparison(seed + 100)
    await comparison.run(DOCUMENTS)
    found = comparison.found
    counts = found.counts
    assert not found.differences, found.report()
    # the others fail by chance or by code that fails, or are asked of the reference from the start
    assert counts["lane"] >= 0.4 * counts["comparisons"], found.report()
    assert not counts["read twice"], found.report()
    assert counts["more calls"] <= 0.1 * counts["lane"], found.report()


async def test_a_difference_is_reported_with_its_document_and_the_command_that_repeats_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Lanes.run

    async def wrong(lanes: Lanes, *arguments: Any) -> Any:
        found = await run(lanes, *arguments)
        return found and (found[0].replace(b"e", b"E", 1), found[1])

    monkeypatch.setattr(Lanes, "run", wrong)
    comparison = Comparison(1)
    await comparison.run(10)
    difference = comparison.found.differences[0]
    assert "\nquery Q" in difference
    [number] = re.findall(r"again: python -m tests.graph.query.equality --seed 1 --document (\d+)", difference)
    monkeypatch.undo()
    again = Comparison(1)
    await again.run_one(int(number))
    assert not again.found.differences, "the lane was wrong, not the comparison"
