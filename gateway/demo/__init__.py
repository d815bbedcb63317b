"""The demo domains: each declares its entities, access patterns and mutations."""

from gateway.demo import commerce, devices, publishing
from gateway.graph.mutation.mutation import Mutation
from gateway.model.model import Model

_SHIPPED = (commerce, devices, publishing)

MODEL = Model(domains=tuple(domain.DOMAIN for domain in _SHIPPED))
MUTATIONS: tuple[Mutation, ...] = tuple(mutation for domain in _SHIPPED for mutation in domain.MUTATIONS)
