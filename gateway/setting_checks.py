"""What settings may not say together. Each rule is found beside all others, whatever else is wrong."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gateway.errors import ConfigurationError

if TYPE_CHECKING:
    from gateway.settings import Settings

# yields faults, or raises them as `ConfigurationError`
Check = Callable[["Settings"], object]


class NotKnownError(Exception):
    """A check asks for a setting that is wrong itself."""


class KnownSettings:
    """Settings of which some are wrong: whoever asks for one of those learns nothing."""

    def __init__(self, settings: "Settings", wrong: frozenset[str]) -> None:
        self._settings = settings
        self._wrong = wrong

    def __getattr__(self, name: str) -> Any:
        if name in self._wrong:
            raise NotKnownError(name)
        return getattr(self._settings, name)


def found_by(checks: Sequence[Check], settings: "Settings") -> list[str]:
    """Every fault that one of the checks finds; a check that cannot be made finds none."""
    faults: list[str] = []
    for check in checks:
        try:
            found = check(settings)
            if isinstance(found, Iterator):
                faults.extend(found)
        except ConfigurationError as error:
            faults.extend(error.faults)
        except NotKnownError:
            continue
    return faults


def _issuers(settings: "Settings") -> Iterator[str]:
    names = [issuer.issuer for issuer in settings.issuers]
    if len(set(names)) != len(names):
        yield "issuers: an issuer is listed twice"


def _tenants(settings: "Settings") -> Iterator[str]:
    for name in dict.fromkeys((*settings.silos, *settings.suspended_tenants)):
        if settings.tenants is not None and name not in settings.tenants:
            yield f"tenants: `{name}` has settings of its own but is not among the tenants"


def _warm_up(settings: "Settings") -> Iterator[str]:
    if settings.warm_up_roles and (settings.tenants is None or settings.session_per_subject):
        yield "warm_up_roles: needs the list of tenants, and sessions that subjects share"


def _readiness(settings: "Settings") -> Iterator[str]:
    name = settings.readiness_tenant
    if name is None:
        return
    if settings.tenants is not None and name not in settings.tenants:
        yield f"readiness_tenant: `{name}` is not among the tenants"
    if name in settings.silos:
        yield f"readiness_tenant: `{name}` is a silo, so it cannot tell whether the shared table is reached"
    if name in settings.suspended_tenants:
        yield f"readiness_tenant: `{name}` is suspended"


def _trusted(settings: "Settings") -> Iterator[str]:
    if settings.trusted_documents_only and settings.trusted_documents is None:
        yield "trusted_documents_only: is on but there are no trusted_documents, so nothing could be asked"


def _metrics_port(settings: "Settings") -> Iterator[str]:
    if settings.metrics_port not in (None, 0) and settings.metrics_port == settings.port:
        yield "metrics_port: is the port of the gateway itself; it asks for no token, so it needs its own"


def _playground(settings: "Settings") -> Iterator[str]:
    if settings.trusted_documents_only and settings.playground:
        yield "playground: is on but trusted_documents_only is too, so nothing could be asked there"


def _cache(settings: "Settings") -> Iterator[str]:
    if settings.dax_role_arn is not None and settings.dax_endpoint is None:
        yield "dax_role_arn: is set but there is no dax_endpoint that it could read from"
    for name, silo in settings.silos.items():
        if silo.dax_role_arn is not None and silo.dax_endpoint is None:
            yield f"silos.{name}.dax_role_arn: is set but the silo has no dax_endpoint"
    of_silos = {f"silos.{name}.dax_endpoint": silo.dax_endpoint for name, silo in settings.silos.items()}
    named = {"dax_endpoint": settings.dax_endpoint, **of_silos}
    clusters = {name: address for name, address in named.items() if address is not None}
    if "dax" not in settings.cache:
        yield from (f"{name}: is set but cache is `{settings.cache}`" for name in clusters)
        return
    if not clusters:
        yield f"cache: is `{settings.cache}` but there is no dax_endpoint, neither for the pool nor for a silo"
    addresses = list(clusters.values())
    for name, address in clusters.items():
        shared = name == "dax_endpoint" or addresses.count(address) > 1
        if shared and not settings.dax_accept_gateway_only_isolation:
            yield (
                f"{name}: tenants share a cluster, which answers with its own role whoever asks, so IAM does not "
                "keep them apart there; say dax_accept_gateway_only_isolation if you accept that"
            )
        if settings.environment == "production" and not address.startswith("daxs://"):
            yield f"{name}: `{address}` must be daxs outside the sandbox"


def _in_production(check: Callable[["Settings"], Iterator[str]]) -> Check:
    """What the sandbox may do and production may not."""
    return lambda settings: check(settings) if settings.environment == "production" else None


def _https(name: str, address: str | None) -> Iterator[str]:
    if address is not None and not address.startswith("https://"):
        yield f"{name}: `{address}` must be https outside the sandbox"


def _issuers_https(settings: "Settings") -> Iterator[str]:
    for number, issuer in enumerate(settings.issuers):
        yield from _https(f"issuers.{number}.jwks_url", issuer.jwks_url)


def _dynamodb_https(settings: "Settings") -> Iterator[str]:
    return _https("dynamodb_endpoint", settings.dynamodb_endpoint)


def _sts_https(settings: "Settings") -> Iterator[str]:
    return _https("sts_endpoint", settings.sts_endpoint)


def _silos_https(settings: "Settings") -> Iterator[str]:
    for name, silo in settings.silos.items():
        yield from _https(f"silos.{name}.dynamodb_endpoint", silo.dynamodb_endpoint)


def _origins(settings: "Settings") -> Iterator[str]:
    if "*" in settings.cors_origins:
        yield "cors_origins: `*` is only for the sandbox; name the origins of your front ends"


def _introspection(settings: "Settings") -> Iterator[str]:
    if settings.playground and not settings.introspection:
        yield "playground: is on but introspection is off, so it could neither document nor complete anything"


def _drain(settings: "Settings") -> Iterator[str]:
    if settings.drain_timeout_seconds < settings.request_timeout_seconds:
        yield "drain_timeout_seconds: is shorter than request_timeout_seconds, so a stop would cut off running requests"


_UNSAFE = (_issuers_https, _dynamodb_https, _sts_https, _silos_https, _origins, _introspection, _drain)
CONTRADICTIONS: tuple[Check, ...] = (
    *(_issuers, _tenants, _warm_up, _readiness, _trusted, _metrics_port, _playground, _cache),
    *map(_in_production, _UNSAFE),
)
