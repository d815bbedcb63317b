"""Checks of file attributes: what their keys contain, and that no file is orphaned."""

from collections.abc import Iterator

from gateway.model.entity import Attribute, Entity
from gateway.model.types import Field, File, Id, with_inner


def file_faults(entity: Entity) -> Iterator[str]:
    for attribute in entity.attributes:
        if not isinstance(attribute.type, File):
            yield from (
                f"`{attribute.name}` {_NESTED}" for inner in with_inner(attribute.type) if isinstance(inner, File)
            )
            continue
        yield from (f"`{attribute.name}` {fault}" for fault in _attribute_faults(attribute))
    if entity.files:
        yield from _entity_faults(entity, entity.files[0].name)


_NESTED = "has a file inside; a File must be an attribute of its own"


def _attribute_faults(attribute: Attribute) -> Iterator[str]:
    if attribute.required:
        yield "is a file and required, but it can only be uploaded once the item exists: declare `required=False`"
    if attribute.default is not None:
        yield "is a file and has a default; leave the default out"
    if attribute.compressed:
        yield "is a file and compressed; leave `compressed` out"


def _entity_faults(entity: Entity, file: str) -> Iterator[str]:
    for name in dict.fromkeys((*entity.key_names, *((entity.owner,) if entity.owner else ()))):
        kind = entity.attribute[name].type if name in entity.attribute else None
        if kind is not None and not isinstance(kind, Id):
            yield f"`{file}` is a file, and its key in the bucket contains `{name}`, which must be an Id()"
    if entity.owner is not None and entity.owner in entity.attribute:
        fixed = entity.owner in entity.key_names or entity.attribute[entity.owner].immutable
        if not fixed:
            yield f"`{file}` is a file, stored below its owner: declare `{entity.owner}` with `immutable=True`"
    if entity.expiry is not None:
        yield f"`{file}` is a file, and DynamoDB would delete expired items without it: leave out `expiry`, or the file"


def input_faults(fields: tuple[Field, ...]) -> Iterator[str]:
    """A file can only be attached to an item by an upload."""
    for field in fields:
        if any(isinstance(kind, File) for kind in with_inner(field.type)):
            yield f"`{field.name}` is a File, which cannot be an input; use the mutations of `file_mutations(entity)`"
