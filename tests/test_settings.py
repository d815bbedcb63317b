"""Settings: where they come from, what is refused, and how that is reported."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gateway.errors import BadUserInput, ConfigurationError
from gateway.model.tenant import tenant_id
from gateway.setting_docs import fresh, missing
from gateway.setting_types import Tenant
from gateway.settings import Settings, environment_with, environment_without, load_settings, settings_values

SECRET = "0123456789abcdef0123456789abcdef"
ISSUER = {"issuer": "https://id.example.org", "audience": ["gateway"], "jwks_url": "https://id.example.org/jwks"}
RIGHT: dict[str, Any] = {
    "table_name": "shop",
    "region": "eu-west-1",
    "tenant_role_arn": "arn:aws:iam::123456789012:role/gateway-tenant",
    "issuers": [ISSUER],
    "cursor_secret": SECRET,
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.upper().startswith("GATEWAY_"):
            monkeypatch.delenv(name)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with everything that must be set."""
    for name, value in RIGHT.items():
        put(monkeypatch, name, value)
    return monkeypatch


def put(environment: pytest.MonkeyPatch, name: str, value: Any) -> None:
    environment.setenv(f"GATEWAY_{name.upper()}", value if isinstance(value, str) else json.dumps(value))


def written(folder: Path, content: Any) -> Path:
    path = folder / "gateway.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def faults(config: Path | None = None) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(config)
    return caught.value.faults


def test_settings_come_from_the_environment(environment: pytest.MonkeyPatch) -> None:
    put(environment, "max_page_size", "50")
    put(environment, "silos", {"acme": {"table_name": "acme-shop"}})
    settings = load_settings()
    assert (settings.table_name, settings.max_page_size, settings.account) == ("shop", 50, "123456789012")
    assert settings.issuers[0].algorithms == ["RS256", "ES256"]
    assert settings.silos["acme"].table_name == "acme-shop"
    assert settings.silos["acme"].region is None


def test_settings_come_from_a_file(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, RIGHT)).table_name == "shop"


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, "table_name", "other")
    put(monkeypatch, "silos", {})
    settings = load_settings(written(tmp_path, {**RIGHT, "silos": {"acme": {"region": "us-east-1"}}}))
    assert settings.table_name == "other"
    assert settings.silos == {}
    assert settings.region == "eu-west-1"


def test_everything_that_is_missing_is_listed_in_one_go() -> None:
    assert faults() == [
        f"{name}: required; set GATEWAY_{name.upper()}"
        for name in ("table_name", "region", "tenant_role_arn", "issuers", "cursor_secret")
    ]


def test_faults_of_all_kinds_are_listed_in_one_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(monkeypatch, "tabel_name", "shop")
    put(monkeypatch, "issuers", "[{")
    put(monkeypatch, "port", "http")
    put(monkeypatch, "region", "europe")
    said = faults(written(tmp_path, {"colour": "red", "table_name": "shop"}))
    assert [fault.partition(":")[0] for fault in said] == [
        *("GATEWAY_TABEL_NAME", "colour", "region", "tenant_role_arn", "issuers", "cursor_secret", "port")
    ]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("GATEWAY_TABEL_NAME", ": did you mean `table_name`?"),
        ("gateway_tabel_name", ": did you mean `table_name`?"),
        ("GATEWAY_", ""),
        ("GATEWAY_SILOS__ACME", ""),
    ],
)
def test_an_unknown_variable_is_named(environment: pytest.MonkeyPatch, name: str, meant: str) -> None:
    environment.setenv(name, "x")
    assert faults() == [f"{name}: unknown setting{meant}"]


def test_an_unknown_variable_is_named_beside_a_contradiction(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("GATEWAY_TABLE", "x")
    put(environment, "cors_origins", ["*"])
    assert [fault.partition(":")[0] for fault in faults()] == ["GATEWAY_TABLE", "cors_origins"]


STRUCTURED = [
    name for name, field in Settings.model_fields.items() if re.search(r"list\[|dict\[", str(field.annotation))
]


@pytest.mark.parametrize("name", STRUCTURED)
def test_lists_and_nested_settings_are_json(environment: pytest.MonkeyPatch, name: str) -> None:
    put(environment, name, "acme,beta")
    (said,) = faults()
    assert said.startswith(f"{name}: expected JSON: ")


@pytest.mark.parametrize("content", ["{", "", "[]", "7", '"x"', "\x00"])
def test_a_file_that_is_no_json_object_is_named(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    (said,) = faults(path)
    assert said.startswith(f"config file `{path}` ")


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nothing.json"
    assert faults(path)[0].startswith(f"config file `{path}` cannot be read")


@pytest.mark.parametrize("name", ["_env_file", "_secrets_dir", "color"])
def test_an_unknown_name_in_the_file_is_named(tmp_path: Path, name: str) -> None:
    assert faults(written(tmp_path, {**RIGHT, name: "x"})) == [f"{name}: unknown setting"]


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("table_name", "ab", "table_name"),
        ("table_name", "shop*", "table_name"),
        ("table_name", "shop/index/GSI1", "table_name"),
        ("table_name", "shop\n", "table_name"),
        ("table_name", "s" * 256, "table_name"),
        ("region", "europe", "region"),
        ("region", "x-eu-west-1-x", "region"),
        ("region", "eu-west-1\n", "region"),
        ("tenant_role_arn", "gateway-tenant", "tenant_role_arn"),
        ("tenant_role_arn", "arn:aws:iam::12345:role/x", "tenant_role_arn"),
        ("tenant_role_arn", "arn:aws:iam::١٢٣٤٥٦٧٨٩٠١٢:role/x", "tenant_role_arn"),
        ("tenant_role_arn", "arn:aws:iam::123456789012:role/*", "tenant_role_arn"),
        ("tenant_role_arn", "arn:aws:iam::123456789012:user/x", "tenant_role_arn"),
        ("dynamodb_endpoint", "localhost:8000", "dynamodb_endpoint"),
        ("sts_endpoint", "ftp://sts", "sts_endpoint"),
        ("session_duration_seconds", 899, "session_duration_seconds"),
        ("session_duration_seconds", 3_601, "session_duration_seconds"),
        ("issuers", [], "issuers"),
        ("issuers", [{**ISSUER, "audience": []}], "issuers.0.audience"),
        ("issuers", [{**ISSUER, "audience": [""]}], "issuers.0.audience.0"),
        ("issuers", [{**ISSUER, "issuer": ""}], "issuers.0.issuer"),
        ("issuers", [{**ISSUER, "algorithms": []}], "issuers.0.algorithms"),
        ("issuers", [{**ISSUER, "algorithms": ["none"]}], "issuers.0.algorithms.0"),
        ("issuers", [{**ISSUER, "algorithms": ["HS256"]}], "issuers.0.algorithms.0"),
        ("issuers", [{**ISSUER, "leeway_seconds": 61}], "issuers.0.leeway_seconds"),
        ("issuers", [{**ISSUER, "secret": "x"}], "issuers.0.secret"),
        ("issuers", [{"audience": ["gateway"], "jwks_url": ISSUER["jwks_url"]}], "issuers.0.issuer"),
        ("tenants", ["Acme"], "tenants.0"),
        ("suspended_tenants", ["acme", "*"], "suspended_tenants.1"),
        ("silos", {"ACME": {}}, "silos.ACME"),
        ("silos", {"acme": {"table_name": "*"}}, "silos.acme.table_name"),
        ("silos", {"acme": {"region": "europe"}}, "silos.acme.region"),
        ("silos", {"acme": {"tenant_role_arn": "x"}}, "silos.acme.tenant_role_arn"),
        ("silos", {"acme": {"colour": "red"}}, "silos.acme.colour"),
        ("environment", "staging", "environment"),
        ("port", "65536", "port"),
        ("log_level", "LOUD", "log_level"),
        ("request_timeout_seconds", "0", "request_timeout_seconds"),
        ("max_page_size", "0", "max_page_size"),
    ],
)
def test_a_wrong_value_is_named(environment: pytest.MonkeyPatch, name: str, value: Any, where: str) -> None:
    put(environment, name, value)
    assert [fault.partition(":")[0].removesuffix(".[key]") for fault in faults()] == [where]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"issuers": [ISSUER, ISSUER]}, "issuers: each issuer may be listed only once"),
        (
            {"tenants": ["beta"], "silos": {"acme": {}}, "suspended_tenants": ["acme"]},
            "tenants: `acme` is missing, but silos or suspended_tenants names it",
        ),
        (
            {"tenants": ["beta"], "readiness_tenant": "acme"},
            "readiness_tenant: `acme` is not in tenants",
        ),
        (
            {"silos": {"acme": {}}, "readiness_tenant": "acme"},
            "readiness_tenant: `acme` is a silo; name a tenant of the shared table",
        ),
        (
            {"suspended_tenants": ["acme"], "readiness_tenant": "acme"},
            "readiness_tenant: `acme` is in suspended_tenants",
        ),
        (
            {"tenants": [], "suspended_tenants": ["acme"]},
            "tenants: `acme` is missing, but silos or suspended_tenants names it",
        ),
        (
            {"issuers": [{**ISSUER, "jwks_url": "http://id.example.org/jwks"}]},
            "issuers.0.jwks_url: `http://id.example.org/jwks` must start with https:// outside the sandbox",
        ),
        (
            {"dynamodb_endpoint": "http://localhost:8000"},
            "dynamodb_endpoint: `http://localhost:8000` must start with https:// outside the sandbox",
        ),
        (
            {"sts_endpoint": "http://localhost:8000"},
            "sts_endpoint: `http://localhost:8000` must start with https:// outside the sandbox",
        ),
        (
            {"dynamodb_streams_endpoint": "http://localhost:8000"},
            "dynamodb_streams_endpoint: `http://localhost:8000` must start with https:// outside the sandbox",
        ),
        (
            {"silos": {"acme": {"dynamodb_endpoint": "http://localhost:8000"}}},
            "silos.acme.dynamodb_endpoint: `http://localhost:8000` must start with https:// outside the sandbox",
        ),
        (
            {"cors_origins": ["https://shop.example.org", "*"]},
            "cors_origins: `*` is allowed only in the sandbox; list the origins of your front ends",
        ),
        (
            {"stream": "inside", "stream_role_arn": "arn:aws:iam::123456789012:role/stream", "workers": "2"},
            (
                "stream: `inside` needs workers = 1, because other processes would not learn of changes; "
                "set stream to `bus` and run `gateway stream`"
            ),
        ),
        (
            {"stream": "inside"},
            "stream_role_arn: required if stream is `inside`, because the gateway's own role is denied DynamoDB",
        ),
        ({"stream": "bus"}, "bus_servers: required if stream is `bus`"),
        (
            {
                "stream": "inside",
                "stream_role_arn": "arn:aws:iam::123456789012:role/stream",
                "bus_servers": ["tls://bus:4222"],
            },
            "bus_servers: has no effect while stream is `inside`; set stream to `bus` and run `gateway stream`",
        ),
        (
            {"stream": "bus", "bus_servers": ["nats://bus:4222"]},
            "bus_servers: `nats://bus:4222` must start with tls:// outside the sandbox",
        ),
        (
            {"stream": "bus", "bus_servers": ["tls://bus:4222"], "bus_user": "web"},
            "bus_password: set both bus_user and bus_password, or neither",
        ),
        (
            {"stream": "bus", "bus_servers": ["tls://bus:4222"], "bus_ca": "missing.pem"},
            "bus_ca: the file `missing.pem` does not exist",
        ),
        (
            {"playground": "true"},
            "playground: requires introspection, for documentation and completion",
        ),
        (
            {"port": "8000", "metrics_port": "8000"},
            "metrics_port: must differ from port, because metrics are served without authentication",
        ),
        (
            {"drain_timeout_seconds": "5", "request_timeout_seconds": "10"},
            "drain_timeout_seconds: must be at least request_timeout_seconds, or a stop cuts off running requests",
        ),
    ],
)
def test_a_contradiction_is_named(environment: pytest.MonkeyPatch, changes: dict[str, Any], said: str) -> None:
    for name, value in changes.items():
        put(environment, name, value)
    assert faults() == [said]


def test_contradictions_are_listed_in_one_go(environment: pytest.MonkeyPatch) -> None:
    put(environment, "issuers", [ISSUER, ISSUER])
    put(environment, "cors_origins", ["*"])
    assert [fault.partition(":")[0] for fault in faults()] == ["issuers", "cors_origins"]


def test_only_the_sandbox_does_without_reviewed_policies(environment: pytest.MonkeyPatch) -> None:
    assert load_settings().reviewed_policies == Path("policies")
    put(environment, "environment", "sandbox")
    assert load_settings().reviewed_policies is None
    put(environment, "policies_dir", "reviewed")
    assert load_settings().reviewed_policies == Path("reviewed")


def test_the_sandbox_may_do_what_production_may_not(environment: pytest.MonkeyPatch) -> None:
    put(environment, "environment", "sandbox")
    put(environment, "issuers", [{**ISSUER, "jwks_url": "http://localhost:9000/jwks"}])
    put(environment, "dynamodb_endpoint", "http://localhost:8000")
    put(environment, "cors_origins", ["*"])
    put(environment, "drain_timeout_seconds", "0")
    put(environment, "playground", "true")
    assert load_settings().dynamodb_endpoint == "http://localhost:8000"


@pytest.mark.parametrize("name", ["introspection", "playground", "explain"])
def test_what_describes_the_gateway_is_off_unless_set(environment: pytest.MonkeyPatch, name: str) -> None:
    assert getattr(load_settings(), name) is False
    put(environment, "introspection", "true")
    put(environment, name, "true")
    assert getattr(load_settings(), name) is True


def test_known_tenants_may_have_settings_of_their_own(environment: pytest.MonkeyPatch) -> None:
    put(environment, "tenants", ["acme", "beta"])
    put(environment, "suspended_tenants", ["acme"])
    assert load_settings().suspended_tenants == ["acme"]


def test_the_secret_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    assert settings.cursor_secret.get_secret_value() == SECRET
    for text in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert SECRET not in text


def test_a_secret_that_is_too_short_is_not_shown_either(environment: pytest.MonkeyPatch) -> None:
    put(environment, "cursor_secret", "hunter2")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert caught.value.faults == ["cursor_secret: expected at least 32 characters"]
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"


def test_settings_do_not_change(environment: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.table_name = "other"


@example("acme")
@example("acme#1")
@example("acme\n")
@example("acme*")
@example("a" * 63)
@example("a" * 64)
@given(st.text(max_size=70) | st.from_regex(r"[a-z0-9-]{1,65}", fullmatch=True))
def test_a_tenant_is_named_as_everywhere_else(text: str) -> None:
    assert refused(TypeAdapter(Tenant).validate_python, text, ValueError) is refused(tenant_id, text, BadUserInput)


def refused(check: Any, text: str, error: type[Exception]) -> bool:
    try:
        check(text)
    except error:
        return True
    return False


def test_settings_travel_to_a_child_process_whole(environment: pytest.MonkeyPatch) -> None:
    put(environment, "silos", {"acme": {"region": "us-east-1"}})
    for name, value in {"bus_servers": ["tls://bus:4222"], "bus_user": "web", "bus_password": "of the bus"}.items():
        put(environment, name, value)
    put(environment, "introspection", "true")
    settings = load_settings()
    passed = environment_with(settings, {})
    for name in [name for name in os.environ if name.startswith("GATEWAY_")]:
        environment.delenv(name)
    for name, value in passed.items():
        environment.setenv(name, value)
    assert load_settings() == settings


def test_a_worker_has_the_settings_that_the_supervisor_has_read(environment: pytest.MonkeyPatch) -> None:
    put(environment, "silos", {"acme": {"region": "us-east-1"}})
    settings = load_settings()
    values = json.loads(json.dumps(settings_values(settings)))
    environment.setenv("GATEWAY_TABLE_NAME", "changed-since")
    environment.setenv("AWS_REGION", "eu-west-1")
    passed = environment_without()
    assert passed["AWS_REGION"] == "eu-west-1"
    for name in set(os.environ) - set(passed):
        environment.delenv(name)
    assert Settings(**values) == settings


def test_a_child_process_gets_no_aws_variable_that_it_was_not_given(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_PROFILE", "my-own")
    environment.setenv("aws_secret_access_key", "my-own")
    environment.setenv("AWS_REGION", "us-east-1")
    environment.setenv("PATH_TO_NOWHERE", "kept")
    passed = environment_with(load_settings(), {"AWS_REGION": "eu-west-1"})
    assert {name: value for name, value in passed.items() if name.upper().startswith("AWS_")} == {
        "AWS_REGION": "eu-west-1"
    }
    assert passed["PATH_TO_NOWHERE"] == "kept"


@pytest.mark.parametrize("environment_name", ["production", "sandbox"])
def test_the_playground_is_refused_where_only_trusted_documents_run(
    environment: pytest.MonkeyPatch, environment_name: str
) -> None:
    put(environment, "environment", environment_name)
    for name in ("playground", "introspection", "trusted_documents_only"):
        put(environment, name, "true")
    put(environment, "trusted_documents", "documents.json")
    assert faults() == ["playground: must be off if trusted_documents_only is on, since it could run nothing"]


@pytest.mark.parametrize(
    "origin",
    ["https://shop.example/", "shop.example", "https://shop.example/path", "https://*.shop.example", "null", ""],
)
def test_an_origin_that_no_browser_sends_is_refused(environment: pytest.MonkeyPatch, origin: str) -> None:
    put(environment, "cors_origins", ["https://shop.example:8443", origin])
    assert [fault.partition(":")[0] for fault in faults()] == ["cors_origins.1"]


def test_trusted_documents_alone_need_a_manifest(environment: pytest.MonkeyPatch) -> None:
    put(environment, "trusted_documents_only", "true")
    assert [fault.partition(":")[0] for fault in faults()] == ["trusted_documents_only"]
    put(environment, "trusted_documents", "documents.json")
    assert load_settings().trusted_documents == Path("documents.json")


def test_limits_of_roles_are_json(environment: pytest.MonkeyPatch) -> None:
    put(environment, "max_cost_by_role", {"support": 200})
    assert load_settings().max_cost_by_role == {"support": 200}
    put(environment, "max_cost_by_role", {"support": -1})
    assert [fault.partition(":")[0] for fault in faults()] == ["max_cost_by_role.support"]


def test_contradictions_are_reported_beside_wrong_values(tmp_path: Path) -> None:
    wrong = {"max_page_size": 0, "table_name": "?", "silos": {"acme": {}}, "tenants": ["beta"], "cors_origins": ["*"]}
    found = faults(written(tmp_path, {**RIGHT, **wrong}))
    assert [fault.partition(":")[0] for fault in found] == ["table_name", "max_page_size", "tenants", "cors_origins"]


def test_what_depends_on_a_wrong_value_is_not_guessed(tmp_path: Path) -> None:
    """The default of `request_timeout_seconds` would contradict this drain time, but it is not what was meant."""
    found = faults(written(tmp_path, {**RIGHT, "request_timeout_seconds": "soon", "drain_timeout_seconds": 5}))
    assert [fault.partition(":")[0] for fault in found] == ["request_timeout_seconds"]


def test_checks_of_others_are_reported_in_the_same_list(tmp_path: Path) -> None:
    def port_is_free(settings: Settings) -> None:
        raise ConfigurationError([f"port: {settings.port} is taken"])

    def region_is_near(settings: Settings) -> None:
        raise ConfigurationError([f"region: {settings.region} is far away"])

    given = {name: value for name, value in RIGHT.items() if name != "region"}
    with pytest.raises(ConfigurationError) as caught:
        load_settings(written(tmp_path, given), (port_is_free, region_is_near))
    assert [fault.partition(":")[0] for fault in caught.value.faults] == ["region", "port"]
    assert caught.value.faults[0] == "region: required; set GATEWAY_REGION"
    with pytest.raises(ConfigurationError) as caught:
        load_settings(written(tmp_path, RIGHT), (port_is_free, region_is_near))
    assert [fault.partition(":")[0] for fault in caught.value.faults] == ["port", "region"]


def test_a_warm_up_needs_tenants_that_are_listed(environment: pytest.MonkeyPatch) -> None:
    put(environment, "warm_up_roles", ["viewer"])
    assert faults() == ["warm_up_roles: requires tenants, and excludes session_per_subject"]
    put(environment, "tenants", ["acme"])
    assert load_settings().warm_up_roles == ["viewer"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("table_name", "shop*", "the name of a table: 3 to 255 characters of A-Z, a-z, 0-9, _, . and -"),
        ("region", "europe", "a region, such as eu-west-1"),
    ],
)
def test_a_fault_says_what_is_expected(environment: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    put(environment, name, value)
    assert faults() == [f"{name}: expected {said}"]


def test_a_tenant_follows_the_rule_of_the_model(environment: pytest.MonkeyPatch) -> None:
    put(environment, "readiness_tenant", "Acme")
    assert faults()[0].startswith("readiness_tenant: a tenant id is 2 to 63 characters of a-z, 0-9 and -")


def test_the_page_shows_every_setting_as_the_code_has_it() -> None:
    page = (Path(__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    assert missing(page) == []
    assert fresh(page) == page, "python -m gateway.setting_docs docs/settings.md"


def test_a_stale_row_is_rewritten_and_the_rest_is_kept() -> None:
    table = "| setting | default | meaning |\n|---|---|---|\n| `port` | 1 | old |\n| `tenants` | 1 | old |\n"
    page = f"text\n\n{table}\n| `port` | x |\n"
    lines = fresh(page).splitlines()
    assert lines[4] == "| `port` | `8000` | The port to listen on. |"
    assert lines[:4] + lines[6:] == page.splitlines()[:4] + page.splitlines()[6:]
    assert "port" not in missing(fresh(page))
    assert "region" in missing(fresh(page))


def test_support_access_that_nobody_could_revoke_is_refused_in_production() -> None:
    granting = {**RIGHT, "issuers": [{**ISSUER, "support": {}}]}
    assert faults_of_values(granting) == [
        "support_revocations: required, because issuers.0.support grants support access"
    ]
    assert faults_of_values({**granting, "support_revocations": "/run/revoked"}) == []
    assert faults_of_values({**granting, "environment": "sandbox"}) == []


@pytest.mark.parametrize(
    "support", [{"max_minutes": 31}, {"max_minutes": 0}, {"actor_claim": ["act"]}, {"roles": ["a"]}]
)
def test_support_access_has_limits_that_no_setting_lifts(support: dict[str, Any]) -> None:
    granting = {**RIGHT, "support_revocations": "/run/revoked", "issuers": [{**ISSUER, "support": support}]}
    assert len(faults_of_values(granting)) == 1


def faults_of_values(values: dict[str, Any]) -> list[str]:
    try:
        Settings(**values)
    except ConfigurationError as error:
        return error.faults
    return []


def test_what_a_process_does_not_read_may_be_left_out(environment: pytest.MonkeyPatch) -> None:
    for name in ("issuers", "cursor_secret", "tenant_role_arn"):
        environment.delenv(f"GATEWAY_{name.upper()}")
    assert load_settings(unneeded=("issuers", "cursor_secret", "tenant_role_arn")).table_name == "shop"
    assert len(faults()) == 3


def test_the_password_of_the_bus_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    for name, value in {"bus_servers": ["tls://bus:4222"], "bus_user": "web", "bus_password": "of the bus"}.items():
        put(environment, name, value)
    settings = load_settings()
    assert "of the bus" not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert settings_values(settings)["bus_password"] == "of the bus"
