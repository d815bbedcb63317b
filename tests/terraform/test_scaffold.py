"""The Terraform that `gateway new` makes, with the modules of this repository, as the real provider checks it."""

import subprocess
import sys
from pathlib import Path

from tests.terraform.tool import copied, workspace


def test_what_gateway_new_makes_is_valid(provider: None, tmp_path: Path) -> None:
    stack = copied(tmp_path) / "modules" / "stack"
    command = [sys.executable, "-m", "gateway", "new", "clinic", "--modules", f"../../{stack.relative_to(tmp_path)}"]
    subprocess.run(command, cwd=tmp_path, check=True)
    made = workspace(tmp_path / "clinic", "terraform")
    made.run("validate")
    made.run("fmt", "-check", "-diff")
