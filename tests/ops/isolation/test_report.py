"""A report says what was sent, what held, and with which policies."""

import json
from datetime import UTC, datetime

from gateway.ops.isolation.attack import ProbeResult, prove
from gateway.ops.isolation.report import ProofReport, as_json, as_markdown, report
from tests.ops.endpoint import ACME, GROUND, AuthorizingClient, session
from tests.ops.isolation.test_attack import scan_leaks

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SESSIONS = [session(ACME, "viewer"), session(ACME, "support")]


async def made(client: AuthorizingClient) -> ProofReport:
    return report(SESSIONS, await prove(client, SESSIONS, GROUND), NOW)


async def test_a_passed_proof_counts_what_held() -> None:
    found = await made(AuthorizingClient())
    assert found.passed
    text = as_markdown(found)
    sent = sum(result.role == "viewer" and result.probe.group == "keys" for result in found.results)
    assert text.startswith("# Proof of isolation\n\n**Passed.** ")
    assert f"| keys | {sent} of {sent} | {sent} of {sent} |" in text
    assert "2026-03-01 12:30 UTC" in text
    assert "What failed" not in text
    for each in SESSIONS:
        assert f"| {each.role} | `{each.permissions.fingerprint}` |" in text


async def test_a_failed_proof_names_what_failed() -> None:
    found = await made(AuthorizingClient(scan_leaks))
    assert not found.passed
    text = as_markdown(found)
    assert "**FAILED.**" in text
    assert "- **leak**: acme as viewer against globex: Scan (Scan, answered )" in text


async def test_the_json_says_the_same() -> None:
    found = await made(AuthorizingClient(scan_leaks))
    content = json.loads(as_json(found))
    assert content["passed"] is False
    assert content["counts"]["leak"] == sum(result.verdict == "leak" for result in found.results)
    assert content["disagreements"] == sum(not result.agreed for result in found.results)
    assert len(content["results"]) == len(found.results)
    leak = next(record for record in content["results"] if record["verdict"] == "leak")
    assert leak["marks"] == ["globex"]
    assert leak["evaluator_agrees"] is False


async def test_a_proof_without_controls_does_not_pass() -> None:
    found = await made(AuthorizingClient())
    attacks = tuple(result for result in found.results if result.probe.expected != "allowed")
    assert not report(SESSIONS, attacks, NOW).passed
    assert not report(SESSIONS, (), NOW).passed


async def test_many_failures_are_cut() -> None:
    found = await made(AuthorizingClient(scan_leaks))
    leaks = [result for result in found.results if result.verdict == "leak"]
    many: tuple[ProbeResult, ...] = tuple(leaks * 30)
    assert f"and {len(many) - 50} more" in as_markdown(report(SESSIONS, many, NOW))
