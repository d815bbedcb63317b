from pathlib import Path

from gateway.demo import MODEL
from gateway.model.staleness_docs import staleness_table

GUIDE = Path(__file__).parents[3] / "docs" / "cache.md"


def test_the_guide_shows_what_the_model_declares() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    table = "\n".join(staleness_table(MODEL))
    assert f"\n{table}\n" in text, f"put this into docs/cache.md:\n{table}"
