"""Chromium, driven by Playwright: from `.engines/browser`, where `scripts/browser-tools` puts it."""

import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

_TOOLS = Path(__file__).parents[2] / ".engines" / "browser"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _missing(what: str) -> NoReturn:
    """Skipped loudly on a laptop, a failure where every suite has to run."""
    message = f"{what} is missing: run scripts/browser-tools"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def chromium() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, _NAMES)), None) or _missing("Chromium")
    if not (_TOOLS / "playwright").is_dir():
        _missing("Playwright")
    sys.path.append(str(_TOOLS))
    try:
        # not installed where the types are checked, so it has none here
        playwright = importlib.import_module("playwright.sync_api")
        with playwright.sync_playwright() as driver:
            # root, as in a container, has no sandbox of its own
            browser = driver.chromium.launch(
                executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else []
            )
            yield browser
            browser.close()
    finally:
        sys.path.remove(str(_TOOLS))
