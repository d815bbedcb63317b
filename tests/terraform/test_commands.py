"""The commands of AWS in runbooks and READMEs: operations, options and ways to name things that AWS knows."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import OperationModel

from gateway.ops.audit import fixes
from tests.terraform.tool import REPOSITORY, SOURCES

_DOCS = REPOSITORY / "docs"
_PAGES = sorted([*_DOCS.glob("*.md"), *_DOCS.glob("runbooks/*.md"), SOURCES / "README.md"])
_BLOCK = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_INLINE = re.compile(r"`([^`]+)`")
# of the command line itself, whatever the operation
_GLOBAL = {"query", "output", "region", "profile"}
# commands that the command line adds to those of the API: their options, and the operation that has the others
_OWN = {("logs", "tail"): {"since", "format"}, ("ecr", "get-login-password"): set()}


@dataclass(frozen=True, slots=True)
class Command:
    page: str
    text: str

    @property
    def words(self) -> list[str]:
        # what stands for something else is one word
        return shlex.split(re.sub(r"<[^<>]*>", "PLACEHOLDER", self.text), comments=True)[1:]

    @property
    def options(self) -> set[str]:
        return {word.removeprefix("--") for word in self.words if word.startswith("--")}

    def __str__(self) -> str:
        return f"{self.page}: {self.text[:60]}"


def _commands() -> Iterator[Command]:
    texts = [(page.name, page.read_text(encoding="utf-8")) for page in _PAGES]
    texts.append(("fixes.py", "\n".join(value for name, value in vars(fixes).items() if name.isupper())))
    for name, text in texts:
        blocks = [line for block in _BLOCK.findall(text) for line in _lines(block)]
        inline = [" ".join(found.split()) for found in _INLINE.findall(_BLOCK.sub("", text))]
        for found in (*blocks, *inline):
            if command := re.search(r"(?:^|\buntil )(aws [a-z0-9-]+ [a-z-]+(?: [^;]*)?)", found, re.DOTALL):
                # what another program reads is that program's
                yield Command(name, command[1].partition(" | docker ")[0])


def _lines(block: str) -> list[str]:
    """A command may go on after a backslash, or inside of quotation marks."""
    return re.findall(r"^\s*((?:until )?aws (?:'[^']*'|\\\n|[^'\n])*)", block, re.MULTILINE)


_FOUND = list(_commands())


@cache
def _operation(service: str, name: str) -> OperationModel:
    model = botocore.session.get_session().get_service_model(service)
    names = {xform_name(each).replace("_", "-"): each for each in model.operation_names}
    return model.operation_model(names[name])


def _model(command: Command) -> OperationModel | None:
    service, name, *rest = command.words
    if name == "wait":
        waiter = botocore.session.get_session().get_waiter_model(service)
        return _operation(service, xform_name(waiter.get_waiter(_camel(rest[0])).operation).replace("_", "-"))
    return None if (service, name) in _OWN else _operation({"s3api": "s3"}.get(service, service), name)


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def test_the_commands_are_found() -> None:
    assert len(_FOUND) >= 25
    assert {command.page for command in _FOUND} >= {"restore.md", "key-changes.md", "tenant-incident.md", "fixes.py"}


@pytest.mark.parametrize("command", _FOUND, ids=str)
def test_the_operation_and_its_options_exist_and_none_is_missing(command: Command) -> None:
    model = _model(command)
    if model is None:
        assert command.options <= _OWN[command.words[0], command.words[1]]
        return
    members = model.input_shape.members if model.input_shape else {}
    known = {xform_name(name).replace("_", "-"): name for name in members}
    given = {known[option] for option in command.options - _GLOBAL - {f"no-{name}" for name in known}}
    assert set(model.input_shape.required_members if model.input_shape else ()) <= given


@pytest.mark.parametrize("command", [each for each in _FOUND if each.words[0] == "kms"], ids=str)
def test_a_key_is_named_by_its_alias_only_where_kms_takes_one(command: Command) -> None:
    model = _model(command)
    assert model is not None
    assert model.input_shape is not None
    documentation = model.input_shape.members["KeyId"].documentation
    assert "alias/" not in command.text or "alias name" in documentation


def test_mistakes_are_noticed() -> None:
    with pytest.raises(KeyError):
        _model(Command("page", "aws kms rotate-key --key-id x"))
    wrong = Command("page", "aws kms enable-key --key alias/x")
    with pytest.raises(KeyError):
        test_the_operation_and_its_options_exist_and_none_is_missing(wrong)
    with pytest.raises(AssertionError):
        test_a_key_is_named_by_its_alias_only_where_kms_takes_one(
            Command("page", "aws kms enable-key --key-id alias/x")
        )
