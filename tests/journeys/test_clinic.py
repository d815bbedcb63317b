"""The clinic's own tests pass, as its reader would run them."""

import os
import subprocess
import sys
from pathlib import Path

CLINIC = Path(__file__).parents[2] / "examples" / "clinic"


def test_its_own_tests_pass() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GATEWAY_", "PYTEST_"))}
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(
        command, cwd=CLINIC, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
