"""Generated mutations of file attributes: one signs an upload, the other puts the uploaded file into the item."""

from typing import Any

from gateway.graph.mutation.crud import VERSION
from gateway.model.entity import Attribute, Entity
from gateway.model.files.keys import file_type
from gateway.model.model import is_sound
from gateway.model.mutation import Mutation
from gateway.model.types import SHA256, Field, Id, Integer, ListOf, Struct, Text, Timestamp
from gateway.store.files.item_files import ItemFile, arrived, give_up, keep, signed_upload
from gateway.store.rows import Item
from gateway.store.write.faults import Rejected
from gateway.store.write.writer import MutationResult, Writer

_HEADER = Struct(
    "UploadHeader",
    (Field("name", Text(100), "The name of the header."), Field("value", Text(1_000), "Its value.")),
    "A header of an upload.",
)
UPLOAD = Struct(
    "Upload",
    (
        Field("uploadId", Id(), "What the item is given when the file is there."),
        Field("url", Text(16_384), "Where the file is sent, by a PUT request without a token."),
        Field("headers", ListOf(_HEADER), "The headers that have to be sent, as they are."),
        Field("expiresAt", Timestamp(), "Until when the upload has to begin."),
    ),
    "A signed upload of one file: of this size, type and content only.",
)


def file_mutations(entity: Entity) -> tuple[Mutation, ...]:
    """Returns two mutations for each file attribute; none for an invalid entity, whose faults the model reports."""
    if not is_sound(entity):
        return ()
    return tuple(mutation for file in entity.files for mutation in (_upload(entity, file), _take(entity, file)))


def _upload(entity: Entity, attribute: Attribute) -> Mutation:
    kind = file_type(entity, attribute.name)

    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        item = await writer.stored(entity.name, {name: values[name] for name in entity.key_names})
        place = ItemFile(entity, attribute.name, item.values)
        upload = signed_upload(writer.access, place, values["size"], values["contentType"], values["sha256"])
        return MutationResult(item, {"upload": upload})

    return Mutation(
        name=f"upload{entity.name}{_title(attribute)}",
        description=(
            f"Sign an upload of `{attribute.name}`: up to {kind.max_bytes:,} bytes of {', '.join(kind.content_types)}."
        ),
        returns=entity.name,
        input=(
            *_key_fields(entity),
            Field("size", Integer(min=1), "The size of the file in bytes."),
            Field("contentType", Text(127), "The type of its content."),
            Field("sha256", SHA256, "The SHA-256 of its content, in Base64."),
        ),
        extras=(Field("upload", UPLOAD, "How the file is sent; null if there are errors."),),
        run=run,
    )


def _take(entity: Entity, attribute: Attribute) -> Mutation:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        key = {name: values[name] for name in entity.key_names}
        item = await writer.stored(entity.name, key, values.get("version"))
        return await _taken(writer, item, ItemFile(entity, attribute.name, item.values), values.get("uploadId"))

    return Mutation(
        name=f"set{entity.name}{_title(attribute)}",
        description=f"Put an uploaded file into `{attribute.name}`, in place of the one that is there.",
        returns=entity.name,
        input=(
            *_key_fields(entity),
            Field("uploadId", Id(), "The upload, when it has ended; without it, the file is removed.", required=False),
            VERSION,
        ),
        run=run,
    )


async def _taken(writer: Writer, item: Item, place: ItemFile, upload: str | None) -> MutationResult:
    before = item.values.get(place.attribute)
    if upload is not None and before is not None and before["uploadId"] == upload:
        return MutationResult(item)
    file = None if upload is None else await arrived(writer.access, place, upload)
    change = writer.change()
    after = change.update(item, {place.attribute: file})
    if upload is not None:
        # INVARIANT: the mark is removed before the item refers to the object, so that no referenced object is removed.
        await keep(writer.access, place, upload)
    try:
        return await writer.commit(change, MutationResult(after))
    except Rejected:
        # nothing was written; after any other failure the item may have been written, so the object is kept
        if upload is not None:
            await give_up(writer.access, [place.key(writer.access.session, upload)])
        raise


def _key_fields(entity: Entity) -> tuple[Field, ...]:
    return tuple(
        Field(name, entity.attribute[name].type, entity.attribute[name].description) for name in entity.key_names
    )


def _title(attribute: Attribute) -> str:
    return attribute.name[0].upper() + attribute.name[1:]
