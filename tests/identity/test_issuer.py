"""Tests of the settings of an issuer."""

import math
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.identity.issuer import Freshness
from tests.identity.fixtures import issuer


def test_the_defaults_are_a_valid_issuer() -> None:
    assert issuer().algorithms == ("RS256", "ES256")
    assert issuer().role_map["admin"] == "admin"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"issuer": ""}, "issuer is empty"),
        ({"tenant_claim": ""}, "tenant_claim is empty"),
        ({"audience": ()}, "audience is empty"),
        ({"audience": ("",)}, "audience is empty"),
        ({"audience": "https://gateway.example"}, "audience is not a list"),
        ({"additional_audiences": "x"}, "additional_audiences is not a list"),
        ({"types": "jwt"}, "types is not a list"),
        ({"tenants": "acme"}, "tenants is not a list"),
        ({"algorithms": ()}, "algorithms must be some of"),
        ({"algorithms": ("RS256", "HS256")}, "algorithms must be some of"),
        ({"algorithms": ("none",)}, "algorithms must be some of"),
        ({"algorithms": ("ES384",)}, "algorithms must be some of"),
        ({"leeway_seconds": 61}, "leeway_seconds must be between 0 and 60"),
        ({"leeway_seconds": -1}, "leeway_seconds must be between 0 and 60"),
        ({"max_lifetime_seconds": 0}, "max_lifetime_seconds must be above 0"),
        ({"jwks_url": "http://issuer.example/jwks"}, "must start with https"),
        ({"jwks_url": "ftp://issuer.example/jwks", "allow_http": True}, "must start with https"),
        ({"jwks_url": "file:///etc/passwd", "allow_http": True}, "must start with https"),
        ({"jwks_url": "https:///jwks"}, "must have a host"),
        ({"jwks_url": "https://user:secret@issuer.example/"}, "no user"),
        ({"jwks_url": "https://issuer.example/#x"}, "no fragment"),
        ({"jwks_url": "https://issuer.example:port/"}, "is not a URL"),
        ({"jwks_url": "https://[issuer/"}, "is not a URL"),
        ({"jwks_url": "https://issuer.example/\r\nX: y"}, "characters"),
        ({"jwks_url": "https://issuer.example/a b"}, "characters"),
        ({"jwks_url": "https://íssuer.example/"}, "characters"),
        ({"freshness": Freshness(ttl=0)}, "ttl must be above 0"),
        ({"freshness": Freshness(ttl=math.nan)}, "ttl must be above 0"),
        ({"freshness": Freshness(ttl=math.inf)}, "ttl must be above 0"),
        ({"freshness": Freshness(timeout=-1)}, "timeout must be above 0"),
        ({"freshness": Freshness(stale=-1)}, "stale must be finite"),
        ({"freshness": Freshness(stale=math.inf)}, "stale must be finite"),
        ({"freshness": Freshness(ttl=5, cooldown=6)}, "cooldown must not exceed ttl"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault) as caught:
        issuer(**changes)
    assert all(line.startswith("issuer `") for line in caught.value.faults)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        issuer(audience=(), algorithms=(), leeway_seconds=99)
    assert len(caught.value.faults) == 3


def test_plain_http_is_allowed_only_when_said() -> None:
    assert issuer(jwks_url="http://127.0.0.1:8080/jwks", allow_http=True).allow_http


def test_lists_as_settings_bring_them_become_fixed() -> None:
    audience, tenants = ["ours"], ["acme"]
    one = issuer(audience=audience, tenants=tenants)
    audience.append("theirs")
    tenants.append("globex")
    assert one.audience == ("ours",)
    assert one.tenants == frozenset({"acme"})


def test_a_role_map_cannot_be_changed_from_outside() -> None:
    roles = {"staff": "viewer"}
    one = issuer(role_map=roles)
    roles["staff"] = "admin"
    assert dict(one.role_map) == {"staff": "viewer"}
    with pytest.raises(TypeError):
        one.role_map["staff"] = "admin"  # type: ignore[index]  # the very mistake under test
