import io

from rich.console import Console

from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.report.table import show, summary
from gateway.ops.audit.results import ChecklistLine, LineResult, failed, missing, passed
from tests.ops.audit.fixtures import SUBJECT


def shown(results: tuple[LineResult, ...]) -> str:
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    show(console, SUBJECT, results)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_line_is_a_row(results: tuple[LineResult, ...]) -> None:
    text = shown(results)
    assert "shop-prod in eu-west-1" in text
    for result in results:
        assert result.line.title in text


def test_a_failure_stands_first_and_says_what_mends_it() -> None:
    line = ChecklistLine("ttl", "TTL", "x")
    text = shown(
        (LineResult(line, (passed("good"), failed("bad [b]", "do this"), missing(UnknownFact("who knows", "ask")))),)
    )
    assert text.index("✗ bad [b]") < text.index("→ do this") < text.index("? who knows") < text.index("✓ good")


def test_the_summary_counts_every_verdict(results: tuple[LineResult, ...]) -> None:
    assert summary(results) == f"0 fail, 0 unknown, {len(results) - 1} pass, 1 not applicable"
