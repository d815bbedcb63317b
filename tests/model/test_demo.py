"""What a domain shows in development: tenants and examples of all domains, and defaults where none declares any."""

from dataclasses import replace
from datetime import UTC, datetime

from gateway.model.demo import Demo, DemoTenant, Example, demo_examples, demo_tenants, seed_rows
from gateway.model.model import Domain, Model
from tests.store.fixtures import MODEL

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
[THINGS] = MODEL.domains


def shown(*demos: Demo | None) -> Model:
    """A model with one domain for each demo; the first one has the entities."""
    first, *others = demos
    more = [
        Domain(name=f"other{number}", description="", entities=(), patterns=(), demo=demo)
        for number, demo in enumerate(others)
    ]
    return Model(domains=(replace(THINGS, demo=first), *more))


def test_without_a_demo_there_are_two_tenants_without_rows_and_examples() -> None:
    assert [tenant.name for tenant in demo_tenants(MODEL)] == ["acme", "globex"]
    assert demo_examples(MODEL, NOW) == []
    assert list(seed_rows(MODEL, NOW)) == []


def test_the_tenants_of_all_domains_are_listed_once_with_their_title() -> None:
    one = Demo(tenants=(DemoTenant("stark"), DemoTenant("acme")))
    other = Demo(tenants=(DemoTenant("acme", "Acme Tools"), DemoTenant("globex")))
    assert demo_tenants(shown(one, None, other)) == (
        DemoTenant("stark"),
        DemoTenant("acme", "Acme Tools"),
        DemoTenant("globex"),
    )


def test_a_domain_seeds_its_own_tenants_only() -> None:
    one = Demo(tenants=(DemoTenant("stark"), DemoTenant("acme")), rows=lambda tenant, now: [("Tag", {"word": tenant})])
    other = Demo(tenants=(DemoTenant("acme"), DemoTenant("globex")))
    assert [(domain, tenant, row[1]) for domain, tenant, row in seed_rows(shown(one, other), NOW)] == [
        ("things", "stark", {"word": "stark"}),
        ("things", "acme", {"word": "acme"}),
    ]


def test_an_example_knows_the_time_and_the_ids_of_a_tenant() -> None:
    example = Example(
        title="Read", query="{ a }", variables={"at": "@now", "ids": ["@now", 1]}, tenants={"acme": {"at": "@now"}}
    )
    [(domain, read)] = demo_examples(shown(Demo(examples=(example,))), NOW)
    assert domain == "things"
    assert read.variables_of("globex") == {"at": "2026-03-01T12:00:00Z", "ids": ["2026-03-01T12:00:00Z", 1]}
    assert read.variables_of("acme") == {"at": "2026-03-01T12:00:00Z"}
