"""The pages: links lead somewhere, the checklist names what exists, runbooks cover what was promised."""

import re
from pathlib import Path

import pytest

from gateway.setting_types import IssuerSettings, SiloSettings
from gateway.settings import Settings
from tests.terraform.alarms import DATA
from tests.terraform.tool import REPOSITORY, SOURCES

_RUNBOOKS = REPOSITORY / "docs" / "runbooks"
# made by Terraform, of the process and its container, for a laptop, secret, or of the cluster that `dax` makes
_ELSEWHERE = {
    *("table_name", "region", "tenant_role_arn", "issuers"),
    *("host", "port", "policies_dir", "environment"),
    *("dynamodb_endpoint", "dynamodb_streams_endpoint", "sts_endpoint", "s3_endpoint", "files_bucket"),
    "cursor_secret",
    *("dax_endpoint", "dax_role_arn", "dax_item_ttl_seconds", "dax_query_ttl_seconds"),
    "dax_accept_gateway_only_isolation",
    # of the servers that `bus` names
    *("bus_servers", "bus_stream", "bus_user", "bus_password", "bus_ca", "bus_replicas"),
}
# in a silo these are said by whoever makes it
_OF_SILO = {"table_name", "region", "tenant_role_arn", "dax_endpoint", "dax_role_arn", "files_bucket"}
_PAGES = sorted([*(path for path in SOURCES.rglob("*.md") if ".terraform" not in path.parts), *_RUNBOOKS.glob("*.md")])


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_checklist_names_resources_and_tests_that_exist() -> None:
    text = (SOURCES / "README.md").read_text()
    tests = "\n".join(path.read_text() for path in (REPOSITORY / "tests/terraform").glob("test_*.py"))
    sources = "\n".join(path.read_text() for path in SOURCES.rglob("*.tf"))
    rows = re.findall(r"^\| .* \| `(\w+(?:\.\w+)?)`.* \| `(test_\w+)` \|$", text, re.MULTILINE)
    assert len(rows) >= 14
    for resource, test in rows:
        kind, _, name = resource.partition(".")
        assert f'resource "{kind}" "{name}"' in sources, resource
        assert f"def {test}(" in tests, test


@pytest.mark.parametrize(
    "name",
    ["tenant-incident", "key-changes", "region-loss", "restore", "moving-to-provisioned", "rotating-keys", "isolation"],
)
def test_there_is_a_runbook(name: str) -> None:
    text = (_RUNBOOKS / f"{name}.md").read_text()
    assert f"({name}.md)" in (_RUNBOOKS / "README.md").read_text()
    assert "aws " in text or "terraform " in text


def test_the_index_of_runbooks_lists_every_alarm_and_event_rule() -> None:
    rows = [(f"`{name}`", row["severity"], row["runbook"]) for name, row in DATA["alarms"].items()]
    rows += [(f"rule `{name}`", row["topic"], row["runbook"]) for name, row in DATA["event_rules"].items()]
    table = [f"| {name} | {severity} | [{page}.md]({page}.md) |" for name, severity, page in rows]
    text = (_RUNBOOKS / "README.md").read_text()
    listed = [line for line in text.splitlines() if line.startswith(("| `", "| rule `"))]
    assert listed == table, "the rows must be:\n" + "\n".join(table)


@pytest.mark.parametrize("page", sorted(_RUNBOOKS.glob("*.md")), ids=lambda page: page.name)
def test_every_page_is_listed(page: Path) -> None:
    assert page.name == "README.md" or f"({page.name})" in (_RUNBOOKS / "README.md").read_text()


def test_every_setting_of_the_gateway_can_be_set_in_terraform_and_no_other() -> None:
    text = (SOURCES / "modules/stack/input/variables.tf").read_text()
    assert _names(text, "issuers") == IssuerSettings.model_fields.keys()
    assert _names(text, "silos", indent=4) == SiloSettings.model_fields.keys() - (_ELSEWHERE - _OF_SILO)
    found = _names(text, "gateway_settings")
    assert found == Settings.model_fields.keys() - _ELSEWHERE, "name it in `gateway_settings` of modules/stack/input"


def _names(text: str, block: str, indent: int = 0) -> set[str]:
    """The names that an object type declares at its first level."""
    start = re.search(rf'^ {{{indent}}}(variable "{block}" {{|{block} = )', text, re.MULTILINE)
    assert start is not None
    body = text[start.end() :]
    step = indent + (4 if indent == 0 else 2)
    body = body[: re.search(rf"^ {{{step - 2}}}\}}", body, re.MULTILINE).start()]  # type: ignore[union-attr]  # formatted
    return set(re.findall(rf"^ {{{step}}}(\w+)\s+=", body, re.MULTILINE))
