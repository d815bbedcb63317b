"""The commands of the formal proof: they exit as they should, say what they found, and the page shows what they say."""

import json
import re
import shlex
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.cli.main import app
from gateway.cli.policy_proofs import unannounced
from gateway.demo import MODEL
from gateway.domains import load_domains
from gateway.iam.formal.difference import Widening, widenings
from gateway.iam.formal.formula import FALSE, TRUE
from gateway.iam.formal.proof import prove
from gateway.iam.formal.solver.solver import Answer
from gateway.iam.formal.theorems import Theorem, subject, theorems
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.policies.generate import documents
from gateway.model.model import Model
from gateway.ops.isolation.formal_proof import EXAMPLE, without_sandbox
from gateway.ops.isolation.formal_report import FormalReport, write_formal_report
from gateway.ops.policies.files import write_policies

RUN = CliRunner()
PAGE = (Path(__file__).parents[2] / "docs" / "proof.md").read_text()
EXAMPLES = re.findall(r"<!-- policy: (\S+) (.*?) -->\n```json\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL)


# the proof of the shipped policies is tested by itself: tests/iam/formal/test_proof.py
SMALL = ["--domains", "helpdesk.domain"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model whose proof takes a quarter of the time."""
    monkeypatch.syspath_prepend("examples")
    return load_domains(["helpdesk.domain"]).model


def write(directory: Path, model: Model = MODEL, **changed: Any) -> Path:
    directory.mkdir(exist_ok=True)
    for name, document in documents(model).items():
        (directory / name).write_text(json.dumps(changed.get(name.removesuffix(".json").replace("-", "_"), document)))
    return directory


def with_put(name: str) -> dict[str, Any]:
    """The viewers' policy, with one write."""
    made = documents(MODEL)[name]
    made["Statement"][0]["Action"].append("dynamodb:PutItem")
    made["Statement"][2]["NotAction"].append("dynamodb:PutItem")
    return made


@pytest.mark.slow
def test_the_proof_of_a_broken_directory_fails_with_a_request(small: Model, tmp_path: Path) -> None:
    broken = documents(small)["boundary.json"]
    for clause in broken["Statement"][:2]:
        clause["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] = [
            "TENANT#${aws:PrincipalTag/TenantId}*"
        ]
    policies = write(tmp_path / "policies", small, boundary=broken)
    places = ["--policies", str(policies), "--report", str(tmp_path / "report")]
    ran = RUN.invoke(app, ["isolation", "prove", "--formal", *SMALL, *places])
    assert ran.exit_code == 1
    assert (
        "NOT PROVED: boundary: no foreign item (any policy attached to the role): this request shows it" in ran.output
    )
    assert "which reaches rows of 'acme2'" in ran.output
    report = (tmp_path / "report" / "proof.md").read_text()
    assert report.startswith("# Proof of isolation\n\n**NOT PROVED.**")
    for words in (
        "## What is not proved",
        "which reaches rows of 'acme2'",
        "## Assumptions",
        "| boundary.json | `",
        "z3 ",
    ):
        assert words in report
    machine = json.loads((tmp_path / "report" / "proof.json").read_text())
    assert machine["passed"] is False
    assert set(machine["documents"]) == set(documents(small))
    refuted = [each for each in machine["theorems"] if not each["proved"]]
    [shown] = [each["counterexample"] for each in refuted if each["theorem"] == "boundary: no foreign item"]
    assert shown["context"]["dynamodb:LeadingKeys"] == ["TENANT#acme2#USER#1"]
    assert shown["replay"] == "sent to the sandbox: GetItem succeeds there and answers 1 row"
    assert shown["replay"] in ran.output
    assert shown["replay"] in report
    assert {each["theorem"] for each in refuted} >= {"boundary: no foreign item", "grants no more than declared"}
    assert all(each["means"] for each in machine["theorems"])


@pytest.mark.slow
def test_the_proof_of_what_the_model_makes_passes(small: Model, tmp_path: Path) -> None:
    ran = RUN.invoke(app, ["isolation", "prove", "--formal", *SMALL, "--report", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert re.search(r"(\d+) of \1 theorems proved for every request", ran.output)
    report = (tmp_path / "proof.md").read_text()
    assert "**Proved.**" in report
    write_policies(tmp_path / "policies", small)
    files = list((tmp_path / "policies").glob("*.json"))
    assert len(files) == len(documents(small))
    for file in files:
        assert f"| {file.name} | `{sha256(file.read_bytes()).hexdigest()}` |" in report


def test_the_report_is_whole_for_an_auditor(tmp_path: Path) -> None:
    """Theorems with their meaning, assumptions with who settles them, versions, and hashes; in JSON as in the text."""
    found = subject(MODEL, documents(MODEL), EXAMPLE)
    few = [each for each in theorems(found) if each.name in ("no foreign item", "a session policy cannot widen")]
    outcomes = tuple(prove(few, EXAMPLE))
    made = FormalReport(datetime.now(UTC), "a few documents", {"boundary.json": "0" * 64}, outcomes, (), "impossible")
    markdown, machine = write_formal_report(made, tmp_path)
    text, told = markdown.read_text(), json.loads(machine.read_text())
    assert told["passed"] is True
    assert set(told["versions"]) == {"gateway", "z3", "cvc5", "python"}
    assert told["documents"] == {"boundary.json": "0" * 64}
    assert {each["settled"] for each in told["assumptions"]} == {"documented", "aws", "gateway"}
    assert told["lemma"]["answer"] == "impossible"
    assert len(told["theorems"]) == len(few)
    said = [each["assumption"] for each in told["assumptions"]] + told["not_claimed"] + list(told["versions"].values())
    for words in (*said, *(each["means"] for each in told["theorems"]), told["lemma"]["means"], "0" * 64):
        assert words in text
    assert "(only AWS can settle it)" in text


@pytest.mark.parametrize(("answer", "passes", "words"), [(None, True, "Not decided here"), ("possible", False, "NOT")])
def test_a_lemma_that_does_not_hold_fails_the_proof(
    answer: Answer | None, passes: bool, words: str, tmp_path: Path
) -> None:
    outcomes = tuple(prove([Theorem("no foreign item", "x", FALSE)], EXAMPLE))
    made = FormalReport(datetime.now(UTC), "nothing", {}, outcomes, (), answer)
    assert made.passed is passes
    assert words in write_formal_report(made, tmp_path)[0].read_text().partition("## The lemma")[2]


def test_without_the_sandbox_a_counterexample_says_so() -> None:
    found = subject(MODEL, documents(MODEL), EXAMPLE)
    refuted = [each for each in prove([Theorem("no foreign item", "viewer", TRUE)], EXAMPLE) if not each.proved]
    assert list(without_sandbox(found, refuted)) == [
        "not sent to the sandbox: pip install 'tenant-graphql-gateway[sandbox]'"
    ]


def test_a_missing_directory_is_reported(tmp_path: Path) -> None:
    ran = RUN.invoke(app, ["isolation", "prove", "--formal", "--policies", str(tmp_path)])
    assert ran.exit_code == 1
    assert "cannot be read" in ran.output


def test_the_same_documents_widen_nothing(tmp_path: Path) -> None:
    same = write(tmp_path / "same")
    ran = RUN.invoke(app, ["policies", "diff", str(same), str(same)])
    assert (ran.exit_code, ran.output) == (0, "no role may do anything that it could not do before\n")


@pytest.mark.slow
def test_a_widening_is_reported_with_a_request_and_fails_unless_it_is_announced(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old"), write(tmp_path / "new", session_viewer=with_put("session-viewer.json"))
    ran = RUN.invoke(app, ["policies", "diff", str(old), str(new)])
    assert ran.exit_code == 1
    assert ran.output.startswith("wider: viewer dynamodb:PutItem\n")
    assert ran.output in PAGE, "the page shows what the command says"
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- nothing\n\n## 1\n\n- `viewer dynamodb:PutItem`\n")
    silent = RUN.invoke(app, ["policies", "diff", str(old), str(new), "--announced", str(changelog)])
    assert silent.exit_code == 1
    assert "not announced: name `viewer dynamodb:PutItem`" in silent.output
    changelog.write_text("# Changelog\n\n## Unreleased\n\n- viewers write: `viewer dynamodb:PutItem`\n")
    announced = RUN.invoke(app, ["policies", "diff", str(old), str(new), "--announced", str(changelog)])
    assert announced.exit_code == 0
    assert "(announced)" in announced.output


@pytest.mark.parametrize("verdict", [Allow(("X",)), Deny("no", "identity")], ids=["allowed before", "denied now"])
def test_a_widening_that_the_evaluator_does_not_confirm_is_an_internal_error(
    verdict: Allow | Deny, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old, new = write(tmp_path / "old"), write(tmp_path / "new", session_viewer=with_put("session-viewer.json"))
    monkeypatch.setattr("gateway.iam.formal.difference.evaluate", lambda policies, asked: verdict)
    ran = RUN.invoke(app, ["policies", "diff", str(old), str(new)])
    assert ran.exit_code == 1
    assert "internal error, please report it" in ran.output
    assert "wider: viewer dynamodb:PutItem" in ran.output


def test_a_counterexample_that_the_evaluator_does_not_confirm_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "star.json").write_text(EXAMPLES[2][2])
    monkeypatch.setattr("gateway.iam.formal.foreign_policies.evaluate", lambda policies, asked: Deny("no", "identity"))
    ran = RUN.invoke(app, ["policies", "prove", str(tmp_path / "star.json"), "--prefix", "TENANT#{t}#"])
    assert ran.exit_code == 1
    assert "internal error, please report it" in ran.output


def test_a_narrowing_is_no_widening(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", session_viewer=with_put("session-viewer.json")), write(tmp_path / "new")
    assert RUN.invoke(app, ["policies", "diff", str(old), str(new)]).exit_code == 0


def test_a_widening_that_another_layer_stops_does_not_count() -> None:
    """The combination counts: the boundary does not let the role scan."""
    old = documents(MODEL)
    wider = documents(MODEL)
    wider["session-viewer.json"]["Statement"][2]["NotAction"].append("dynamodb:Scan")
    assert list(widenings(old, wider, EXAMPLE)) == []


def test_a_new_role_may_do_everything_it_does() -> None:
    old = {name: document for name, document in documents(MODEL).items() if name != "session-viewer.json"}
    found = list(widenings(old, documents(MODEL), EXAMPLE))
    assert {each.coordinate for each in found} == {
        *(f"viewer dynamodb:{action}" for action in ("BatchGetItem", "GetItem", "Query")),
        "viewer kms:Decrypt",
    }


def test_a_wildcard_is_reported_as_one() -> None:
    new = documents(MODEL)
    new["vpc-endpoint.json"]["Statement"].append(
        {"Sid": "All", "Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}
    )
    found = [each.coordinate for each in widenings(documents(MODEL), new, EXAMPLE)]
    assert "vpc-endpoint s3:*" in found


def test_only_the_newest_version_announces() -> None:
    found = [Widening("viewer", "dynamodb:PutItem", None)]  # type: ignore[arg-type]  # its request does not matter here
    assert unannounced(found, "no versions") == found


def test_the_page_has_three_published_examples() -> None:
    assert [name for name, *_ in EXAMPLES] == ["scan.json", "dash.json", "star.json"]


@pytest.mark.parametrize(("name", "options", "policy", "said"), EXAMPLES)
def test_each_published_example_is_refuted_as_the_page_says(
    name: str, options: str, policy: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(policy)
    ran = RUN.invoke(app, ["policies", "prove", str(tmp_path / name), *shlex.split(options)])
    assert ran.exit_code == 1
    assert said in ran.output
    assert "NOT TRUE: nothing without a key" in ran.output
    assert "proved: some own row can be used" in ran.output


def test_ids_without_the_delimiter_make_the_second_example_hold(tmp_path: Path) -> None:
    guarded = json.loads(EXAMPLES[1][2])
    guarded["Statement"]["Condition"]["Null"] = {"dynamodb:LeadingKeys": "false"}
    (tmp_path / "dash.json").write_text(json.dumps(guarded))
    command = ["policies", "prove", str(tmp_path / "dash.json"), "--prefix", "{tenant}-"]
    assert RUN.invoke(app, command).exit_code == 1
    held = RUN.invoke(app, [*command, "--ids-without", "-"])
    assert held.exit_code == 0, held.output
    assert held.output.count("proved: ") == 5


def test_a_boundary_can_make_a_policy_hold(tmp_path: Path) -> None:
    (tmp_path / "scan.json").write_text(EXAMPLES[0][2])
    boundary = json.loads(EXAMPLES[0][2])
    boundary["Statement"]["Action"].remove("dynamodb:Scan")
    boundary["Statement"]["Condition"]["Null"] = {"dynamodb:LeadingKeys": "false"}
    (tmp_path / "boundary.json").write_text(json.dumps(boundary))
    command = ["policies", "prove", str(tmp_path / "scan.json"), "--prefix", "{user}"]
    assert RUN.invoke(app, [*command, "--boundary", str(tmp_path / "boundary.json")]).exit_code == 0
    assert RUN.invoke(app, [*command, "--session", str(tmp_path / "boundary.json")]).exit_code == 0


@pytest.mark.parametrize(
    ("prefix", "words"),
    [("TENANT#", "one `{name}`"), ("{a}{b}", "one `{name}`"), ("{tenant}##", "one `{name}`")],
)
def test_a_prefix_that_means_nothing_is_reported(prefix: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "star.json").write_text(EXAMPLES[2][2])
    ran = RUN.invoke(app, ["policies", "prove", str(tmp_path / "star.json"), "--prefix", prefix])
    assert ran.exit_code == 1
    assert words in ran.output


def test_a_policy_without_a_variable_is_reported(tmp_path: Path) -> None:
    (tmp_path / "star.json").write_text(EXAMPLES[2][2].replace("${aws:PrincipalTag/TenantId}", "acme"))
    ran = RUN.invoke(app, ["policies", "prove", str(tmp_path / "star.json"), "--prefix", "TENANT#{t}#"])
    assert ran.exit_code == 1
    assert "with 0 variables" in ran.output
