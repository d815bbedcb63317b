"""The examples of docs/subscriptions.md run."""

import ast
import re
from pathlib import Path

from gateway import Watch
from tests.graph.subscription.shop import shop

PAGE = (Path(__file__).parents[3] / "docs" / "subscriptions.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_declarations_are_watches() -> None:
    lines = ast.parse(_blocks("python")[0]).body
    found = [eval(ast.unparse(line), {"Watch": Watch}) for line in lines if isinstance(line, ast.Expr)]  # noqa: S307
    assert [type(each) for each in found] == [Watch, Watch]


async def test_the_subscriptions_are_answered() -> None:
    async with shop() as served:
        order = await served.order()
        texts = _blocks("graphql")
        assert len(texts) == 2
        for text in texts:
            async with served.watch(text, {"orderId": order["orderId"], "userId": order["userId"]}) as events:
                event = await events.next()
                assert "errors" not in event


async def test_the_example_for_tests_runs() -> None:
    text = "subscription { activeOrdersChanged { changes { kind } } }"
    assert text in _blocks("python")[1]
    assert text.replace("kind", "kind nodeId") in _blocks("sh")[0]
    async with shop() as served, served.client.subscribe(text) as events:
        assert (await events.next())["data"] == {"activeOrdersChanged": {"changes": []}}
