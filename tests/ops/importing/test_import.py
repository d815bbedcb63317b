"""`gateway import` against a gateway on the loopback interface, with a table in memory."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gateway.app import Services, build_gateway
from gateway.demo import MODEL as DEMO
from gateway.errors import ConfigurationError, Throttled
from gateway.graph.schema.schema import build_schema
from gateway.ops.importing.run import Import, import_rows
from gateway.ops.importing.sender import Refused
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.testing.memory import Memory
from gateway.testing.services import TABLE, MemorySts, fetch_keys, settings, token
from tests.drawn import drawn
from tests.fixtures import aws
from tests.graph.mutation.books import DOMAIN, books_model

MODEL = books_model()
DOMAINS = "tests.graph.mutation.books"
GENRES = [{"genreId": genre, "title": genre} for genre in "gh"]


@dataclass
class Running:
    url: str
    memory: Memory

    def books(self) -> list[str]:
        return sorted(row["title"]["S"] for (pk, _), row in self.memory.rows.items() if "#BOOK#" in pk)


@contextmanager
def served() -> Iterator[Running]:
    memory = Memory(MODEL.table, TABLE)
    services = Services(memory, MemorySts(), fetch_keys)
    gateway = build_gateway(settings(domains=[DOMAINS]), aws(), lambda line: None, services)
    with listen(0) as listening, served_in_thread(gateway.endpoint, listening):
        yield Running(f"{address_of(listening)}/graphql", memory)


@pytest.fixture(scope="module", autouse=True)
def _schema_made_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway.ops.importing.run.build_schema", cache(build_schema))
        yield


def bearer(role: str = "editor") -> str:
    return token("acme", role, None, tuple(MODEL.roles))


def written(folder: Path, name: str, *rows: Any) -> Path:
    path = folder / name
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def run(running: Running, entity: str, source: Path, **more: Any) -> tuple[int, str]:
    shown = StringIO()
    options = Import(entity=entity, source=source, url=running.url, **{"token": bearer(), **more})
    return import_rows(options, MODEL, Console(file=shown, width=200)), shown.getvalue()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with served() as found:
        assert run(found, "Genre", written(tmp_path, "genres.jsonl", *GENRES))[0] == 0
        yield found


def test_rows_are_imported_and_rejected_with_number_path_and_values(running: Running, tmp_path: Path) -> None:
    rows = [
        {"genreId": "g", "title": "A", "code": "x"},
        {"genreId": "g", "title": "B", "pages": "many"},
        {"genreId": "none", "title": "C"},
        "{broken",
        {"genreId": "g", "title": "", "pages": 0, "colour": 1},
        {"genreId": "g", "title": "", "pages": 0},
        {"genreId": "g", "title": "D", "code": "x"},
        {"genreId": "h", "title": "E", "pages": 7},
    ]
    source = written(tmp_path, "books.jsonl", *rows)
    code, shown = run(running, "Book", source)
    assert (code, running.books()) == (1, ["A", "E"])
    assert "imported 2 of 8 rows" in shown
    rejected = [json.loads(line) for line in (tmp_path / "books.jsonl.rejected.jsonl").read_text().splitlines()]
    found = {each["row"]: [(error["code"], error["field"]) for error in each["errors"]] for each in rejected}
    assert found == {
        2: [("INVALID", "pages")],
        3: [("NOT_FOUND", "genreId")],
        4: [("INVALID", None)],
        5: [("INVALID", None)],
        6: [("INVALID", "title"), ("INVALID", "pages")],
        7: [("ALREADY_EXISTS", "code")],
    }
    assert rejected[1]["values"] == rows[2]
    assert not (tmp_path / "books.jsonl.import.json").exists(), "an import that is done leaves no checkpoint"


def test_cells_of_csv_are_read_by_their_types(running: Running, tmp_path: Path) -> None:
    source = written(tmp_path, "books.csv", "genreId,title,pages,code", 'g,"A, or B",12,', "g,C,x,c", "g,D")
    assert run(running, "Book", source)[0] == 1
    assert running.books() == ["A, or B"]
    [book] = [row for (pk, _), row in running.memory.rows.items() if "#BOOK#" in pk]
    assert (book["pages"], "code" in book) == ({"N": "12"}, False)
    rejected = (tmp_path / "books.csv.rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in rejected] == [2, 3]


def test_a_column_that_the_entity_does_not_have_stops_the_import(running: Running, tmp_path: Path) -> None:
    source = written(tmp_path, "books.csv", "genreId,titel", "g,A")
    with pytest.raises(ConfigurationError, match="titel"):
        run(running, "Book", source)


def test_a_throttled_gateway_is_asked_again(running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = running.memory.call, 0

    async def call(operation: str, *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += operation == "TransactWriteItems"
        if operation == "TransactWriteItems" and calls % 3 == 1:
            raise Throttled("slow down")
        return await real(operation, *arguments, **named)

    monkeypatch.setattr(running.memory, "call", call)
    monkeypatch.setattr("gateway.ops.importing.sender._FIRST_PAUSE", 0.01)
    titles = [f"T{number:03}" for number in range(150)]
    source = written(tmp_path, "books.jsonl", *({"genreId": "g", "title": title} for title in titles))
    assert run(running, "Book", source)[0] == 0
    assert running.books() == titles, "each once, although ids are made by the gateway"


def test_a_caller_that_may_not_write_is_refused_before_a_row(running: Running, tmp_path: Path) -> None:
    source = written(tmp_path, "books.jsonl", {"genreId": "g", "title": "A"})
    with pytest.raises(Refused, match="viewer"):
        run(running, "Book", source, token=bearer("viewer"))
    assert running.books() == []


def test_a_token_that_is_not_accepted_is_renewed_by_its_command(running: Running, tmp_path: Path) -> None:
    source = written(tmp_path, "books.jsonl", {"genreId": "g", "title": "A"})
    command = f"{sys.executable} -c \"print('{bearer()}')\""
    assert run(running, "Book", source, token="old", token_command=command)[0] == 0
    with pytest.raises(Refused, match="token"):
        run(running, "Book", source, token="old")


def test_a_checkpoint_of_another_file_or_too_old_is_refused(running: Running, tmp_path: Path) -> None:
    source = written(tmp_path, "books.jsonl", {"genreId": "g", "title": "A"})
    checkpoint = tmp_path / "books.jsonl.import.json"
    with pytest.raises(Refused):
        run(running, "Book", source, token=bearer("viewer"))
    state = json.loads(checkpoint.read_text())
    checkpoint.write_text(json.dumps({**state, "saved_at": state["saved_at"] - 23.5 * 3_600}))
    with pytest.raises(ConfigurationError, match="too old"):
        run(running, "Book", source)
    checkpoint.write_text(json.dumps({**state, "digest": "other"}))
    with pytest.raises(ConfigurationError, match="another file"):
        run(running, "Book", source)
    checkpoint.write_text("{")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        run(running, "Book", source)


def test_an_entity_of_another_domain_is_named_with_what_is_served(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no entity `Patient`: name one of Book, .*--domains"):
        import_rows(Import(entity="Patient", source=tmp_path / "x.csv", url="http://127.0.0.1:1/graphql"), MODEL)


def test_an_entity_without_a_bulk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="bulkCreateUser"):
        import_rows(Import(entity="User", source=tmp_path / "x.csv", url="http://127.0.0.1:1/graphql"), DEMO)
    assert DOMAIN.mutations


@pytest.mark.slow
@pytest.mark.parametrize("kills", [drawn(3, 1)])
def test_after_kill_9_the_same_command_doubles_and_loses_nothing(running: Running, tmp_path: Path, kills: int) -> None:
    titles = [f"T{number:04}" for number in range(1_500)]
    wrong = {100, 700, 1_300}
    rows = ({"genreId": "g", "title": title, "pages": 0 if n in wrong else 1} for n, title in enumerate(titles))
    source = written(tmp_path, "books.jsonl", *rows)
    checkpoint = tmp_path / "books.jsonl.import.json"
    command = [
        sys.executable,
        "-m",
        "gateway",
        "import",
        "Book",
        str(source),
        "--url",
        running.url,
        "--domains",
        DOMAINS,
    ]
    environment = {**os.environ, "GATEWAY_TOKEN": bearer()}
    seen = 0
    for _ in range(kills):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        try:
            seen = _wait_for_progress(process, checkpoint, seen)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1, done.stderr
    assert "imported 1497 of 1500 rows" in done.stdout
    assert running.books() == [title for n, title in enumerate(titles) if n not in wrong]
    rejected = (tmp_path / "books.jsonl.rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] - 1 for line in rejected] == sorted(wrong)


def _wait_for_progress(process: "subprocess.Popen[bytes]", checkpoint: Path, seen: int) -> int:
    """Until some more rows are done; how many are then."""
    for _ in range(1_200):
        rows = json.loads(checkpoint.read_text())["rows"] if checkpoint.exists() else 0
        if rows > seen or process.poll() is not None:
            return int(rows)
        time.sleep(0.05)
    raise AssertionError("the import does not go on")
