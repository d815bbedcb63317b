"""The page at `/` names what is there, and nothing else."""

import pytest

from gateway.graph.playground.built_page import landing_page


@pytest.mark.parametrize("address", [None, "http://127.0.0.1:8000"])
def test_it_leads_to_the_playground_where_that_is_on(address: str | None) -> None:
    assert 'href="/playground"' in landing_page(address, pages=["/playground"])
    assert "playground" not in landing_page(address)


def test_it_leads_to_the_order_desk_where_that_is() -> None:
    assert 'href="/demo"' in landing_page("http://127.0.0.1:8000", pages=["/demo"])
    assert "/demo" not in landing_page("http://127.0.0.1:8000", pages=["/playground"])


def test_it_leads_to_the_metrics_where_they_are() -> None:
    assert 'href="/metrics"' in landing_page("http://127.0.0.1:8000", pages=["/metrics"])
    assert "/metrics" not in landing_page(pages=["/playground"])


def test_outside_the_sandbox_it_says_nothing_about_tokens() -> None:
    page = landing_page(pages=["/playground"])
    for word in ("sandbox", "acme", "gateway token"):
        assert word not in page


def test_the_sandbox_shows_a_line_to_paste() -> None:
    page = landing_page("http://127.0.0.1:8000")
    assert "curl -s http://127.0.0.1:8000/graphql" in page
    assert "ADDRESS" not in page
