"""Two first commands in one tree: the environment is made once, by one of them, and the other one waits."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
# stands for Python: making an environment takes a while, and goes wrong where somebody else makes it too
PYTHON = f"""#!/usr/bin/env bash
if [[ "$1 $2" != "-m venv" ]]; then exec {sys.executable} "$@"; fi
mkdir "$3.busy" && echo made >>made
until [[ -e go ]]; do sleep 0.01; done
mkdir -p "$3/bin" && ln -sf /bin/true "$3/bin/python" && rmdir "$3.busy"
"""


def _tree(path: Path) -> list[str]:
    (path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "install", path / "scripts")
    for name in ("pyproject.toml", "requirements-dev.lock", "requirements-uv.lock"):
        (path / name).touch()
    (path / "python").write_text(PYTHON)
    (path / "python").chmod(0o755)
    return ["scripts/install", str(path / "python"), ".venv"]


@contextmanager
def _started(command: list[str], cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """With all that it starts, it ends with the block at the latest."""
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _until_made(tree: Path, process: subprocess.Popen[str]) -> None:
    while not (tree / "made").exists():
        assert process.poll() is None
        time.sleep(0.01)


def test_a_second_install_waits_and_has_nothing_to_do(tmp_path: Path) -> None:
    command = _tree(tmp_path)
    with _started(command, tmp_path) as first:
        _until_made(tmp_path, first)
        with _started(command, tmp_path) as second:
            assert second.stdout is not None
            assert "waiting" in second.stdout.readline()
            (tmp_path / "go").touch()
            rest = second.stdout.read()
            codes = first.wait(), second.wait()
    assert (codes, rest) == ((0, 0), "")
    assert (tmp_path / "made").read_text() == "made\n"
    assert (tmp_path / ".venv" / ".installed").exists()


def test_an_interrupted_install_is_repeated(tmp_path: Path) -> None:
    command = _tree(tmp_path)
    with _started(command, tmp_path) as cut:
        _until_made(tmp_path, cut)
    (tmp_path / ".venv.busy").rmdir()
    (tmp_path / "go").touch()
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    assert (tmp_path / "made").read_text() == "made\n" * 2
    assert (tmp_path / ".venv" / ".installed").exists()
