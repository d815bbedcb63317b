"""One item of a compiled query as JSON: its own cells, without what is loaded for it."""

from typing import Any

from gateway.graph.global_id import global_id
from gateway.graph.shape import Cell, Constant, GlobalId, Shape
from gateway.graph.writing import Abnormal
from gateway.model.keys import key_parts
from gateway.model.tenant import TenantId
from gateway.store.rows import Item


def item_out(shape: Shape, item: Item, tenant: TenantId) -> dict[str, Any]:
    """What its loads answer is left empty, in its place."""
    values = item.values
    out: dict[str, Any] = {}
    for field in shape.fields:
        if type(field) is Cell:
            value = values.get(field.name)
            if value is None:
                if field.required:
                    raise Abnormal
                out[field.key] = None
            else:
                out[field.key] = value if field.write is None else field.write(value)
        elif type(field) is Constant:
            out[field.key] = field.value
        elif type(field) is GlobalId:
            out[field.key] = _global_id(shape, item, tenant)
        else:
            out[field.key] = None  # its place; the load fills it
    return out


def _global_id(shape: Shape, item: Item, tenant: TenantId) -> str:
    entity = shape.entity
    parts = {
        **key_parts(entity, entity.primary.pk, item.values),
        **key_parts(entity, entity.primary.sk, item.values),
    }
    return global_id(tenant, entity.name, tuple(parts[name] for name in entity.key_names))
