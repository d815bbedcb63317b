"""The target of a call: its endpoint, and the region it is signed for."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError

_DEFAULT_PORTS = {"http": 80, "https": 443}
# a host name, an IPv4 or an IPv6 address: safe in a Host header
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_REGION = re.compile(r"[a-z0-9-]{1,40}")
_AWS_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}")
# partitions with other domains than amazonaws.com, by the prefix of their regions
_DNS_SUFFIXES = (
    ("cn-", "amazonaws.com.cn"),
    ("eusc-", "amazonaws.eu"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("us-iso-", "c2s.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
)


@dataclass(frozen=True, slots=True)
class AwsTarget:
    url: str
    region: str

    def __post_init__(self) -> None:
        if faults := _faults(self):
            raise ConfigurationError(faults)

    @classmethod
    def regional(cls, name: str, region: str) -> "AwsTarget":
        """Returns the public endpoint in any AWS region: `AwsTarget.regional("dynamodb", "eu-west-1")`."""
        if not _AWS_REGION.fullmatch(region):
            raise ConfigurationError([f"not an aws region: `{region}`"])
        suffix = next((suffix for start, suffix in _DNS_SUFFIXES if region.startswith(start)), "amazonaws.com")
        return cls(f"https://{name}.{region}.{suffix}", region)


@dataclass(frozen=True, slots=True)
class AwsEndpoint:
    """Identifies a connection pool: all targets with the same scheme, host and port share their connections."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The Host header: an IPv6 address in brackets, and the port only if it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def endpoint(target: AwsTarget) -> AwsEndpoint:
    parts = urlsplit(target.url)
    return AwsEndpoint(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])


def _faults(target: AwsTarget) -> list[str]:
    faults = []
    if not _REGION.fullmatch(target.region):
        faults.append(f"not a region: `{target.region}`")
    if not _plain(target.url):
        # the part before an @ may contain a password
        faults.append(f"not an endpoint url like https://host:port: `{target.url.rpartition('@')[2]}`")
    return faults


def _plain(url: str) -> bool:
    """Whether the URL has only a scheme, host and port, so that the signed path is always `/`."""
    # urlsplit silently drops tabs and line breaks
    if not (url.isascii() and url.isprintable()) or "@" in url:
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = parts.scheme in _DEFAULT_PORTS and parts.path in {"", "/"} and not parts.query and not parts.fragment
    return plain and port != 0 and _HOST.fullmatch(parts.hostname or "") is not None
