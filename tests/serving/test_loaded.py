"""What the process that serves has loaded: nothing that can read the whole table, and no demo."""

import subprocess
import sys

import pytest

from tests.sources import PACKAGE, sources

# the proofs and the audit ask for it in order to be refused, the policies deny it, and the evaluator knows its name
# the sandbox answers it as AWS does, and refuses it as the policies say
_KNOWN = ("ops/", "iam/", "proving.py", "sandbox/aws/request_checks.py")


@pytest.fixture(scope="module")
def loaded() -> list[str]:
    code = "import sys, gateway.serving.serve; print(*sys.modules)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_no_module_that_serves_names_the_operation() -> None:
    """INVARIANT: only here, with an operator's credentials; nothing that serves a request reads the whole table."""
    named = [path.relative_to(PACKAGE).as_posix() for path, source in sources().items() if "Scan" in source.texts]
    assert [name for name in named if not name.startswith(_KNOWN)] == []
    assert "ops/migrate/scan.py" in named


def test_migrations_are_not_loaded(loaded: list[str]) -> None:
    assert "gateway.serving.serve" in loaded
    assert [name for name in loaded if name.startswith("gateway.ops.migrate")] == []


def test_the_demo_is_not_loaded(loaded: list[str]) -> None:
    assert [name for name in loaded if name.startswith("gateway.demo")] == []
