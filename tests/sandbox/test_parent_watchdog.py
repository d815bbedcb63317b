import os
import subprocess
import sys
import threading
from pathlib import Path

from gateway.sandbox import parent_watchdog

SLEEPER = "import signal, sys, time\nprint('up', sys.argv[1], flush=True)\ntime.sleep(600)\n"


def test_it_waits_as_long_as_the_other_end_is_held() -> None:
    held, other = os.pipe()
    said: list[object] = []
    watching = threading.Thread(target=parent_watchdog.watch, args=(held, lambda: said.append("end"), 0.0, said.append))
    watching.start()
    os.write(other, b"still here")
    watching.join(0.05)
    assert said == []
    os.close(other)
    watching.join(120)
    os.close(held)
    assert said == ["end", 1]


def test_a_module_ends_when_whoever_started_it_lets_go(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    child = _leashed("sleeper", "now", path=tmp_path)
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == b"up now\n"
    child.stdin.close()
    assert child.wait(120) != 0
    child.stdout.close()


def _leashed(*command: str, path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "gateway.sandbox.parent_watchdog", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(path)},
    )


def test_the_module_is_run_with_its_own_arguments(tmp_path: Path) -> None:
    (tmp_path / "said.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    child = _leashed("said", "--port", "8001", path=tmp_path)
    assert child.stdout is not None
    assert child.stdout.read() == b"__main__ ['--port', '8001']\n"
    child.communicate(timeout=120)
