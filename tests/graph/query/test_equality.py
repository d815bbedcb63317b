"""A lane answers what graphql-core answers, or steps back: a sample of what `tests.graph.query.equality` runs."""

import pytest

from gateway.graph.query.lane.step_back import Reason
from tests.graph.query.equality import Comparison

DOCUMENTS = 40


@pytest.mark.parametrize("seed", range(4))
async def test_random_documents_are_answered_as_graphql_core_answers_them(seed: int) -> None:
    comparison = Comparison(seed + 100)
    await comparison.run(DOCUMENTS)
    assert not comparison.differences, "\n\n".join(comparison.differences[:3])
    counts = comparison.counts
    assert counts["lane"] > DOCUMENTS, comparison.report()
    assert set(counts) <= {"lane", "reference", "refused", "before it ran", "other calls", "more calls", *Reason}
    assert counts["more calls"] <= 0.1 * counts["lane"], comparison.report()
