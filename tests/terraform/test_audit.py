"""`gateway audit` of what Terraform made: two readings of one checklist."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.ops.audit.audit import subject_of
from gateway.ops.audit.checklist import run_checks
from gateway.ops.audit.gather.account import AuditedAccount, Live
from gateway.ops.audit.gather.everything import Places, gather
from gateway.ops.audit.results import Case, LineVerdict
from tests.terraform.deployed import REGION, Deployed
from tests.terraform.tool import REPOSITORY

# lines that Terraform answers for; the others look at the code, the model and the traffic
_LINES = {
    "index-capacity",
    "capacity-mode",
    "ttl",
    "point-in-time-recovery",
    "vpc-endpoint",
    "alarms",
    "least-privilege",
    "table-drift",
    "policy-drift",
    "encryption",
    "stream",
}


def test_the_audit_finds_nothing_wrong_with_it(
    deployed: Deployed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("AWS_ENDPOINT_URL", deployed.url),
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
    ):
        monkeypatch.setenv(name, text)
    config = tmp_path / "audit.json"
    config.write_text(json.dumps(deployed.workspace.output("audit_config")))
    subject = subject_of(config)
    assert subject.vpc is not None
    places = Places(REPOSITORY / "docs/access-patterns.md", REPOSITORY / "policies")
    live = Live(AuditedAccount(REGION))
    try:
        facts = gather(live, subject, MODEL, places, datetime.now(UTC))
    finally:
        live.close()
    found = {
        result.line.name: result for result in run_checks(Case(MODEL, subject, facts)) if result.line.name in _LINES
    }
    bad = {name: result.findings for name, result in found.items() if result.verdict is not LineVerdict.PASS}
    assert bad == {}
    assert found.keys() == _LINES
