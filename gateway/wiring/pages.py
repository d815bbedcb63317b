"""Pages beside the endpoint: the playground, and what only the sandbox serves."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from starlette.routing import Route

from gateway.demo.examples import load_examples
from gateway.domains import load_domains
from gateway.graph.playground.built_page import playground_routes
from gateway.graph.playground.first_query import first_query
from gateway.settings import Settings


def playground(settings: Settings) -> list[Route]:
    """GraphiQL, where it is on; in the sandbox with a token switcher and examples."""
    if not settings.playground:
        return []
    # INVARIANT: in production, the page shows no name of the schema to a visitor without a token
    content: dict[str, Any] = {"explain": settings.explain, "sandbox": None, "examples": [], "query": "{ __typename }"}
    if settings.environment != "sandbox":
        return playground_routes(content)
    from gateway.sandbox.dev.token_route import sandbox_address, switcher  # noqa: PLC0415  never in production

    domains = _domains(settings)
    content["query"] = first_query(load_domains(settings.domains).model)
    examples = load_examples(datetime.now(UTC))
    content["examples"] = [asdict(example) for example in examples if example.domain in domains]
    if sandbox_address(settings) is not None:
        content["sandbox"] = switcher(settings, shops="commerce" in domains)
    return playground_routes(content)


def sandbox_pages(settings: Settings) -> list[Route]:
    """The storefront, and the tokens for it and for the playground; only the sandbox has them."""
    if settings.environment != "sandbox":
        return []
    from gateway.sandbox.dev.storefront_page import storefront_routes  # noqa: PLC0415  never in production
    from gateway.sandbox.dev.token_route import sandbox_address, switcher, token_route  # noqa: PLC0415

    address = sandbox_address(settings)
    if address is None:
        return []
    desk = storefront_routes(switcher(settings)) if "commerce" in _domains(settings) else []
    return [*desk, token_route(address)]


def _domains(settings: Settings) -> set[str]:
    return {domain.name for domain in load_domains(settings.domains).model.domains}
