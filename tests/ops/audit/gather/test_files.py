from pathlib import Path

from gateway.demo import MODEL
from gateway.ops.audit.facts import NotHere
from gateway.ops.audit.gather.everything import Places, file_facts
from gateway.ops.policies.files import write_policies


def test_files_as_the_model_prints_them_are_not_stale(places: Places) -> None:
    found = file_facts(MODEL, places)
    assert found.stale_policies == ()
    assert found.page is not None


def test_a_changed_policy_is_named(tmp_path: Path) -> None:
    write_policies(tmp_path, MODEL)
    (tmp_path / "boundary.json").write_text("{}", encoding="utf-8")
    assert file_facts(MODEL, Places(tmp_path / "none.md", tmp_path)).stale_policies == ("boundary.json: stale",)


def test_what_is_not_there_is_reported(tmp_path: Path) -> None:
    found = file_facts(MODEL, Places(tmp_path / "none.md", tmp_path / "none"))
    assert found.page is None
    assert isinstance(found.stale_policies, NotHere)
