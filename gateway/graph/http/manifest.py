"""Manifests of trusted documents: reads the formats of common client tools, and generates them from .graphql files."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    Source,
    Visitor,
    parse,
    print_ast,
    visit,
)

from gateway.errors import BadUserInput, ConfigurationError
from gateway.graph.http.persisted import SCHEME
from gateway.graph.query.operation import Documents

_APOLLO = "apollo-persisted-query-manifest"
_SUFFIXES = (".graphql", ".gql")


def read_manifest(path: Path, documents: Documents) -> dict[str, str]:
    """Returns texts by id; raises `ConfigurationError` with every document that this schema rejects."""
    texts = manifest_texts(path)
    named_faults = ((name, fault) for name, text in texts.items() for fault in _faults(documents, text))
    faults = [f"trusted_documents: `{name}`: {fault}" for name, fault in named_faults]
    if faults:
        raise ConfigurationError(faults)
    return texts


def manifest_texts(path: Path) -> dict[str, str]:
    """Returns texts by id, without comparing them with a schema."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError([f"trusted_documents: `{path}` cannot be read: {error}"]) from error
    texts = _texts(content)
    if texts is None:
        forms = "an object of ids and texts, as relay-compiler and codegen write it, or Apollo's manifest"
        raise ConfigurationError([f"trusted_documents: `{path}` is not {forms}"])
    return texts


def _texts(content: Any) -> dict[str, str] | None:
    match content:
        case {"format": str(form), "operations": list(operations)} if form == _APOLLO:
            pairs: list[Any] = [
                (operation.get("id"), operation.get("body")) for operation in operations if isinstance(operation, dict)
            ]
            whole = len(pairs) == len(operations)
        case dict():
            pairs, whole = list(content.items()), True
        case _:
            return None
    if not whole or not all(isinstance(part, str) and part for pair in pairs for part in pair):
        return None
    return {name.removeprefix(SCHEME): text for name, text in pairs}


def _faults(documents: Documents, text: str) -> Iterator[str]:
    yield from (error.message for error in documents.get(text).errors)


def make_manifest(paths: Iterable[Path], documents: Documents) -> dict[str, Any]:
    """Builds a manifest in Apollo's format, with each operation of the files and folders and the fragments it needs."""
    definitions = [node for path in _files(paths) for node in _parsed(path).definitions]
    operations = _named(node for node in definitions if isinstance(node, OperationDefinitionNode))
    fragments = _named(node for node in definitions if isinstance(node, FragmentDefinitionNode))
    if not operations:
        raise BadUserInput("there is no operation in these files")
    entries = []
    for name, operation in sorted(operations.items()):
        text = print_ast(DocumentNode(definitions=(operation, *_needed(operation, fragments))))
        for fault in _faults(documents, text):
            raise BadUserInput(f"`{name}`: {fault}")
        kind = operation.operation.value
        entries.append({"id": hashlib.sha256(text.encode()).hexdigest(), "name": name, "type": kind, "body": text})
    return {"format": _APOLLO, "version": 1, "operations": entries}


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (file for file in sorted(path.rglob("*")) if file.suffix in _SUFFIXES and file.is_file())
        else:
            yield path


def _parsed(path: Path) -> DocumentNode:
    try:
        return parse(Source(path.read_text(encoding="utf-8"), path.name), no_location=True)
    except (OSError, UnicodeError) as error:
        raise BadUserInput(f"`{path}` cannot be read: {error}") from error
    except GraphQLSyntaxError as error:
        raise BadUserInput(f"`{path}`: {error.message}") from error


def _named(nodes: Iterable[Any]) -> dict[str, Any]:
    nodes_by_name: dict[str, Any] = {}
    for node in nodes:
        if node.name is None:
            raise BadUserInput("every operation needs a name, by which clients find its id")
        if node.name.value in nodes_by_name:
            raise BadUserInput(f"`{node.name.value}` is defined twice")
        nodes_by_name[node.name.value] = node
    return nodes_by_name


def _needed(operation: OperationDefinitionNode, fragments: Mapping[str, Any]) -> list[Any]:
    """Returns the fragments in order of first use, without duplicates."""
    needed: dict[str, Any] = {}
    pending: list[Any] = [operation]
    while pending:
        spreads = _Spreads()
        visit(pending.pop(0), spreads)
        for name in spreads.names:
            if name not in needed and name in fragments:
                needed[name] = fragments[name]
                pending.append(fragments[name])
    return list(needed.values())


class _Spreads(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: Any) -> None:
        self.names.append(node.name.value)
