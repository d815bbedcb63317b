"""A webhook reaches the internet and nothing else."""

import http.server
import ssl
import threading
from collections.abc import Iterator

import pytest

from gateway.errors import BadUserInput
from gateway.ops.changes.webhook_target import PrivateAddress, WebhookTarget, is_public

# nothing is sent: to load the certificates of all authorities takes longer than these tests
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),  # noqa: S104
    *("::1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
    *(
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "ff02::1",
        "fec0::1",
        "192.0.0.8",
        "64:ff9b:1::a9fe:a9fe",
        "::127.0.0.1",
    ),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_other_networks_are_refused(address: str) -> None:
    assert not is_public(address)
    addresses = ["93.184.215.14", address]
    target = WebhookTarget("https://hooks.example.org/x", resolve=lambda host, port: addresses, tls=NO_AUTHORITIES)
    with pytest.raises(PrivateAddress):
        target(b"{}", {})


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_of_the_internet_are_allowed(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/", "ftp://example.org", "https://", "https://user:word@example.org/", "example.org"),
        *(
            "https://example.org:0x50/",
            "https://example.org:70000/",
            "https://[::1/",
            "https://example.org/\u00fc",
            "https://a b/",
        ),
    ],
)
def test_only_https_addresses_are_taken(url: str) -> None:
    with pytest.raises(BadUserInput, match="the target of a webhook must be") as caught:
        WebhookTarget(url, tls=NO_AUTHORITIES)
    assert "word" not in caught.value.message.replace("password", "")


def test_an_invalid_host_name_is_a_failure_like_any_other() -> None:
    with pytest.raises(OSError, match="UnicodeError"):
        WebhookTarget(f"https://{'a' * 80}.example.org/")(b"{}", {})


class Handler(http.server.BaseHTTPRequestHandler):
    seen: list[tuple[str, bytes, str | None]] = []  # noqa: RUF012  one for the server of a test

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.seen.append((self.path, body, self.headers["webhook-id"]))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("location", "/elsewhere")
        else:
            self.send_response(202)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    found = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    Handler.seen.clear()
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    thread.join()
    found.server_close()


def test_a_message_arrives_where_the_own_network_is_allowed(server: str) -> None:
    assert WebhookTarget(f"{server}/hooks?a=1", private=True)(b'{"a": 1}', {"webhook-id": "msg_1"}) == 202
    assert Handler.seen == [("/hooks?a=1", b'{"a": 1}', "msg_1")]


def test_a_redirect_is_not_followed(server: str) -> None:
    assert WebhookTarget(f"{server}/moved", private=True)(b"{}", {}) == 302
    assert [path for path, _, _ in Handler.seen] == ["/moved"]
