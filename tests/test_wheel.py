"""What is installed is what is tested: the wheel holds every file of the package, and nothing else."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        held = {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name}
    files = [path for path in (ROOT / "gateway").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert held == {str(path.relative_to(ROOT)).replace(os.sep, "/"): path.read_bytes() for path in files}
