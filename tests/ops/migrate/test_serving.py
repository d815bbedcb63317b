"""Nothing that serves a request can read the whole table."""

import ast
import subprocess
import sys
from pathlib import Path

import gateway

ROOT = Path(gateway.__file__).parent
# the proofs and the audit ask for it in order to be refused, the policies deny it, and the evaluator knows its name
# the sandbox answers it as AWS does, and refuses it as the policies say
_KNOWN = ("ops/", "iam/", "proving.py", "sandbox/aws/request_checks.py")


def test_no_module_that_serves_names_the_operation() -> None:
    """INVARIANT: only here, with an operator's credentials; nothing that serves a request reads the whole table."""
    named = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == "Scan"
    ]
    assert [name for name in named if not name.startswith(_KNOWN)] == []
    assert "ops/migrate/scan.py" in named


def test_the_process_that_serves_does_not_load_it() -> None:
    script = (
        "import sys, gateway.serving.serve; sys.exit(any(n.startswith('gateway.ops.migrate') for n in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, cwd=ROOT.parent).returncode == 0
