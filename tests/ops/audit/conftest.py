"""One account that passes every line, made once; the facts of it are values that each test changes for itself."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from moto import mock_aws

from gateway.aws.credentials import Credentials
from gateway.domains import MODEL
from gateway.model.describe import access_patterns
from gateway.ops.audit.account import Account, Live
from gateway.ops.audit.checklist import judge
from gateway.ops.audit.facts import Facts
from gateway.ops.audit.gather.everything import gather
from gateway.ops.audit.gather.files import Places
from gateway.ops.audit.lines import Case, Result
from gateway.ops.policy_files import write_policies
from tests.ops.audit.world import REGION, SUBJECT, build
from tests.unmeasured import unmeasured

ACCOUNT = Account(REGION, credentials=Credentials("test", "test"))


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A repository whose files are as the model prints them."""
    directory: Path = tmp_path_factory.mktemp("repository")
    write_policies(directory / "policies", MODEL)
    (directory / "access-patterns.md").write_text(access_patterns(MODEL), encoding="utf-8")
    return Places(directory / "access-patterns.md", directory / "policies")


@pytest.fixture
def account() -> Iterator[Account]:
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
def results(facts: Facts) -> tuple[Result, ...]:
    """The verdicts on the good account."""
    return judge(Case(MODEL, SUBJECT, facts))


@pytest.fixture
def case(facts: Facts) -> Case:
    return Case(MODEL, SUBJECT, facts)
