"""What is printed from code is fresh, and the documentation names what there is."""

import re
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.ops.policies.files import stale_policies
from gateway.setting_types import IssuerSettings, SiloSettings
from gateway.settings import Settings
from tests.graph.fixtures import SCHEMA

ROOT = Path(__file__).parents[1]


def test_the_schema_file_is_fresh() -> None:
    assert (ROOT / "schema.graphql").read_text() == SCHEMA.as_str() + "\n", "gateway schema"


def test_the_policy_files_are_fresh() -> None:
    assert stale_policies(ROOT / "policies", MODEL) == [], "gateway policies"


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    for part in (Settings, IssuerSettings, SiloSettings):
        for name in part.model_fields:
            assert f"`{name}`" in page, name


@pytest.mark.parametrize(
    "page",
    sorted(path.name for path in ROOT.glob("*.md")) + ["docs/" + path.name for path in (ROOT / "docs").glob("*.md")],
)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{page}: {target}"
