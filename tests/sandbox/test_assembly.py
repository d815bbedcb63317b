import sys

import pytest

from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.aws.engine import call_engine
from gateway.sandbox.aws.tables import create
from gateway.sandbox.ready import Options
from tests.sandbox.wire import URL


async def test_a_table_from_before_is_left_as_it_is() -> None:
    options = Options(account="777788889999")
    engine = engine_for(options)
    try:
        await create(engine, options.table, MODEL.table)
        assembly = await build(options, engine, URL)
        found = await call_engine(engine, "Scan", {"TableName": options.table, "Select": "COUNT"})
    finally:
        await engine.close()
    assert not assembly.ready.seeded
    assert found["Count"] == 0


async def test_the_keys_are_new_at_every_start() -> None:
    options = Options(account="777788880000")
    engine = engine_for(options)
    try:
        first, second = [(await build(options, engine, URL, lambda model, now: [])).ready for _ in range(2)]
    finally:
        await engine.close()
    keys = {ready.admin.secret_key for ready in (first, second)} | {first.gateway.secret_key, second.gateway.secret_key}
    assert len(keys) == 4


def test_without_moto_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gateway.sandbox.aws.embedded", None)
    with pytest.raises(ConfigurationError, match="needs moto: pip install"):
        engine_for(Options())
