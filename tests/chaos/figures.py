"""The figures of a run, as a text for the terminal and as a section of docs/chaos.md."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.run import Result

_BEGIN, _END = "<!-- figures -->", "<!-- /figures -->"


def lines(result: Result) -> Iterator[str]:
    entries = result.ledger.entries
    made = Counter(entry.mutation for entry in entries if entry.acknowledged)
    refused = Counter(entry.mutation for entry in entries if not entry.acknowledged)
    codes = Counter(code for entry in entries if not entry.acknowledged for code in entry.refused)
    injector = result.injector
    yield from _table(
        ("what", "how many"),
        [
            ("seconds under fault injection, with what was still running", f"{result.took:.0f}"),
            ("clients, tenants, gateway processes", f"{result.options.clients}, 3, 2"),
            ("gateways killed and started again", str(result.killed)),
            ("changes asked for", str(len(entries))),
            ("acknowledged", str(sum(made.values()))),
            ("refused", f"{sum(refused.values())} ({_counts(codes)})"),
            ("asked again by clients", str(result.ledger.retries)),
            ("DynamoDB calls", f"{sum(injector.calls.values())} ({_counts(injector.calls)})"),
            ("faults injected", str(sum(injector.injected.values()))),
            ("stock read past the gateway", f"{result.watched} times"),
            ("rows in the table at the end", str(result.rows)),
            ("violations", str(len(result.faults))),
        ],
    )
    yield ""
    yield from _table(
        ("fault", "injected"), [(kind.value, str(count)) for kind, count in injector.injected.most_common()]
    )
    yield ""
    names = sorted({*made, *refused})
    yield from _table(
        ("mutation", "acknowledged", "refused"), [(name, str(made[name]), str(refused[name])) for name in names]
    )


def write_page(result: Result, page: Path) -> None:
    """Puts the figures in the place that the page has for them."""
    before, _, rest = page.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    page.write_text("\n".join([f"{before}{_BEGIN}", *lines(result), f"{_END}{after}"]))


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, tuple("---" for _ in head), *rows):
        yield f"| {' | '.join(row)} |"
