"""A lane answers what graphql-core answers, or steps back: a sample of what `tests.graph.query.equality` runs."""

import pytest

from tests.graph.query.equality import Comparison

DOCUMENTS = 40


@pytest.mark.parametrize("seed", range(4))
async def test_random_documents_are_answered_as_graphql_core_answers_them(seed: int) -> None:
    comparison = Comparison(seed + 100)
    await comparison.run(DOCUMENTS)
    found = comparison.found
    counts = found.counts
    assert not found.differences, found.report()
    assert counts["lane"] > DOCUMENTS, found.report()
    assert not counts["read twice"], found.report()
    assert counts["more calls"] <= 0.1 * counts["lane"], found.report()
