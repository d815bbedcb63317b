import io

from rich.console import Console

from gateway.sandbox.banner import Up, curl, show

UP = Up("http://127.0.0.1:8000", "http://127.0.0.1:8001", "moto, in memory", "aaa.bbb.ccc" * 40)


def _shown(up: Up) -> str:
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
    assert "--url http://127.0.0.1:9999" in _shown(Up(UP.gateway, "http://127.0.0.1:9999", UP.engine, UP.token))
