"""Every module, environment and example, as the real provider checks it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.terraform.tool import ROOTS, Failed, workspace


@pytest.fixture(scope="module")
def verdicts(provider: None, sources: Path) -> Mapping[str, str]:
    """What is wrong with each; empty where nothing is. Two at a time: most of it is waiting for the provider."""

    def verdict(root: str) -> str:
        try:
            workspace(sources, root).run("validate")
        except Failed as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(ROOTS, pool.map(verdict, ROOTS), strict=True))


@pytest.mark.parametrize("root", ROOTS)
def test_it_is_valid(root: str, verdicts: Mapping[str, str]) -> None:
    assert verdicts[root] == ""
