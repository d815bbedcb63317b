import ast
import json
import re
from pathlib import Path

from gateway.ops.audit import gather
from gateway.ops.audit.checklist import NAMES

PAGE = (Path(__file__).parents[3] / "docs" / "audit.md").read_text(encoding="utf-8")


def called_actions() -> set[str]:
    """Every call that gathering makes, as an action of IAM."""
    found = set()
    for path in Path(gather.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("call", "pages")
            ):
                service, operation = (str(each.value) for each in node.args[:2] if isinstance(each, ast.Constant))
                found.add(f"{service}:{''.join(word.capitalize() for word in operation.split('_'))}")
    return found


def test_the_auditors_policy_allows_what_is_asked_and_no_more() -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
    [statement] = json.loads(blocks[0])["Statement"]
    assert set(statement["Action"]) == called_actions()
    assert len(called_actions()) == 18


def test_an_audit_only_reads() -> None:
    assert all(action.split(":")[1].startswith(("Describe", "Get", "List")) for action in called_actions())


def test_every_line_has_its_row() -> None:
    assert tuple(re.findall(r"^\| `([a-z-]+)` \|", PAGE, flags=re.MULTILINE)) == NAMES
