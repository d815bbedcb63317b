"""Checkpoints that are of something else, or of nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.ops.migrate.checkpoint import Checkpoint, Saver, ScanSegment, load, save


def state(**changes: Any) -> Checkpoint:
    return Checkpoint(**{"table": "app", "fingerprint": "f", "tenant": None, "segments": [ScanSegment()], **changes})


def test_without_a_file_it_begins(tmp_path: Path) -> None:
    found = load(tmp_path / "none", state())
    assert not found.begun
    assert not found.done


def test_the_folders_of_the_file_are_made(tmp_path: Path) -> None:
    save(tmp_path / "deep" / "er" / "c", state())
    assert load(tmp_path / "deep" / "er" / "c", state()) == state()


@pytest.mark.parametrize("changes", [{"table": "other"}, {"fingerprint": "g"}, {"tenant": "acme"}])
def test_that_of_another_migration_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    save(tmp_path / "c", state(**changes))
    with pytest.raises(ConfigurationError, match="another migration"):
        load(tmp_path / "c", state())


def test_a_later_form_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "c", state())
    content = json.loads((tmp_path / "c").read_text())
    (tmp_path / "c").write_text(json.dumps({**content, "form": 2}))
    with pytest.raises(ConfigurationError, match="another migration"):
        load(tmp_path / "c", state())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": 1, "table": "app"}', '{"segments": [1]}'])
def test_an_invalid_checkpoint_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "c").write_text(text)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load(tmp_path / "c", state())


def test_the_segments_are_those_it_was_begun_with(tmp_path: Path) -> None:
    begun = state(segments=[ScanSegment(done=True), ScanSegment(start={"PK": {"S": "a"}, "SK": {"S": "b"}})])
    save(tmp_path / "c", begun)
    found = load(tmp_path / "c", state())
    assert found == begun
    assert found.begun
    assert not found.done


def test_it_is_saved_every_few_seconds_and_at_the_end(tmp_path: Path) -> None:
    now = [0.0]
    path = tmp_path / "c"
    saver = Saver(path, seconds=2, clock=lambda: now[0])
    moving = state()
    saver.moved(moving)
    assert not path.exists(), "nothing has moved"
    for second, saved in ((0.0, "k0"), (1.9, "k0"), (2.0, "k2.0"), (3.0, "k2.0")):
        now[0] = second
        moving.segments[0].start = {"PK": {"S": "p"}, "SK": {"S": "k0" if second == 0 else f"k{second}"}}
        saver.moved(moving)
        assert load(path, state()).segments[0].start == {"PK": {"S": "p"}, "SK": {"S": saved}}
    moving.segments[0].done = True
    saver.moved(moving)
    assert load(path, state()).done
