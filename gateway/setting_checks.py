"""Rules between settings; every broken rule is reported, even if other settings are wrong."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gateway.errors import ConfigurationError

if TYPE_CHECKING:
    from gateway.settings import Settings

# returns an iterator of faults, or raises them as `ConfigurationError`
Check = Callable[["Settings"], object]


class NotKnownError(Exception):
    """A check reads a setting that is itself wrong."""


class KnownSettings:
    """Settings of which some are invalid; reading an invalid one raises."""

    def __init__(self, settings: "Settings", wrong: frozenset[str]) -> None:
        self._settings = settings
        self._wrong = wrong

    def __getattr__(self, name: str) -> Any:
        if name in self._wrong:
            raise NotKnownError(name)
        return getattr(self._settings, name)


def faults_of(checks: Sequence[Check], settings: "Settings") -> list[str]:
    """Every fault that the checks find, once each; a check that reads a wrong setting is skipped."""
    faults: list[str] = []
    for check in checks:
        try:
            result = check(settings)
            if isinstance(result, Iterator):
                faults.extend(result)
        except ConfigurationError as error:
            faults.extend(error.faults)
        except NotKnownError:
            continue
    return [*dict.fromkeys(faults)]


def _issuers(settings: "Settings") -> Iterator[str]:
    names = [issuer.issuer for issuer in settings.issuers]
    if len(set(names)) != len(names):
        yield "issuers: each issuer may be listed only once"


def _revocations(settings: "Settings") -> Iterator[str]:
    """Support access requires a way to revoke it."""
    granting = [number for number, issuer in enumerate(settings.issuers) if issuer.support is not None]
    if granting and settings.support_revocations is None:
        yield f"support_revocations: required, because issuers.{granting[0]}.support grants support access"


def _tenants(settings: "Settings") -> Iterator[str]:
    for name in dict.fromkeys((*settings.silos, *settings.suspended_tenants)):
        if settings.tenants is not None and name not in settings.tenants:
            yield f"tenants: `{name}` is missing, but silos or suspended_tenants names it"


def _warm_up(settings: "Settings") -> Iterator[str]:
    if settings.warm_up_roles and (settings.tenants is None or settings.session_per_subject):
        yield "warm_up_roles: requires tenants, and excludes session_per_subject"


def _readiness(settings: "Settings") -> Iterator[str]:
    name = settings.readiness_tenant
    if name is None:
        return
    if settings.tenants is not None and name not in settings.tenants:
        yield f"readiness_tenant: `{name}` is not in tenants"
    if name in settings.silos:
        yield f"readiness_tenant: `{name}` is a silo; name a tenant of the shared table"
    if name in settings.suspended_tenants:
        yield f"readiness_tenant: `{name}` is in suspended_tenants"


def _trusted(settings: "Settings") -> Iterator[str]:
    if settings.trusted_documents_only and settings.trusted_documents is None:
        yield "trusted_documents_only: requires trusted_documents, or no operation could run"


def _metrics_port(settings: "Settings") -> Iterator[str]:
    if settings.metrics_port not in (None, 0) and settings.metrics_port == settings.port:
        yield "metrics_port: must differ from port, because metrics are served without authentication"


def _playground(settings: "Settings") -> Iterator[str]:
    if settings.trusted_documents_only and settings.playground:
        yield "playground: must be off if trusted_documents_only is on, since it could run nothing"


def _cache(settings: "Settings") -> Iterator[str]:
    if settings.dax_role_arn is not None and settings.dax_endpoint is None:
        yield "dax_role_arn: requires dax_endpoint"
    for name, silo in settings.silos.items():
        if silo.dax_role_arn is not None and silo.dax_endpoint is None:
            yield f"silos.{name}.dax_role_arn: requires dax_endpoint of the same silo"
    silo_endpoints = {f"silos.{name}.dax_endpoint": silo.dax_endpoint for name, silo in settings.silos.items()}
    named = {"dax_endpoint": settings.dax_endpoint, **silo_endpoints}
    clusters = {name: address for name, address in named.items() if address is not None}
    if "dax" not in settings.cache:
        yield from (f"{name}: has no effect while cache is `{settings.cache}`" for name in clusters)
        return
    if not clusters:
        yield f"cache: `{settings.cache}` requires dax_endpoint, for the pool or for a silo"
    addresses = list(clusters.values())
    for name, address in clusters.items():
        shared = name == "dax_endpoint" or addresses.count(address) > 1
        if shared and not settings.dax_accept_gateway_only_isolation:
            yield (
                f"{name}: tenants share this cluster, and IAM does not isolate them there, because a cluster reads "
                "with its own role; set dax_accept_gateway_only_isolation if you accept that"
            )
        if settings.environment == "production" and not address.startswith("daxs://"):
            yield f"{name}: `{address}` must start with daxs:// outside the sandbox"


def _in_production(check: Callable[["Settings"], Iterator[str]]) -> Check:
    """A rule that applies only outside the sandbox."""
    return lambda settings: check(settings) if settings.environment == "production" else None


def _https(name: str, address: str | None) -> Iterator[str]:
    if address is not None and not address.startswith("https://"):
        yield f"{name}: `{address}` must start with https:// outside the sandbox"


def _issuers_https(settings: "Settings") -> Iterator[str]:
    for number, issuer in enumerate(settings.issuers):
        yield from _https(f"issuers.{number}.jwks_url", issuer.jwks_url)


def _endpoint_https(name: str) -> Callable[["Settings"], Iterator[str]]:
    return lambda settings: _https(name, getattr(settings, name))


def _silos_https(settings: "Settings") -> Iterator[str]:
    for name, silo in settings.silos.items():
        yield from _https(f"silos.{name}.dynamodb_endpoint", silo.dynamodb_endpoint)


def _bus_tls(settings: "Settings") -> Iterator[str]:
    for address in settings.bus_servers:
        if not address.startswith("tls://"):
            yield f"bus_servers: `{address}` must start with tls:// outside the sandbox"


def _origins(settings: "Settings") -> Iterator[str]:
    if "*" in settings.cors_origins:
        yield "cors_origins: `*` is allowed only in the sandbox; list the origins of your front ends"


def _introspection(settings: "Settings") -> Iterator[str]:
    if settings.playground and not settings.introspection:
        yield "playground: requires introspection, for documentation and completion"


def _drain(settings: "Settings") -> Iterator[str]:
    if settings.drain_timeout_seconds < settings.request_timeout_seconds:
        yield "drain_timeout_seconds: must be at least request_timeout_seconds, or a stop cuts off running requests"


_UNSAFE = (
    *(_revocations, _issuers_https),
    *map(_endpoint_https, ("dynamodb_endpoint", "dynamodb_streams_endpoint", "s3_endpoint", "sts_endpoint")),
    *(_silos_https, _origins, _introspection, _drain, _bus_tls),
)


def _bus(settings: "Settings") -> Iterator[str]:
    if settings.stream == "bus" and not settings.bus_servers:
        yield "bus_servers: required if stream is `bus`"
    if settings.stream == "inside" and settings.bus_servers:
        yield "bus_servers: has no effect while stream is `inside`; set stream to `bus` and run `gateway stream`"
    if (settings.bus_user is None) != (settings.bus_password is None):
        yield "bus_password: set both bus_user and bus_password, or neither"
    if settings.bus_ca is not None and not settings.bus_ca.is_file():
        yield f"bus_ca: the file `{settings.bus_ca}` does not exist"


def _stream(settings: "Settings") -> Iterator[str]:
    if settings.stream != "inside":
        return
    if settings.workers > 1:
        yield (
            "stream: `inside` needs workers = 1, because other processes would not learn of changes; "
            "set stream to `bus` and run `gateway stream`"
        )
    if settings.stream_role_arn is None:
        yield "stream_role_arn: required if stream is `inside`, because the gateway's own role is denied DynamoDB"


CONTRADICTIONS: tuple[Check, ...] = (
    *(_issuers, _tenants, _warm_up, _readiness, _trusted, _metrics_port, _playground, _cache, _bus, _stream),
    *map(_in_production, _UNSAFE),
)
