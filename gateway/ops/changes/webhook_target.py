"""Where webhooks go: public https addresses only, so that no tenant can make the gateway call its own network."""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from gateway.errors import BadUserInput

_SECONDS = 15.0
_MAX_ANSWER = 65_536
_HTTPS_PORT, _HTTP_PORT = 443, 80

# not of the internet either, and not known as such by every version of `ipaddress`
_NEVER = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "fec0::/10", "64:ff9b:1::/48", "3fff::/20")))

Resolve = Callable[[str, int], Iterable[str]]


class PrivateAddress(OSError):
    """The host has a private address."""


def resolve(host: str, port: int) -> list[str]:
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """`private` allows plain http and private addresses, for development or targets that operators choose."""

    url: str
    private: bool = False
    resolve: Resolve = resolve
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def __post_init__(self) -> None:
        wrong = "the target of a webhook must be an address such as https://example.org/hooks, without a password"
        try:
            parts = urlsplit(self.url)
            parts.port  # noqa: B018  raises where it is none
        except ValueError as error:
            raise BadUserInput(wrong) from error
        plain = self.url.isascii() and self.url.isprintable() and " " not in self.url
        if not plain or not parts.hostname or parts.username is not None or parts.scheme not in ("https", "http"):
            raise BadUserInput(wrong)
        if parts.scheme != "https" and not self.private:
            raise BadUserInput("the target of a webhook must be an https address")

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> int:
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        port = parts.port or (_HTTPS_PORT if parts.scheme == "https" else _HTTP_PORT)
        connection = HTTPConnection(host, port, timeout=_SECONDS)
        try:
            # INVARIANT: the address that was checked is the one that is called, even if the name resolves differently a
            # moment later
            plain = socket.create_connection((self._address(host, port), port), timeout=_SECONDS)
            connection.sock = plain
            if parts.scheme == "https":
                connection.sock = self.tls.wrap_socket(plain, server_hostname=host)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            # redirects are not followed, because they could lead anywhere
            connection.request("POST", path, body, {**headers, "host": parts.netloc, "connection": "close"})
            answer = connection.getresponse()
            answer.read(_MAX_ANSWER)
            return answer.status
        except (HTTPException, ValueError) as error:
            # an invalid host name raises `ValueError`
            raise OSError(f"no HTTP response: {type(error).__name__}") from error
        finally:
            connection.close()

    def _address(self, host: str, port: int) -> str:
        addresses = [*self.resolve(host, port)]
        if not addresses:
            raise OSError("the host has no address")
        if not self.private and not all(is_public(address) for address in addresses):
            raise PrivateAddress("the host has a private address")
        return addresses[0]


def is_public(address: str) -> bool:
    """Whether the address is public: not in a private network, a cloud's metadata service, or this machine."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        nat64 = ip in ipaddress.ip_network("64:ff9b::/96")
        if inner is not None:
            return is_public(str(inner))
        if nat64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not any(ip in net for net in _NEVER)
