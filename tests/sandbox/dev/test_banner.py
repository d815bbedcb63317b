import io
from dataclasses import replace

from rich.console import Console

from gateway.demo.shops import TENANTS
from gateway.model.demo import DemoTenant
from gateway.sandbox.dev.banner import RunningGateway, curl, show

UP = RunningGateway(
    gateway="http://127.0.0.1:8000",
    aws="http://127.0.0.1:8001",
    engine="moto, in memory",
    token="aaa.bbb.ccc" * 40,
    query="{ activeOrders(first: 3) { nodes { orderId } } }",
    domains=("commerce", "devices"),
    role="viewer",
    roles=("viewer", "editor"),
    tenants=TENANTS,
    front_end=True,
)
OWN = replace(
    UP,
    query="{ ticketsByPriority(priority: HIGH) { nodes { ticketId } } }",
    domains=("helpdesk",),
    tenants=(DemoTenant("umbrella"), DemoTenant("stark")),
    front_end=False,
)


def _shown(up: RunningGateway) -> str:
    out = io.StringIO()
    show(Console(file=out, width=100), up)
    return out.getvalue()


def test_it_says_where_everything_is_and_who_is_there() -> None:
    text = _shown(UP)
    for part in (
        "http://127.0.0.1:8000/graphql",
        "/healthz",
        "http://127.0.0.1:8000/demo",
        "http://127.0.0.1:8001",
        "acme",
        "globex",
        "initech",
    ):
        assert part in text
    assert "gateway token --tenant acme --role viewer" in text
    assert "--url" not in text


def test_token_and_curl_are_single_lines_to_paste() -> None:
    lines = _shown(UP).splitlines()
    assert UP.token in lines
    assert curl(UP) in lines


def test_a_sandbox_at_another_port_is_named_for_the_token_command() -> None:
    assert "--url http://127.0.0.1:9999" in _shown(replace(UP, aws="http://127.0.0.1:9999"))


def test_it_fits_the_domain_that_is_served() -> None:
    text = _shown(OWN)
    for word in ("/demo", "acme", "Acme Tools", "u-1001", "activeOrders"):
        assert word in _shown(UP)
        assert word not in text
    for word in ("helpdesk", "umbrella, stark", "gateway token --tenant umbrella", "A token for tenant umbrella"):
        assert word in text
    assert '{"query": "{ ticketsByPriority(priority: HIGH) { nodes { ticketId } } }"}' in text
