"""Builds the pages next to the endpoint: the playground, and the pages of the sandbox."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from starlette.routing import Route

from gateway.domains import load_domains
from gateway.graph.playground.built_page import page_routes, playground_routes
from gateway.graph.playground.first_query import first_query, shown_role
from gateway.model.demo import demo_examples, demo_tenants
from gateway.model.model import Model
from gateway.model.role import Role
from gateway.settings import Settings

DEMO_PATH: Final = "/demo"


def playground(settings: Settings) -> list[Route]:
    """GraphiQL, if it is on; in the sandbox with a token switcher and the examples of the domains."""
    if not settings.playground:
        return []
    # INVARIANT: in production, the page shows no name of the schema to a visitor without a token
    content: dict[str, Any] = {"explain": settings.explain, "sandbox": None, "examples": [], "query": "{ __typename }"}
    if settings.environment != "sandbox":
        return playground_routes(content)
    from gateway.sandbox.dev.token_route import sandbox_address, switcher  # noqa: PLC0415

    model = _model(settings)
    content["query"] = first_query(model)
    examples = demo_examples(model, datetime.now(UTC))
    content["examples"] = [{"domain": domain, **asdict(example)} for domain, example in examples]
    if sandbox_address(settings) is not None:
        content["sandbox"] = switcher(settings, demo_tenants(model), _offered(model))
    return playground_routes(content)


def sandbox_pages(settings: Settings) -> list[Route]:
    """The front end of a domain's demo, and the tokens for it and for the playground.

    INVARIANT: only a gateway in the sandbox environment has these pages.
    """
    if settings.environment != "sandbox":
        return []
    from gateway.sandbox.dev.token_route import sandbox_address, switcher, token_route  # noqa: PLC0415

    address = sandbox_address(settings)
    if address is None:
        return []
    model = _model(settings)
    folders = [domain.demo.front_end for domain in model.domains if domain.demo and domain.demo.front_end]
    offered = switcher(settings, demo_tenants(model), _offered(model))
    pages = page_routes(DEMO_PATH, folders[0], offered) if folders else []
    return [*pages, token_route(address)]


def token_command(settings: Settings, model: Model, tenant: str) -> str:
    """What to run for a token of this tenant; empty outside the sandbox."""
    if settings.environment != "sandbox":
        return ""
    from gateway.sandbox.dev.token_route import sandbox_address  # noqa: PLC0415
    from gateway.sandbox.ready import url_option  # noqa: PLC0415

    return f"gateway token --tenant {tenant} --role {shown_role(model)}{url_option(sandbox_address(settings))}"


def _offered(model: Model) -> tuple[Role, ...]:
    """The roles that the pages offer: a role of own rows needs a subject from the demo."""
    has_subjects = any(tenant.subjects for tenant in demo_tenants(model))
    return tuple(role for role in model.roles.values() if has_subjects or not role.own)


def _model(settings: Settings) -> Model:
    return load_domains(settings.served_domains).model
