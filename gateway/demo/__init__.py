"""The demo domains: each declares its entities, access patterns and mutations."""

from gateway import Model
from gateway.demo import commerce, devices, publishing

_SHIPPED = (commerce, devices, publishing)

MODEL = Model(domains=tuple(domain.DOMAIN for domain in _SHIPPED))
