"""The keys of files in the bucket.

The key of a file is `<tenant>/<entity>/<attribute>/<key of the item>/<upload>`; for an entity with an owner, the
owner comes before the key of the item. So IAM can distinguish tenants, attributes and subjects by the start of the
key.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateway.errors import BadUserInput, Internal
from gateway.model.entity import Entity
from gateway.model.tenant import TenantId
from gateway.model.types import File, Id

if TYPE_CHECKING:
    from gateway.model.model import Model

_SEGMENT = Id()


def file_type(entity: Entity, attribute: str) -> File:
    kind = entity.attribute[attribute].type
    if not isinstance(kind, File):
        raise Internal(f"`{attribute}` of {entity.name} is not a file")
    return kind


def has_files(model: "Model") -> bool:
    return any(entity.files for entity in model.entities.values())


def object_prefix(tenant: TenantId) -> str:
    # INVARIANT: the key of every object starts with the tenant, and is written only here and in `object_key`.
    return f"{tenant}/"


def object_key(tenant: TenantId, entity: Entity, attribute: str, values: Mapping[str, Any], upload: str) -> str:
    """The key of a file of this item; derived from the item, never stored in it.

    INVARIANT: every part is an id, which has no `/` and does not start with `.`, so that no part leaves its place.
    """
    owner = () if entity.owner is None else (entity.owner,)
    names = (*owner, *(name for name in entity.key_names if name not in owner))
    parts = [_segment(name, values.get(name)) for name in names]
    return object_prefix(tenant) + "/".join((entity.name, attribute, *parts, _segment("upload", upload)))


def _segment(name: str, value: Any) -> str:
    if value is None:
        raise BadUserInput(f"`{name}` is missing, which a file needs", name)
    return _SEGMENT.key_text(name, value)
