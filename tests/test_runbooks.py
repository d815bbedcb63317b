"""The runbooks: each says what to look at and how to tell that it is over, and its commands fit the mode they name."""

import re
from pathlib import Path

import pytest

RUNBOOKS = Path(__file__).parents[1] / "docs" / "runbooks"
PAGES = sorted(path for path in RUNBOOKS.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_says_how_to_tell_that_it_is_over(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n## It is over when\n") == 1
    last = text.rpartition("\n## It is over when\n")[2]
    assert len(last.split()) >= 15
    # something to look at, and not only a wish
    assert "`" in last


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_capacity_is_bought_only_where_the_page_says_that_it_is_provisioned(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if "--provisioned-throughput" in line:
            before = " ".join(lines[max(0, number - 3) : number])
            assert re.search(r"Provisioned:|after the switch", before), f"{page.name}:{number + 1}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_option_stands_without_its_command(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    # the word alone may be named, such as an option that was explained before; a value belongs to a command
    assert not re.findall(r"`(--[a-z-]+ [^`]+|[A-Za-z]+CapacityUnits=[^`]*)`", text)


def test_the_queries_of_the_log_have_a_command_that_runs_them() -> None:
    text = (RUNBOOKS / "README.md").read_text(encoding="utf-8")
    assert "aws logs start-query --log-group-name /gateway/$NAME" in text
    assert "aws logs get-query-results --query-id" in text


def test_the_gateway_is_well_again_by_the_outcome_of_operations_because_failures_may_have_status_200() -> None:
    last = (RUNBOOKS / "gateway.md").read_text(encoding="utf-8").rpartition("\n## It is over when\n")[2]
    assert 'outcome in ["UNAVAILABLE", "TIMEOUT", "INTERNAL"]' in last
    assert "status >=" not in last
