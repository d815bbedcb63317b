"""The arguments that the sources set, by type: just enough of HCL for files that `terraform fmt` has formatted."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_OPENS = re.compile(r'^\s*(?P<name>\w+)(?P<labels>( "[\w-]+")*) \{(?P<empty>\}?)$')
_ARGUMENT = re.compile(r"^\s*(?P<name>\w+)\s+= ")
_META = {"count", "for_each", "depends_on", "lifecycle", "provider"}


@dataclass
class Block:
    """`kind` and `labels` as written: `resource "aws_kms_key" "data"`; a dynamic block has the name it makes."""

    kind: str
    labels: tuple[str, ...]
    arguments: set[str] = field(default_factory=set)
    blocks: list["Block"] = field(default_factory=list)

    def paths(self, before: str = "") -> Iterator[str]:
        """Every argument, those in blocks with a dot."""
        for name in self.arguments - _META:
            yield before + name
        for block in self.blocks:
            if block.kind not in _META:
                yield before + block.kind
                yield from block.paths(f"{before}{block.kind}.")


def used(paths: Iterable[Path]) -> dict[str, list[Block]]:
    """The resources and data sources of these files, by `resource.aws_kms_key` or `data.aws_region`."""
    found: dict[str, list[Block]] = {}
    for path in paths:
        for block in _blocks(path.read_text().splitlines()):
            if block.kind in ("resource", "data", "ephemeral"):
                found.setdefault(f"{block.kind}.{block.labels[0]}", []).append(block)
    return found


def _blocks(lines: list[str]) -> list[Block]:
    root = Block("", ())
    inside = [root]
    depth = 0
    for line in lines:
        if depth > 0 or not line.strip() or line.strip().startswith("#"):
            depth += _opened(line) if depth > 0 else 0
        elif line.strip() == "}":
            inside.pop()
        elif opens := _OPENS.match(line):
            _open(inside, opens["name"], tuple(re.findall(r'"([\w-]+)"', opens["labels"])))
            if opens["empty"]:
                inside.pop()
        elif argument := _ARGUMENT.match(line):
            inside[-1].arguments.add(argument["name"])
            # the rest of a value that goes on over several lines is no argument of ours
            depth = _opened(line)
    return root.blocks


def _open(inside: list[Block], name: str, labels: tuple[str, ...]) -> None:
    if name == "content":
        # of a dynamic block: what it sets is set in the block that is made
        inside.append(inside[-1])
        return
    made = Block(labels[0], ()) if name == "dynamic" else Block(name, labels)
    inside[-1].blocks.append(made)
    inside.append(made)


def _opened(line: str) -> int:
    return sum(line.count(sign) for sign in "([{") - sum(line.count(sign) for sign in ")]}")
