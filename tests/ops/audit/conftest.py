"""One account that passes every line, made once; the facts of it are values that each test changes for itself."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.deployment import Deployment
from gateway.model.docs.patterns import access_patterns
from gateway.ops.audit.checklist import run_checks
from gateway.ops.audit.checks import privilege
from gateway.ops.audit.facts import Facts
from gateway.ops.audit.gather.account import AuditedAccount, Live
from gateway.ops.audit.gather.everything import Places, gather
from gateway.ops.audit.results import Case, LineResult
from gateway.ops.policies.files import write_policies
from tests.ops.audit.fixtures import REGION, SUBJECT, build
from tests.unmeasured import unmeasured

# moto would load a thousand machine images into each account, and nobody asks for one
os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"

ACCOUNT = AuditedAccount(REGION, credentials=Credentials("test", "test"))


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A repository whose files are as the model prints them."""
    directory: Path = tmp_path_factory.mktemp("repository")
    write_policies(directory / "policies", MODEL)
    (directory / "access-patterns.md").write_text(access_patterns(MODEL), encoding="utf-8")
    return Places(directory / "access-patterns.md", directory / "policies")


@pytest.fixture(scope="session", autouse=True)
def _probed_once() -> Iterator[None]:
    """The same policies answer the same probes once: most tests change something else in the account."""
    evaluate, answers = privilege._evaluate_probes, dict[Any, tuple[list[str], list[str], int]]()

    def remembered(case: Case, policies: PolicySet, deployment: Deployment) -> tuple[list[str], list[str], int]:
        asked = case.model, policies, deployment
        if asked not in answers:
            answers[asked] = evaluate(case, policies, deployment)
        wide, narrow, evaluated = answers[asked]
        return [*wide], [*narrow], evaluated

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(privilege, "_evaluate_probes", remembered)
        yield


@pytest.fixture
def account() -> Iterator[AuditedAccount]:
    """A new account for a test that changes it."""
    with mock_aws():
        with unmeasured():
            build()
        yield ACCOUNT


@pytest.fixture(scope="session")
def facts(places: Places) -> Facts:
    with mock_aws(), unmeasured():  # the tests of `gather` measure it
        build()
        live = Live(ACCOUNT)
        found = gather(live, SUBJECT, MODEL, places, datetime.now(UTC))
        live.close()
    return found


@pytest.fixture(scope="session")
def results(facts: Facts) -> tuple[LineResult, ...]:
    """The verdicts on the good account."""
    return run_checks(Case(MODEL, SUBJECT, facts))


@pytest.fixture
def case(facts: Facts) -> Case:
    return Case(MODEL, SUBJECT, facts)
