import re
from pathlib import Path

from gateway.ops.audit import fixes

REPOSITORY = Path(__file__).parents[3]
STACK = REPOSITORY / "terraform" / "modules" / "stack" / "input" / "variables.tf"
MODULES = {path.name for path in (REPOSITORY / "terraform" / "modules").iterdir()}


def texts() -> list[str]:
    return [value for name, value in vars(fixes).items() if name.isupper()]


def test_every_variable_that_is_named_is_one_of_the_stack() -> None:
    blocks = re.split(r"^variable ", STACK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    variables = {block.split('"')[1]: block for block in blocks[1:]}
    named = [word for text in texts() for word in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", text)]
    assert len(named) >= 8
    for word in named:
        variable, *path = word.split(".")
        assert all(re.search(rf"\b{part}\b\s+=", variables[variable]) for part in path), word


def test_every_module_that_is_named_exists() -> None:
    named = {word for text in texts() for word in re.findall(r"module `([a-z-]+)`", text)}
    assert named == {"audit", "network", "observability", "iam", "table", "kms"}
    assert named <= MODULES
